// Disks as a whole: Jeans' equations from functions and from samples, Toomre's Q, refusals, and tracers that stay where they are.
#include <kasane/gravity/galaxy/disk/disk_draw.hpp>
#include <kasane/gravity/galaxy/disk/disk_system.hpp>
#include <kasane/gravity/galaxy/disk/planar_distribution.hpp>

#include <gravity/galaxy/disk/models.hpp>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::gravity {
namespace {

using std::numbers::pi;
using test::lone_disk;

const GalaxyModel& m31_model() {
    static const GalaxyModel model = test::m31();
    return model;
}
const DiskSystem& m31_disk() {
    static const DiskSystem system(m31_model(), test::spheres_of(m31_model()));
    return system;
}

struct Cylindrical {
    double R, z, v_R, v_phi, v_z;
};
Cylindrical cylindrical(const PositionVelocity& p) {
    const double R = std::hypot(p.position.x, p.position.y);
    return {R, p.position.z, (p.position.x * p.velocity.x + p.position.y * p.velocity.y) / R,
            (p.position.x * p.velocity.y - p.position.y * p.velocity.x) / R, p.velocity.z};
}
std::vector<Cylindrical> sampled(const DiskSystem& system, std::size_t disk, int n) {
    TableMemory here(Cpu{});
    const auto draw = DiskDraw::of(system, disk, here);
    std::vector<Cylindrical> all;
    for (int i = 0; i < n; ++i) {
        RandomStream random(11, static_cast<std::uint64_t>(i));
        all.push_back(cylindrical(draw(random)));
    }
    return all;
}

TEST(DiskSystem, M31sToomreQ) {
    const auto& s = m31_disk();
    EXPECT_NEAR(s.at(0, 5.4).toomre_q, 2.3, 0.01);
    // The papers that use the model quote a least Q of 1.8.
    EXPECT_NEAR(s.least_q(0).toomre_q, 1.8, 0.03);
    EXPECT_GT(s.least_q(0).radius, 8);
    EXPECT_LT(s.least_q(0).radius, 20);
    // sigma_R falls as exp(-R / (2 R_d)), sigma_phi follows the epicycles.
    EXPECT_NEAR(s.at(0, 10.8).sigma_R / s.at(0, 5.4).sigma_R, std::exp(-0.5), 0.005);
    const auto a = s.at(0, 21.6);
    EXPECT_NEAR(a.sigma_phi / a.sigma_R, a.kappa / (2 * a.omega), 0.03);
    EXPECT_NEAR(a.toomre_q, a.sigma_R * a.kappa / (3.36 * a.surface_density), 1e-12);
    EXPECT_LT(a.rotation, a.circular_speed);
}

TEST(DiskSystem, TheVerticalJeansEquationCloses) {
    // d(rho sigma_z^2)/dz = rho K_z, with sigma_z constant along the column.
    const auto& s = m31_disk();
    for (const double R : {0.5, 1.5, 5.4, 15.}) {
        const auto a = s.at(0, R);
        for (const double part : {0.3, 1., 2.}) {
            const double z = part * a.height, dz = 0.02 * a.height;
            const double slope = (std::log(s.density(0, R, z + dz)) - std::log(s.density(0, R, z - dz))) / (2 * dz);
            EXPECT_NEAR(slope * a.sigma_z * a.sigma_z / s.pull(R, z).z, 1, 0.01) << R << " " << part;
        }
    }
}

TEST(DiskSystem, SampledMomentsCloseJeansEquations) {
    const auto& s = m31_disk();
    const auto particles = sampled(s, 0, 1000000);
    // Radial, over the column and rings from a to b: Sum (v_phi^2 - R dPhi/dR)/R = [2 pi R Sigma sigma_R^2] from a to b, in units of
    // mass; the noise of the left is that of v_phi^2, below 1e-3 of it for 1e5 particles.
    const std::vector<double> edges{1, 2.5, 4, 6, 9, 13, 18};
    const std::vector<double> zero(edges.size());
    auto inertia = zero, pull = zero, n = zero, v_z2 = zero, v_R2 = zero, want_z = zero, want_R = zero;
    for (const auto& p : particles) {
        const auto above = std::upper_bound(edges.begin(), edges.end(), p.R);
        if (above == edges.begin() || above == edges.end()) continue;
        const auto k = static_cast<std::size_t>(above - edges.begin()) - 1;
        inertia[k] += p.v_phi * p.v_phi / p.R;
        pull[k] += s.pull(p.R, p.z).R;
        v_z2[k] += p.v_z * p.v_z;
        v_R2[k] += p.v_R * p.v_R;
        const auto a = s.at(0, p.R);
        want_z[k] += a.sigma_z * a.sigma_z;
        want_R[k] += a.sigma_R * a.sigma_R;
        ++n[k];
    }
    const double mass = 3.66 / 1e6;
    const auto pressure = [&](double R) {
        const auto a = s.at(0, R);
        return 2 * pi * R * a.surface_density * a.sigma_R * a.sigma_R;
    };
    for (std::size_t k = 0; k + 1 < edges.size(); ++k) {
        const double left = mass * (inertia[k] + pull[k]), right = pressure(edges[k + 1]) - pressure(edges[k]);
        EXPECT_NEAR(left - right, 0, 0.01 * mass * inertia[k]) << edges[k];
        // Five times the noise of a variance.
        EXPECT_NEAR(v_z2[k] / want_z[k], 1, 5 * std::sqrt(2 / n[k])) << edges[k];
        EXPECT_NEAR(v_R2[k] / want_R[k], 1, 5 * std::sqrt(2 / n[k]) + 2e-3) << edges[k];
    }
}

TEST(DiskSystem, RotationFallsWithHeightByJeansEquation) {
    // v_phi^2 = sigma_R^2 + (R/rho) d(rho sigma_R^2)/dR + R dPhi/dR at (R, z), no cross term: the ellipsoid lies along the cylinder.
    const auto& s = m31_disk();
    for (const double R : {2., 5.4, 10.8}) {
        for (const double z : {0., 0.3, 0.6, 1.2}) {
            const double dR = 0.02 * R;
            const auto pressure = [&](double x) { return s.density(0, x, z) * std::pow(s.at(0, x).sigma_R, 2); };
            const auto a = s.at(0, R);
            const double square =
                a.sigma_R * a.sigma_R - R * s.pull(R, z).R + R * (pressure(R + dR) - pressure(R - dR)) / (2 * dR) / s.density(0, R, z);
            const double mean = s.rotation(0, R, z);
            EXPECT_NEAR((mean * mean + a.sigma_phi * a.sigma_phi) / square, 1, 0.015) << R << " " << z;
        }
    }
}

TEST(DiskSystem, SamplesFollowTheDensity) {
    const auto& s = m31_disk();
    const int n = 200000;
    const auto particles = sampled(s, 0, n);
    // Cylinders hold M(R); columns fall as they should: compared in cells of R and |z|/h by chi^2.
    const auto inside = [](double R) { return 1 - (1 + R / 5.4) * std::exp(-R / 5.4); };
    int within = 0;
    double below_h = 0, expected = 0, rotation = 0, mean_rotation = 0, n_ring = 0;
    for (const auto& p : particles) {
        within += p.R < 5.4;
        if (p.R > 5 && p.R < 6) {
            const double h = s.at(0, p.R).height;
            below_h += std::abs(p.z) < h;
            // sech^2: the share below z_d = z0 arcosh(sqrt(e)) is tanh of that; here a little less by the spheres' pull.
            ++n_ring;
            rotation += p.v_phi;
            mean_rotation += s.rotation(0, p.R, p.z);
        }
    }
    // The edge at 54 takes 4e-4 of an exponential disk's mass.
    EXPECT_NEAR(within / static_cast<double>(n), inside(5.4), 4 * std::sqrt(0.2 / n) + 5e-4);
    double all = 0;
    for (int k = 0; k < 4000; ++k) {
        const double z = 12 * (k + 0.5) / 4000, rho = s.density(0, 5.5, z);
        all += rho;
        expected += z < s.at(0, 5.5).height ? rho : 0;
    }
    EXPECT_NEAR(below_h / n_ring, expected / all, 4 * std::sqrt(0.2 / n_ring) + 1e-3);
    EXPECT_NEAR(rotation / mean_rotation, 1, 2e-3);
}

TEST(DiskSystem, PullIsTheGradientOfTheTotalPsi) {
    const auto& s = m31_disk();
    const auto spheres = test::spheres_of(m31_model());
    const auto psi = [&](double R, double z) { return s.psi(R, z) + spheres->psi(std::hypot(R, z)); };
    for (const double R : {0.4, 5., 30., 200.}) {
        for (const double z : {0.1, -1.}) {
            const double d = 1e-4 * R;
            const auto pull = s.pull(R, z);
            EXPECT_NEAR((psi(R + d, z) - psi(R - d, z)) / (2 * d), pull.R, 1e-4 * std::abs(pull.R)) << R;
            EXPECT_NEAR((psi(R, z + 1e-4) - psi(R, z - 1e-4)) / 2e-4, pull.z, 1e-4 * std::hypot(pull.R, pull.z)) << R;
        }
    }
}

TEST(DiskSystem, TheSphericalAverageContainsTheMass) {
    const auto& s = m31_disk();
    const auto law = s.averaged();
    double mass = 0, at_ten = 0;
    constexpr double step = 1e-2;
    for (double x = std::log(law.inner); x < std::log(law.outer); x += step) {
        const double r = std::exp(x + step / 2);
        mass += 4 * pi * r * r * r * step * law.at(r).rho;
        if (r < 10) at_ten = mass;
    }
    EXPECT_NEAR(mass / s.total_mass(), 1, 1e-3);
    EXPECT_EQ(s.total_mass(), 3.66);
    int inside = 0;
    const int n = 100000;
    for (const auto& p : sampled(s, 0, n)) inside += std::hypot(p.R, p.z) < 10;
    EXPECT_NEAR(at_ten / 3.66, inside / static_cast<double>(n), 4 * std::sqrt(0.25 / n) + 2e-3);
    EXPECT_TRUE(law.finite);
    EXPECT_EQ(law.at(2 * law.outer).rho, 0);
}

TEST(DiskSystem, ASingleDiskKeepsItsQ) {
    const DiskSystem s(lone_disk(0.1), nullptr);
    EXPECT_NEAR(s.at(0, 1).toomre_q, 1, 0.01);
    // Freeman's curve, lowered by the thickness: v_c^2 (R_d) = 0.2696 M / R_d for a sheet, by less than z_d/R_d.
    EXPECT_NEAR(std::pow(s.at(0, 1).circular_speed, 2) / 0.2696, 0.95, 0.05);
    EXPECT_GT(s.at(0, 0.01).sigma_R, 0);
    EXPECT_GE(s.at(0, 0.01).rotation, 0);
    for (const auto& p : sampled(s, 0, 20000)) {
        ASSERT_LT((p.v_R * p.v_R + p.v_phi * p.v_phi + p.v_z * p.v_z) / 2, s.psi(p.R, p.z));
    }
}

TEST(DiskSystem, AFractionRotatesInTheOppositeDirection) {
    auto model = test::m31();
    model.components[3].disk.retrograde = 0.3;
    const DiskSystem s(model, test::spheres_of(model));
    const int n = 20000;
    int other = 0;
    for (const auto& p : sampled(s, 0, n)) other += p.v_phi < 0;
    // The few that counter-rotate in the warm centre are below 1e-3.
    EXPECT_NEAR(other / static_cast<double>(n), 0.3, 4 * std::sqrt(0.21 / n) + 1e-3);
}

TEST(DiskSystem, RefusesAQThatLeavesNoRotation) {
    auto model = lone_disk(0.1, 2.5);
    model.components.insert(model.components.begin(), test::sphere(Plummer{}, 0.1, 1, {}));
    try {
        const DiskSystem s(model, test::spheres_of(model));
        FAIL() << "Q = 2.5 was met";
    } catch (const InputError& e) {
        ASSERT_EQ(e.problems().size(), 1u);
        EXPECT_EQ(e.problems()[0].where.key, "components.1.disk.toomre_q");
        EXPECT_NE(std::string(e.what()).find("greatest Q there is"), std::string::npos) << e.what();
    }
    model.components[1].disk.toomre_q = 1;
    EXPECT_NO_THROW(DiskSystem(model, test::spheres_of(model)));
}

// At the centre of a flat disk the vertical force on the first, coarse grids is too small to hold the columns.
TEST(DiskSystem, RefusesADiskWithoutCircularOrbits) {
    Table flat, hollow;
    for (int i = 0; i < 20; ++i) {
        flat.radius.push_back(std::pow(10, -2 + 0.25 * i)), flat.density.push_back(1);
        hollow.radius.push_back(flat.radius.back()), hollow.density.push_back(1 + 0.3 * i);
    }
    const auto keys = [](const Table& table) {
        GalaxyModel model;
        model.components = {test::exponential_disk(1, 10, 0.1)};
        model.components[0].law = TabulatedDisk{table};
        model.components[0].truncation = {100, 10};
        try {
            const DiskSystem s(model, nullptr);
        } catch (const InputError& e) {
            return e.problems()[0].where.key;
        }
        return std::string();
    };
    EXPECT_EQ(keys(flat), "components.0.disk.toomre_q");
    EXPECT_EQ(keys(hollow), "components.0.mass");
}

TEST(DiskSystem, TwoDisksShareOnePotential) {
    GalaxyModel halves = lone_disk(0.1);
    halves.components[0].mass = 0.5;
    halves.components.push_back(halves.components[0]);
    const DiskSystem two(halves, nullptr), one(lone_disk(0.1), nullptr);
    ASSERT_EQ(two.size(), 2u);
    EXPECT_EQ(two.component(1), 1u);
    for (const double R : {0.3, 1., 4.}) {
        EXPECT_NEAR(2 * two.density(1, R, 0.05) / one.density(0, R, 0.05), 1, 1e-3);
        EXPECT_NEAR(two.psi(R, 0.3) / one.psi(R, 0.3), 1, 1e-5);
        // Q is of each disk by itself.
        EXPECT_NEAR(two.at(0, 1).sigma_R / one.at(0, 1).sigma_R, 0.5, 0.005);
    }
}

TEST(DiskSystem, TheSameDiskByThreeLaws) {
    // Sersic's law with n = 1 is exponential: R_e = 1.67835 R_d. A table has spline errors of h^4/384 in ln Sigma, below 1e-6 here; both
    // ways to say R = scale must lead to the same Q.
    const DiskSystem exponential(lone_disk(0.1), nullptr);
    auto sersic = lone_disk(0.1);
    sersic.components[0].law = SersicDisk{1};
    sersic.components[0].scale = 1.6783469900166605;
    auto table = lone_disk(0.1);
    TabulatedDisk rows;
    for (double x = -6; x < 3.3; x += 1. / 16) {
        rows.table.radius.push_back(std::exp(x));
        rows.table.density.push_back(1e10 * std::exp(-std::exp(x)));
    }
    table.components[0].law = rows;
    table.components[0].truncation = {20, 2};
    ASSERT_TRUE(problems_of(sersic.components[0]).empty() && problems_of(table.components[0]).empty());
    const DiskSystem by_sersic(sersic, nullptr), by_table(table, nullptr);
    for (const double R : {0.3, 1., 2., 5.}) {
        for (const auto* other : {&by_sersic, &by_table}) {
            EXPECT_NEAR(other->at(0, R).surface_density / exponential.at(0, R).surface_density, 1, 1e-4) << R;
            EXPECT_NEAR(other->density(0, R, 0.1) / exponential.density(0, R, 0.1), 1, 2e-3) << R;
            EXPECT_NEAR(other->psi(R, 0.2) / exponential.psi(R, 0.2), 1, 1e-4) << R;
        }
        EXPECT_NEAR(by_table.at(0, R).sigma_R / exponential.at(0, R).sigma_R, 1, 2e-3) << R;
    }
    EXPECT_NEAR(by_sersic.at(0, 1.6783469900166605).toomre_q, 1, 0.01);
    EXPECT_NEAR(by_table.at(0, 1).toomre_q, 1, 0.01);
}

TEST(DiskSystem, ADiskAroundABlackHole) {
    // A black hole of a tenth of the disk's mass: Kepler's speeds near it, and the requested Q. (Rotation is slower there, because with
    // this Q orbits are eccentric.)
    GalaxyModel model = lone_disk(0.1, 1.5);
    Component hole;
    hole.law = BlackHole{};
    hole.mass = 0.1;
    model.components.push_back(hole);
    const DiskSystem s(model, test::spheres_of(model));
    EXPECT_NEAR(s.at(0, 1).toomre_q, 1.5, 0.015);
    for (const double R : {0.004, 0.005, 0.01, 0.02}) {
        const auto a = s.at(0, R);
        EXPECT_NEAR(a.circular_speed * a.circular_speed * R / 0.1, 1, 0.02) << R;
        EXPECT_NEAR(a.omega * R / a.circular_speed, 1, 1e-12) << R;
        EXPECT_NEAR(a.kappa / a.omega, 1, 0.02) << R;
        EXPECT_LT(a.height, 0.4 * R) << R;  // or it would not be a disk
    }
    for (const auto& p : sampled(s, 0, 20000)) {
        const double psi = s.psi(p.R, p.z) + 0.1 / std::hypot(p.R, p.z);
        ASSERT_LT((p.v_R * p.v_R + p.v_phi * p.v_phi + p.v_z * p.v_z) / 2, psi) << p.R << " " << p.z;
    }
}

TEST(DiskSystem, DoesNotDependOnThreads) {
    const DiskSystem one(lone_disk(0.1), nullptr, Cpu{1}), two(lone_disk(0.1), nullptr, Cpu{2});
    RandomStream a(1, 2), b(1, 2);
    TableMemory here(Cpu{});
    const auto p = DiskDraw::of(one, 0, here)(a), q = DiskDraw::of(two, 0, here)(b);
    EXPECT_EQ(p.position, q.position);
    EXPECT_EQ(p.velocity, q.velocity);
}

TEST(VonMises, HasTheMomentsOfItsBesselFunctions) {
    // <cos x> = I1/I0: 0.4464 at 1, 1 - 1/(2k) - 1/(8 k^2) far out.
    const int n = 100000;
    for (const auto& [concentration, mean] : {std::pair{0., 0.}, {1., 0.446390}, {100., 0.994987}, {1e4, 0.99995}}) {
        double sum = 0;
        for (int i = 0; i < n; ++i) {
            RandomStream random(3, static_cast<std::uint64_t>(i));
            sum += std::cos(von_mises(concentration, random));
        }
        EXPECT_NEAR((1 - sum / n) / (1 - mean), 1, 6 / std::sqrt(n)) << concentration;
    }
}

TEST(VonMises, IsNormalWhereItIsNarrow) {
    const int n = 100000;
    for (const double concentration : {0.99e8, 1.01e8, 1e14, 1e300}) {
        double square = 0, fourth = 0;
        for (int i = 0; i < n; ++i) {
            RandomStream random(3, static_cast<std::uint64_t>(i));
            const double x = von_mises(concentration, random) * std::sqrt(concentration);
            square += x * x / n, fourth += x * x * x * x / n;
        }
        EXPECT_NEAR(square, 1, 5 * std::sqrt(2. / n)) << concentration;
        EXPECT_NEAR(fourth, 3, 5 * std::sqrt(96. / n)) << concentration;
    }
    RandomStream random(1, 1);
    EXPECT_EQ(von_mises(std::numeric_limits<double>::infinity(), random), 0);
}

TEST(DiskSystem, TracersStayInEquilibrium) {
    // 0.5 Gyr of M31 in the fixed potential of all components: an equilibrium does not drift. 1,500 tracers; leapfrog with 50 steps in the
    // shortest orbit beyond 0.5 kpc. Noise: of a half-mass radius 0.9/sqrt(N) = 2.3%, but before and after there are the same
    // particles, and of a mean height 0.8/sqrt(N) = 2%.
    const auto& s = m31_disk();
    const int n = 1500;
    TableMemory here(Cpu{});
    const auto draw = DiskDraw::of(s, 0, here);
    std::vector<PositionVelocity> tracers;
    for (int i = 0; i < n; ++i) {
        RandomStream random(7, static_cast<std::uint64_t>(i));
        tracers.push_back(draw(random));
    }
    struct Shape {
        double r10, r50, r90, height, sigma_R;
    };
    const auto shape = [&] {
        std::vector<double> R;
        double height = 0, v2 = 0, count = 0;
        for (const auto& t : tracers) {
            const auto c = cylindrical(t);
            R.push_back(c.R);
            if (c.R < 2 || c.R > 16) continue;
            height += std::abs(c.z);
            v2 += c.v_R * c.v_R / std::pow(s.at(0, c.R).sigma_R, 2);
            ++count;
        }
        std::sort(R.begin(), R.end());
        return Shape{R[n / 10], R[n / 2], R[9 * n / 10], height / count, std::sqrt(v2 / count)};
    };
    const auto before = shape();
    const auto acceleration = [&](const Vec3<double>& x) {
        const double R = std::hypot(x.x, x.y);
        const auto pull = s.pull(R, x.z);
        return Vec3<double>{pull.R * x.x / R, pull.R * x.y / R, pull.z};
    };
    constexpr double step = 0.04, until = 500 / 4.715;
    for (auto& [x, v] : tracers) {
        auto a = acceleration(x);
        for (double t = 0; t < until; t += step) {
            v += step / 2 * a;
            x += step * v;
            a = acceleration(x);
            v += step / 2 * a;
        }
    }
    const auto after = shape();
    EXPECT_NEAR(after.r10 / before.r10, 1, 0.05);
    EXPECT_NEAR(after.r50 / before.r50, 1, 0.03);
    EXPECT_NEAR(after.r90 / before.r90, 1, 0.03);
    EXPECT_NEAR(after.height / before.height, 1, 0.06);
    EXPECT_NEAR(after.sigma_R / before.sigma_R, 1, 0.06);
}

}  // namespace
}  // namespace kasane::gravity
