#include <gravity/galaxy/spheres.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <unistd.h>

using namespace kasane;
using namespace kasane::gravity;

namespace {

constexpr index_t million = 1'000'000;

double norm(const Vec3<double>& v) { return std::sqrt(dot(v, v)); }

/// Chi-square per degree of freedom of counts against expectations. A fixed seed passes always or never; a right sample lies 5
/// standard deviations from the mean about once in 1e5.
void expect_counts(const std::vector<double>& counts, const std::vector<double>& expected, const std::string& what) {
    double chi2 = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) chi2 += (counts[i] - expected[i]) * (counts[i] - expected[i]) / expected[i];
    const double degrees = static_cast<double>(counts.size() - 1), per_degree = chi2 / degrees, sigma = std::sqrt(2 / degrees);
    ::testing::Test::RecordProperty(what, std::to_string(per_degree));
    EXPECT_LT(per_degree, 1 + 5 * sigma) << what;
    EXPECT_GT(per_degree, 1 - 5 * sigma) << what << ": more even than chance";
}

/// The three histograms of one isotropic or Osipkov-Merritt sphere: density, dispersions and energy.
class Histograms : public testing::TestWithParam<Component> {
   protected:
    void sample_one(std::vector<Component> others, double point_mass) {
        Component component = GetParam();
        component.count = million;
        GalaxyModel model{.components = {component}, .seed = 5};
        for (auto& other : others) {
            other.count = 1;
            model.components.push_back(other);
        }
        if (point_mass > 0) model.components.push_back({.law = BlackHole{}, .mass = point_mass});
        const Galaxy galaxy(model);
        const Sampler sampler(galaxy);
        Particles p;
        sampler.fill(p, 0, million);
        const auto& sphere = *galaxy.sphere(0);
        const auto& potential = galaxy.potential();
        expect_density(p, sphere);
        expect_dispersions(p, sphere, potential, component.anisotropy_radius);
        if (component.anisotropy_radius == 0) expect_energies(p, sphere, potential, *galaxy.distribution(0));
    }

   private:
    static constexpr int bins = 100;

    static void expect_density(const Particles& p, const MassProfile& sphere) {
        // Edges at equal masses: counts need no radius to be inverted.
        std::vector<double> edges, counts(bins);
        for (int i = 1; i < bins; ++i) edges.push_back(sphere.radius(sphere.total() * i / bins));
        for (const auto& x : p.position) ++counts[bin(edges, norm(x))];
        expect_counts(counts, std::vector<double>(bins, static_cast<double>(million) / bins), "density");
    }

    /// Sums of squares in shells, each with the dispersions of its particles: a chi-square of as many degrees as shells.
    static void expect_dispersions(const Particles& p, const MassProfile& sphere, const SphericalPotential& potential, double r_a) {
        constexpr int shells = 50;
        // Per shell and particle v_r^2 / sigma_r^2 and v_t^2 / (2 sigma_t^2) have the mean 1; their variances are measured.
        std::vector<double> edges, table_r, radial2, ratio;
        for (int i = 1; i < shells; ++i) edges.push_back(sphere.radius(sphere.total() * i / shells));
        for (double t = std::log(sphere.radius(1e-8 * sphere.total())); t < std::log(sphere.outer()) + 0.01; t += 0.01) {
            table_r.push_back(t);
            radial2.push_back(jeans_dispersions(sphere, potential, r_a, std::exp(t)).radial2);
        }
        struct Moments {
            double n = 0, sum = 0, square = 0;
            void add(double x) { n += 1, sum += x, square += x * x; }
            double deviation2() const {
                const double mean = sum / n, variance = square / n - mean * mean;
                return (mean - 1) * (mean - 1) / (variance / n);
            }
        };
        std::vector<Moments> radial(shells), tangential(shells);
        for (std::size_t i = 0; i < p.mass.size(); ++i) {
            const double r = norm(p.position[i]), v_r = dot(p.position[i], p.velocity[i]) / r;
            const double place = (std::log(r) - table_r[0]) / 0.01;
            if (place < 0) continue;
            const auto k = std::min(static_cast<std::size_t>(place), table_r.size() - 2);
            const double part = place - static_cast<double>(k);
            const double sigma2 = (1 - part) * radial2[k] + part * radial2[k + 1];
            const double stretch = r_a > 0 ? 1 + r * r / (r_a * r_a) : 1;
            const auto s = bin(edges, r);
            radial[s].add(v_r * v_r / sigma2);
            tangential[s].add((dot(p.velocity[i], p.velocity[i]) - v_r * v_r) * stretch / (2 * sigma2));
        }
        for (const auto* moments : {&radial, &tangential}) {
            double chi2 = 0;
            for (const auto& m : *moments) chi2 += m.deviation2();
            const std::string what = moments == &radial ? "radial dispersion" : "tangential dispersion";
            RecordProperty(what, std::to_string(chi2 / shells));
            EXPECT_NEAR(chi2 / shells, 1, 5 * std::sqrt(2. / shells)) << what;
        }
    }

    /// dM/dE = 16 pi^2 f(E) Int_0^r_E r^2 sqrt(2 (Psi - E)) dr                       [Binney & Tremaine 2008, eq. 4.56]
    static void expect_energies(const Particles& p, const MassProfile& sphere, const SphericalPotential& potential,
                                const DistributionFunction& f) {
        // Edges in the radius of energy, e-folds around the half-mass radius, open at both ends.
        const double middle = std::log(sphere.radius(0.5 * sphere.total()));
        std::vector<double> edges, mass;  // ascending energies
        constexpr int steps = 40;
        const double step = 0.1;
        const double top = std::min(middle + step * steps / 2, std::log(sphere.outer()) - 0.2);
        const auto at = [&](double t) { return potential.psi(std::exp(t)); };
        const auto per_t = [&](double t) {
            const double r_e = std::exp(t), e = at(t);
            const auto states = [&](double s) {  // r = r_E exp(-s^2)
                const double x = s * s, r = r_e * std::exp(-x);
                return r * r * r * std::sqrt(2 * potential.drop(r, x)) * 2 * s;
            };
            return 16 * reference::pi * reference::pi * f(e) * reference::simpson(states, 0, 4, 100) * potential.mass(r_e) / r_e;
        };
        for (int i = 0; i <= steps; ++i) {
            const double t = top - step * i;
            edges.push_back(at(t));
            if (i > 0) mass.push_back(reference::simpson(per_t, t, t + step, 2));
        }
        std::vector<double> counts(edges.size() + 1);
        for (std::size_t i = 0; i < p.mass.size(); ++i) {
            ++counts[bin(edges, potential.psi(norm(p.position[i])) - dot(p.velocity[i], p.velocity[i]) / 2)];
        }
        // The open ends have no expectation of their own; they contain the rest, one degree of freedom.
        std::vector<double> inside(counts.begin() + 1, counts.end() - 1), expected;
        for (const double m : mass) expected.push_back(m / sphere.total() * million);
        inside.push_back(counts.front() + counts.back());
        expected.push_back(million - std::accumulate(expected.begin(), expected.end(), 0.));
        while (expected.size() > 2 && expected[expected.size() - 2] < 50) {  // too few for a Gaussian: into the rest
            expected.back() += expected[expected.size() - 2], inside.back() += inside[inside.size() - 2];
            expected.erase(expected.end() - 2), inside.erase(inside.end() - 2);
        }
        expect_counts(inside, expected, "energy");
    }

    static std::size_t bin(const std::vector<double>& edges, double x) {
        return static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), x) - edges.begin());
    }
};

std::vector<std::string> bad_keys(const std::function<void()>& run) {
    std::vector<std::string> keys;
    try {
        run();
    } catch (const InputError& error) {
        for (const auto& problem : error.problems()) keys.push_back(problem.where.key);
    }
    return keys;
}
using Keys = std::vector<std::string>;

const Component halo{.name = "halo", .law = Nfw{}, .mass = 81.1, .scale = 7.63, .truncation = {250, 25}};
const Component bulge{.name = "bulge", .law = Hernquist{}, .mass = 3.24, .scale = 0.61, .truncation = {6.1, 0.61}};

const Component radial_hernquist{.name = "radial_hernquist", .law = Hernquist{}, .truncation = {100, 30}, .anisotropy_radius = 40};

TEST_P(Histograms, OfOneSphere) { sample_one({}, 0); }

INSTANTIATE_TEST_SUITE_P(Sample, Histograms,
                         testing::Values(Component{.name = "plummer", .law = Plummer{}}, Component{.name = "king", .law = King{6}},
                                         Component{.name = "nfw", .law = Nfw{}, .truncation = {30, 3}},
                                         Component{.name = "radial_plummer", .law = Plummer{}, .anisotropy_radius = 1.5}, radial_hernquist),
                         [](const auto& c) { return c.param.name; });

class HistogramsOfMany : public Histograms {};
TEST_P(HistogramsOfMany, InAHaloAroundABlackHole) { sample_one({halo}, 0.014); }
INSTANTIATE_TEST_SUITE_P(
    Sample, HistogramsOfMany,
    testing::Values(bulge, Component{.name = "cold_cluster", .law = Hernquist{}, .mass = 1e-4, .scale = 0.05, .truncation = {2, 0.4}}),
    [](const auto& c) { return c.param.name; });

TEST(Sample, DirectionsAreIsotropicAndIndependent) {
    const auto p = sample(Component{.law = Plummer{}, .count = 100'000}, 4);
    double radial = 0, xy = 0, turning = 0;
    Vec3<double> mean, square;
    for (std::size_t i = 0; i < p.mass.size(); ++i) {
        const auto e = 1 / norm(p.position[i]) * p.position[i], w = 1 / norm(p.velocity[i]) * p.velocity[i];
        mean += e;
        square += {e.x * e.x, e.y * e.y, e.z * e.z};
        xy += e.x * e.y;
        radial += dot(e, w) * dot(e, w);
        turning += cross(e, w).z;
    }
    const double n = 100'000, five = 5 / std::sqrt(n);
    // Per particle: <cos^2> = 1/3, variance of cos^2 = 4/45, of xy = 1/15, of one component of e x w = 2/9.
    for (const double m : {mean.x, mean.y, mean.z}) EXPECT_NEAR(m / n, 0, five / std::sqrt(3.));
    for (const double s : {square.x, square.y, square.z}) EXPECT_NEAR(s / n, 1. / 3, five * std::sqrt(4. / 45));
    EXPECT_NEAR(xy / n, 0, five / std::sqrt(15.));
    EXPECT_NEAR(radial / n, 1. / 3, five * std::sqrt(4. / 45));
    EXPECT_NEAR(turning / n, 0, five * std::sqrt(2. / 9));
}

TEST(Sample, SameForAnyThreadsAndBlocks) {
    const Component hole{.name = "hole", .law = BlackHole{}, .mass = 0.01};
    const Component disk{
        .name = "disk", .law = ExponentialDisk{}, .mass = 3.66, .scale = 5.4, .truncation = {54, 5.4}, .disk = {.height = 0.6}};
    GalaxyModel model{.components = {halo, hole, bulge, disk}, .count = 10'001, .seed = 9, .G = 43007.1};
    model.components[2].anisotropy_radius = 10;
    const Galaxy galaxy(model);
    const auto all = sample(galaxy, Cpu{1});
    ASSERT_EQ(all.size(), 10'002);
    for (const int threads : {2, 7}) {
        const auto p = sample(galaxy, Cpu{threads});
        EXPECT_EQ(p.position, all.position);
        EXPECT_EQ(p.velocity, all.velocity);
        const Sampler sampler(galaxy, Cpu{threads});
        EXPECT_EQ(sampler.size(), all.size());
        for (const index_t block : {1000, 7777, 10'002}) {
            Particles joined, part;
            for (index_t first = 0; first < sampler.size(); first += block) {
                sampler.fill(part, first, std::min(block, sampler.size() - first));
                joined.append(part);
            }
            EXPECT_EQ(joined.position, all.position) << threads << " " << block;
            EXPECT_EQ(joined.velocity, all.velocity);
            EXPECT_EQ(joined.mass, all.mass);
            EXPECT_EQ(joined.id, all.id);
            EXPECT_EQ(joined.type, all.type);
        }
        Particles none;
        sampler.fill(none, 5, 0);
        EXPECT_EQ(none.size(), 0);
    }
}

TEST(Sample, LabelsAndRest) {
    GalaxyModel model{.components = {halo, {.name = "hole", .law = BlackHole{}, .mass = 0.5, .type = 5}, bulge}};
    model.components[0].count = 300;
    model.components[2].count = 77;
    model.components[2].type = 3;
    const auto p = sample(model);
    validate(p, "sample");
    ASSERT_EQ(p.size(), 378);
    std::vector<Vec3<double>> x(3), v(3);
    for (std::size_t i = 0; i < 378; ++i) {
        const std::size_t c = i < 300 ? 0 : i == 300 ? 1 : 2;
        EXPECT_EQ(p.id[i], i + 1);
        EXPECT_EQ(p.mass[i], c == 0 ? 81.1 / 300 : c == 1 ? 0.5 : 3.24 / 77);
        EXPECT_EQ(p.type[i], c == 0 ? 1 : c == 1 ? 5 : 3);
        x[c] += p.position[i], v[c] += p.velocity[i];
    }
    EXPECT_EQ(p.position[300], Vec3<double>{});
    EXPECT_EQ(p.velocity[300], Vec3<double>{});
    // Rounding of a plain sum of 300 terms of some 100 and 5.
    for (std::size_t c = 0; c < 3; ++c) {
        EXPECT_LT(norm(x[c]), 1e-10);
        EXPECT_LT(norm(v[c]), 1e-11);
    }
}

TEST(Sample, OneParticleRestsAtTheOrigin) {
    const auto p = sample(Component{.law = Plummer{}, .count = 1});
    EXPECT_EQ(p.position[0], Vec3<double>{});
    EXPECT_EQ(p.velocity[0], Vec3<double>{});
}

TEST(Sample, SpeedsScaleWithG) {
    const Component nfw{.law = Nfw{}, .truncation = {30, 3}, .count = 1000};
    const auto a = sample(nfw, 1), b = sample(nfw, 1, 43007.1);
    EXPECT_EQ(a.position, b.position);
    const double speed = std::sqrt(43007.1);
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_LT(norm(b.velocity[i] - speed * a.velocity[i]), 1e-12 * speed) << i;
}

TEST(Sample, WarnsOfALongTail) {
    const auto path = std::filesystem::temp_directory_path() / ("kasane_sampler_log_" + std::to_string(getpid()));
    const auto logged = [&](const Component& component) {
        std::filesystem::remove(path);
        {
            log::FileSink sink(path);
            sample(component);
        }
        std::ifstream file(path);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    EXPECT_NE(logged({.name = "tail", .law = Hernquist{}, .count = 2}).find("warning: component \"tail\": the mean radius is infinite"),
              std::string::npos);
    EXPECT_EQ(logged({.law = Hernquist{}, .truncation = {100, 10}, .count = 2}), "");
    EXPECT_EQ(logged({.law = Plummer{}, .count = 2}), "");
    std::filesystem::remove(path);
}

TEST(Sample, SeedsDiffer) {
    const Component plummer{.law = Plummer{}, .count = 100};
    const auto a = sample(plummer, 1), b = sample(plummer, 2);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_NE(a.position[i], b.position[i]);
}

struct Energies {
    double kinetic, potential;
};

/// Every pair, in double.
Energies energies(const Particles& p, double G) {
    Energies e{0, 0};
    for (std::size_t i = 0; i < p.mass.size(); ++i) {
        e.kinetic += p.mass[i] * dot(p.velocity[i], p.velocity[i]) / 2;
        for (std::size_t j = 0; j < i; ++j) e.potential -= G * p.mass[i] * p.mass[j] / norm(p.position[i] - p.position[j]);
    }
    return e;
}

// Deviations of K and W from their means are some 0.5/sqrt(N) and 0.9/sqrt(N) of themselves, or 1.6% together for these models;
// 6% is four of them.
TEST(Sample, IsInVirialEquilibrium) {
    const Component radial{.law = Hernquist{}, .truncation = {50, 10}, .anisotropy_radius = 20};
    const std::vector<GalaxyModel> models{{.components = {{.law = Plummer{}}}, .count = 4096, .G = 7},
                                          {.components = {radial}, .count = 4096, .G = 7},
                                          {.components = {halo, bulge}, .count = 4096, .G = 7}};
    for (const auto& model : models) {
        const auto [kinetic, potential] = energies(sample(model), 7);
        EXPECT_NEAR(2 * kinetic / -potential, 1, 0.06) << model.components[0].label();
    }
}

TEST(Sample, PlummerInStandardUnits) {
    const auto [kinetic, potential] = energies(plummer({.count = 4096, .seed = 6}), 1);
    EXPECT_NEAR(kinetic, 0.25, 0.25 * 0.04);
    EXPECT_NEAR(potential, -0.5, 0.5 * 0.04);
    EXPECT_EQ(plummer({.count = 10, .mass = 3}).mass[0], 0.3);
}

TEST(Sample, ProblemsHaveTheComponentsOwnKeys) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(bad_keys([] { plummer({.count = 10}); }), Keys{});
    EXPECT_EQ(bad_keys([] { plummer({.count = 10, .mass = -1, .scale = nan}); }), (Keys{"mass", "scale"}));
    EXPECT_EQ(bad_keys([] { plummer({.count = 0}); }), Keys{"count"});
    EXPECT_EQ(bad_keys([] { plummer({.count = -5}); }), Keys{"count"});
    EXPECT_EQ(bad_keys([] { plummer({.count = 5, .G = 0}); }), Keys{"G"});
    EXPECT_EQ(bad_keys([] { sample(Component{.law = Nfw{}, .scale = 0.9, .truncation = {1, 0.03}, .count = 5}); }), Keys{"truncation"});
}

TEST(Sample, ReportsItsProgress) {
    double last = 0;
    sample(GalaxyModel{.components = {bulge}, .count = 5000}, {}, [&](double done, const std::string&) {
        EXPECT_GE(done, last);
        EXPECT_LE(done, 1);
        last = done;
    });
    EXPECT_EQ(last, 1);
}

}  // namespace
