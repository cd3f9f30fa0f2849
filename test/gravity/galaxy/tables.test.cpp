// Facts and tables of galaxies against closed forms and plain integrals.
#include <kasane/gravity/galaxy/facts.hpp>
#include <kasane/gravity/galaxy/tables.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

using namespace kasane;
using namespace kasane::gravity;
using std::numbers::pi;

namespace {

constexpr double G = 2, M = 3, a = 1.5;

Component sphere_of(const Law& law, const std::string& name = "") {
    Component c;
    c.name = name, c.law = law, c.mass = M, c.scale = a, c.count = 100'000;
    return c;
}

Component black_hole(double mass) {
    Component c;
    c.name = "hole", c.law = BlackHole{}, c.mass = mass;
    return c;
}

Galaxy galaxy_of(std::vector<Component> components, double g = G) { return Galaxy({.components = std::move(components), .G = g}); }

/// f(r) at the table's radius nearest to r.
struct At {
    std::size_t i;
    At(const GalaxyTables& t, double r)
        : i(static_cast<std::size_t>(std::lower_bound(t.radius.begin(), t.radius.end(), r) - t.radius.begin())) {}
};

/// Plain trapezoidal rule in ln r.
double integral(const std::function<double(double)>& f, double low, double high, int n = 4000) {
    double sum = 0;
    const double h = std::log(high / low) / n;
    for (int i = 0; i <= n; ++i) {
        const double r = low * std::exp(h * i);
        sum += (i == 0 || i == n ? 0.5 : 1) * h * r * f(r);
    }
    return sum;
}

// The tables behind these numbers are good to about 1e-10; sums over a sphere leave out 1e-7 of the mass at either end.
constexpr double fine = 1e-6;

TEST(GalaxyFacts, PlummerSphere) {
    const auto f = facts(galaxy_of({sphere_of(Plummer{})}));
    const double r_h = a / std::sqrt(std::cbrt(4.) - 1), v2 = 3 * pi / 32 * G * M / a;  // 2K = |W| = 3 pi/32 G M^2 / a
    EXPECT_NEAR(r_h / a, 1.3048, 1e-4);
    EXPECT_NEAR(f.half_mass_radius, r_h, fine * r_h);
    EXPECT_NEAR(f.escape_speed, std::sqrt(2 * G * M / a), fine);
    EXPECT_EQ(f.escape_radius, 0);
    EXPECT_NEAR(f.virial_ratio, 1, 1e-5);
    EXPECT_NEAR(f.dynamical_time, std::sqrt(2 * r_h * r_h * r_h / (G * M)), fine);
    EXPECT_NEAR(f.crossing_time, 2 * r_h / std::sqrt(v2), 1e-5);
    ASSERT_EQ(f.components.size(), 1U);
    const auto& c = f.components[0];
    EXPECT_EQ(c.law, "plummer");
    EXPECT_EQ(c.label, "plummer");
    EXPECT_EQ(c.count, 100'000);
    EXPECT_DOUBLE_EQ(c.particle_mass, M / 100'000);
    EXPECT_NEAR(c.half_mass_radius, r_h, fine * r_h);
    EXPECT_NEAR(c.dispersion, std::sqrt(v2 / 3), 1e-5);
    EXPECT_LT(c.clamped_fraction, 1e-6);
    EXPECT_EQ(c.least_q, 0);
}

TEST(GalaxyFacts, HernquistSphere) {
    const auto f = facts(galaxy_of({sphere_of(Hernquist{})}));
    const double r_h = (1 + std::sqrt(2.)) * a;
    EXPECT_NEAR(f.half_mass_radius, r_h, fine * r_h);
    EXPECT_NEAR(f.escape_speed, std::sqrt(2 * G * M / a), fine);
    EXPECT_NEAR(f.virial_ratio, 1, 1e-5);
    EXPECT_NEAR(f.components[0].dispersion, std::sqrt(G * M / (18 * a)), 1e-5);  // |W| = G M^2 / (6 a)
}

TEST(GalaxyFacts, EverySphereIsInVirialEquilibrium) {
    const std::vector<Law> laws{King{6}, Einasto{}, Sersic{4}, TwoPower{0.5, 4.5, 1.5}, Nfw{}, Burkert{}};
    for (const auto& law : laws) {
        auto c = sphere_of(law);
        if (std::holds_alternative<Nfw>(law) || std::holds_alternative<Burkert>(law)) c.truncation = {20, 3};
        const auto f = facts(galaxy_of({c}));
        EXPECT_NEAR(f.virial_ratio, 1, 1e-4) << name(law);
        EXPECT_GT(f.suggested_softening, 0) << name(law);
        EXPECT_GT(f.suggested_step, 0) << name(law);
    }
}

TEST(GalaxyFacts, AnisotropyMovesEnergyButNotTheVirial) {
    auto c = sphere_of(Plummer{});
    const auto isotropic = facts(galaxy_of({c}));
    c.anisotropy_radius = 1.5 * a;
    const auto radial = facts(galaxy_of({c}));
    EXPECT_NEAR(radial.virial_ratio, 1, 1e-5);
    EXPECT_NEAR(radial.components[0].dispersion, isotropic.components[0].dispersion, 1e-5);
}

TEST(GalaxyFacts, TwoComponentsAndABlackHole) {
    auto core = sphere_of(Plummer{}, "core"), halo = sphere_of(Hernquist{}, "halo");
    halo.mass = 10, halo.scale = 12;
    const auto f = facts(galaxy_of({core, halo, black_hole(0.02)}));
    EXPECT_NEAR(f.mass, 13.02, 1e-12);
    EXPECT_EQ(f.count, 200'001);
    EXPECT_NEAR(f.virial_ratio, 1, 1e-3);
    const double r_core = a / std::sqrt(std::cbrt(4.) - 1);
    EXPECT_NEAR(f.components[0].half_mass_radius, r_core, fine * r_core);
    EXPECT_EQ(f.components[2].half_mass_radius, 0);
    EXPECT_EQ(f.components[2].count, 1);
    // With a black hole the escape speed at the centre is infinite: it is that at a hundredth of the smallest half-mass radius.
    const double r = r_core / 100;
    EXPECT_NEAR(f.escape_radius, r, fine * r);
    const double psi = 3 / std::hypot(r, a) + 10 / (r + 12) + 0.02 / r;
    EXPECT_NEAR(f.escape_speed, std::sqrt(2 * G * psi), 1e-5);
    // Half of the stars and the halo, the hole left out: a root of the closed forms.
    const auto inside = [](double x) { return 3 * std::pow(1 + a * a / (x * x), -1.5) + 10 * std::pow(x / (x + 12), 2); };
    EXPECT_NEAR(inside(f.half_mass_radius), 6.5, 1e-5);
}

TEST(GalaxyFacts, BlackHoleAlone) {
    const auto g = galaxy_of({black_hole(M)});
    const auto f = facts(g);
    EXPECT_EQ(f.count, 1);
    EXPECT_EQ(f.mass, M);
    for (const double zero : {f.half_mass_radius, f.escape_speed, f.virial_ratio, f.suggested_softening, f.suggested_step})
        EXPECT_EQ(zero, 0);
    EXPECT_TRUE(tables(g).radius.empty());
}

TEST(GalaxyFacts, SofteningAndStepFollowTheirRule) {
    auto c = sphere_of(Plummer{});
    const auto f = facts(galaxy_of({c}));
    // The sphere with 1% of the particles, M(x) = x^3 (1 + x^2)^-1.5: x^2 = q / (1 - q), q = 0.01^(2/3).
    const double q = std::pow(0.01, 2. / 3), r = a * std::sqrt(q / (1 - q));
    const double distance = std::cbrt(4 * pi / 3 * r * r * r / 1000);
    EXPECT_NEAR(f.suggested_softening, distance / 1.5, fine);
    // At the centre <v^2> = G M / (2 a), which limits the step.
    EXPECT_NEAR(f.suggested_step, 0.5 * f.suggested_softening / std::sqrt(G * M / (2 * a)), 1e-3 * f.suggested_step);
    EXPECT_GE(f.suggested_dt_max, f.suggested_step);
    EXPECT_EQ(std::exp2(std::round(std::log2(f.suggested_dt_max))), f.suggested_dt_max) << "a power of two";
    c.count *= 8;
    EXPECT_NEAR(facts(galaxy_of({c})).suggested_softening, f.suggested_softening / 2, fine);
    // Two components: the one with the finer particles decides.
    auto other = sphere_of(Hernquist{});
    other.count = 50;
    const auto both = facts(galaxy_of({c, other}));
    EXPECT_EQ(both.suggested_softening, both.components[0].suggested_softening);
    EXPECT_GT(both.components[1].suggested_softening, 10 * both.suggested_softening);
    c.count = 1;
    EXPECT_TRUE(std::isfinite(facts(galaxy_of({c})).suggested_softening));
}

TEST(GalaxyFacts, DoNotDependOnThreads) {
    const auto g = galaxy_of({sphere_of(Hernquist{}), sphere_of(Plummer{}, "core")});
    const auto one = facts(g, Cpu{1}), three = facts(g, Cpu{3});
    EXPECT_EQ(one.virial_ratio, three.virial_ratio);
    EXPECT_EQ(one.suggested_step, three.suggested_step);
    EXPECT_EQ(tables(g, 33, Cpu{1}).components[0].sigma_radial, tables(g, 33, Cpu{3}).components[0].sigma_radial);
}

TEST(GalaxyTables, PlummerSphere) {
    const auto t = tables(galaxy_of({sphere_of(Plummer{})}));
    ASSERT_EQ(t.radius.size(), 257U);
    const auto& c = t.components[0];
    EXPECT_LT(t.radius.front(), 0.02 * a);
    EXPECT_GT(t.radius.back(), 30 * a);
    for (std::size_t i = 0; i < t.radius.size(); ++i) {
        const double r = t.radius[i], x = r / a, s = std::hypot(r, a);
        const auto near = [](double value, double exact, double tolerance = 1e-7) {
            EXPECT_NEAR(value, exact, tolerance * std::abs(exact)) << value << " for " << exact;
        };
        near(c.density[i], 3 * M / (4 * pi * a * a * a) * std::pow(1 + x * x, -2.5));
        near(c.mass[i], M * std::pow(r / s, 3));
        near(t.mass[i], M * std::pow(r / s, 3));
        near(t.potential[i], -G * M / s);
        near(t.escape_speed[i], std::sqrt(2 * G * M / s));
        near(t.circular_speed[i], std::sqrt(G * M * r * r / (s * s * s)));
        near(c.rotation_speed[i], t.circular_speed[i]);
        near(c.sigma_radial[i], std::sqrt(G * M / (6 * s)), 1e-5);
        near(c.sigma_tangential[i], std::sqrt(G * M / (6 * s)), 1e-5);
    }
    ASSERT_EQ(c.energy.size(), t.radius.size());
    EXPECT_TRUE(std::is_sorted(c.energy.begin(), c.energy.end()));
    for (std::size_t i = 0; i < c.energy.size(); ++i) {
        // Binney & Tremaine 2008, eq. 4.83 in mass.
        const double exact =
            24 * std::sqrt(2.) / (7 * pi * pi * pi) * a * a / (std::pow(G, 5) * std::pow(M, 4)) * std::pow(c.energy[i], 3.5);
        EXPECT_NEAR(c.distribution[i], exact, 1e-5 * exact) << c.energy[i];
    }
    EXPECT_TRUE(c.surface_density.empty());
    EXPECT_TRUE(c.toomre_q.empty());
}

TEST(GalaxyTables, ComponentsFeelEachOther) {
    auto core = sphere_of(Plummer{}, "core"), halo = sphere_of(Hernquist{}, "halo");
    halo.mass = 10, halo.scale = 12;
    const auto t = tables(galaxy_of({core, halo, black_hole(0.3)}), 65);
    const auto mass = [](double r) { return 3 * std::pow(1 + a * a / (r * r), -1.5) + 10 * std::pow(r / (r + 12), 2) + 0.3; };
    const auto rho = [](double r) { return std::pow(1 + r * r / (a * a), -2.5); };
    for (const double r : {0.05, 0.5, 2.0, 9.0, 30.0}) {
        const auto i = At(t, r).i;
        const double s = t.radius[i];
        EXPECT_NEAR(t.mass[i], mass(s), 1e-6 * mass(s));
        EXPECT_NEAR(t.potential[i], -G * (3 / std::hypot(s, a) + 10 / (s + 12) + 0.3 / s), 1e-6 * -t.potential[i]);
        double squares = 0;
        for (const auto& c : t.components) squares += c.rotation_speed[i] * c.rotation_speed[i];
        EXPECT_NEAR(std::sqrt(squares), t.circular_speed[i], 1e-6 * t.circular_speed[i]);
        // Jeans: sigma^2 = 1/rho Int rho G M / r^2 dr, by a plain rule with 4000 points (error about 1e-6).
        const double sigma2 = integral([&](double x) { return rho(x) * G * mass(x) / (x * x); }, s, 3000 * a) / rho(s);
        EXPECT_NEAR(t.components[0].sigma_radial[i], std::sqrt(sigma2), 1e-4 * std::sqrt(sigma2)) << s;
    }
    EXPECT_EQ(t.components[2].mass.front(), 0.3);
    EXPECT_TRUE(t.components[2].density.empty());
}

TEST(GalaxyTables, DensityIsZeroBeyondAnEdge) {
    auto core = sphere_of(King{4}, "cluster"), halo = sphere_of(Hernquist{}, "halo");
    halo.scale = 100 * a;
    const auto t = tables(galaxy_of({core, halo}), 129);
    const auto& c = t.components[0];
    EXPECT_EQ(c.density.back(), 0);
    EXPECT_TRUE(std::isnan(c.sigma_radial.back())) << "no particles, no dispersion";
    EXPECT_NEAR(c.mass.back(), M, 1e-9);
    EXPECT_LT(c.energy.size(), t.radius.size());
    for (const double f : c.distribution) EXPECT_TRUE(std::isfinite(f) && f >= 0);
}

/// The M31 of [Miki21]'s benchmarks in kpc, 1e10 Msun, km/s.
GalaxyModel m31() {
    GalaxyModel model;
    model.G = 43007.1;
    model.count = index_t{1} << 20;
    Component halo, stars, bulge, disk;
    halo.name = "halo", halo.law = Nfw{}, halo.mass = 81.1, halo.scale = 7.63, halo.truncation = {250, 25};
    stars.name = "stellar halo", stars.law = Sersic{2.2}, stars.mass = 0.8, stars.scale = 9, stars.truncation = {176, 20};
    bulge.name = "bulge", bulge.law = Hernquist{}, bulge.mass = 3.24, bulge.scale = 0.61, bulge.truncation = {6.1, 0.61};
    disk.name = "disk", disk.law = ExponentialDisk{}, disk.mass = 3.66, disk.scale = 5.4, disk.truncation = {54, 5.4};
    disk.disk = {.height = 0.6, .toomre_q = 2.3};
    model.components = {halo, stars, bulge, disk};
    return model;
}

TEST(GalaxyFacts, Andromeda) {
    const Galaxy g(m31());
    const auto f = facts(g);
    // Cross-checks of the benchmark, each within 1%: 957,654 particles in the halo, its half-mass radius, the escape speed.
    EXPECT_LE(std::abs(f.components[0].count - 957'654), 9'577);
    EXPECT_NEAR(f.components[0].half_mass_radius, 58.1, 0.581);
    EXPECT_NEAR(f.escape_speed, 981, 9.81);
    EXPECT_NEAR(f.virial_ratio, 1, 0.01) << "only the disk, 4% of the mass, is approximate";
    EXPECT_GT(f.components[3].least_q, 1);
    EXPECT_LE(f.components[3].least_q, 2.3);
    // An exponential disk has half of its mass inside 1.678 scales; height and edge change that by less than 3%.
    EXPECT_NEAR(f.components[3].half_mass_radius, 1.678 * 5.4, 0.03 * 1.678 * 5.4);

    const auto t = tables(g);
    const auto& disk = t.components[3];
    for (const double R : {1.0, 5.4, 15.0}) {
        const auto i = At(t, R).i;
        const double y = t.radius[i] / 5.4, sigma = 3.66 / (2 * pi * 5.4 * 5.4);
        EXPECT_NEAR(disk.surface_density[i], sigma * std::exp(-y), 2e-3 * sigma) << R;  // the edge takes mass from outside
        EXPECT_NEAR(disk.mass[i], 3.66 * (1 - (1 + y) * std::exp(-y)), 0.01) << R;
        EXPECT_LT(disk.rotation[i], t.circular_speed[i]) << "asymmetric drift";
        double squares = 0;
        for (const auto& c : t.components) squares += c.rotation_speed[i] * c.rotation_speed[i];
        EXPECT_NEAR(std::sqrt(squares), t.circular_speed[i], 1e-6 * t.circular_speed[i]) << R;
    }
    EXPECT_NEAR(disk.mass.back(), 3.66, 0.01);
    EXPECT_TRUE(std::isnan(disk.sigma_R.back())) << "beyond the disk's edge";
}

Component exponential_disk(const char* name, double mass, double scale, double height, double q) {
    Component c;
    c.name = name, c.law = ExponentialDisk{}, c.mass = mass, c.scale = scale, c.disk = {.height = height, .toomre_q = q}, c.count = 1000;
    return c;
}

Component hernquist_halo(double mass, double scale) {
    auto halo = sphere_of(Hernquist{}, "halo");
    halo.mass = mass, halo.scale = scale, halo.truncation = {20 * scale, 2 * scale};
    return halo;
}

/// The index of the table's radius next to R, with the sum of the squared rotation speeds there against the total.
std::size_t checked_squares(const GalaxyTables& t, double R, double tolerance) {
    const auto i = At(t, R).i;
    double squares = 0;
    for (const auto& c : t.components) squares += c.rotation_speed[i] * c.rotation_speed[i];
    EXPECT_NEAR(std::sqrt(squares), t.circular_speed[i], tolerance * t.circular_speed[i]) << R;
    return i;
}

// The disks' fields are solved for one by one after an iteration that ends when the columns change by less than 1e-4.
constexpr double sum_of_disks = 1e-4;

TEST(GalaxyTables, TwoThinDisksHaveTheirOwnCurves) {
    const auto t = tables(
        galaxy_of({exponential_disk("inner", 1, 1, 0.002, 1.5), exponential_disk("outer", 2, 3, 0.006, 1.5), hernquist_halo(20, 5)}));
    for (const double R : {0.3, 1.0, 2.2, 5.0, 12.0}) {
        const auto i = checked_squares(t, R, sum_of_disks);
        for (const std::size_t k : {0, 1}) {
            // 4 pi G Sigma_0 R_d y^2 (I0 K0 - I1 K1), y = R / (2 R_d).                                     [Freeman 1970, ApJ 160, 811]
            const double mass = k == 0 ? 1 : 2, scale = k == 0 ? 1 : 3, y = t.radius[i] / (2 * scale);
            const double v2 = 2 * G * mass / scale * y * y *
                              (std::cyl_bessel_i(0, y) * std::cyl_bessel_k(0, y) - std::cyl_bessel_i(1, y) * std::cyl_bessel_k(1, y));
            // The height, 0.002 scales and up to 0.02 R, takes less than 0.5% from the speed in the plane; cells of R/40 leave as much.
            EXPECT_NEAR(t.components[k].rotation_speed[i], std::sqrt(v2), 0.01 * std::sqrt(v2)) << k << " at " << R;
        }
    }
}

/// Circular speed squared at R in the plane, of a ring of the radius `at` at the height z [G = 1 and mass 1].
double ring_speed2(double R, double at, double z) {
    const double far2 = (R + at) * (R + at) + z * z, near2 = (R - at) * (R - at) + z * z, k = std::sqrt(4 * at * R / far2);
    return (std::comp_ellint_1(k) + (R * R - at * at - z * z) / near2 * std::comp_ellint_2(k)) / (pi * std::sqrt(far2));
}

/// The same of a disk: plain sums over its density. Rings at R + s and R - s together, so that their poles cancel.
double disk_speed2(const DiskSystem& disks, std::size_t k, double R, double height) {
    const auto of_ring = [&](double at, double z) {
        return at > 0 ? 2 * 2 * pi * at * disks.density(k, at, z) * ring_speed2(R, at, z) : 0;
    };
    return integral([&](double z) { return integral([&](double s) { return of_ring(R + s, z) + of_ring(R - s, z); }, 1e-4 * R, 60, 240); },
                    1e-3 * height, 30 * height, 100);
}

TEST(GalaxyTables, AThickAndAThinDiskHaveTheSpeedsOfTheirDensities) {
    // The disks of models/milky-way.toml.
    const auto g =
        galaxy_of({exponential_disk("thick", 2.88, 3.6, 0.9, 2), exponential_disk("thin", 8.32, 2.6, 0.3, 1.5), hernquist_halo(70, 15)});
    const auto t = tables(g);
    for (const double R : {0.5, 1.0, 2.0, 5.0, 20.0}) {
        const auto i = checked_squares(t, R, sum_of_disks);
        for (const std::size_t k : {0, 1}) {
            const double v2 = G * disk_speed2(*g.disks(), k, t.radius[i], k == 0 ? 0.9 : 0.3);
            // The sums leave out 0.1% of each column next to the plane, and are good to about 0.3%.
            EXPECT_NEAR(t.components[k].rotation_speed[i], std::sqrt(v2), 0.005 * std::sqrt(v2)) << t.components[k].label << " at " << R;
        }
    }
}

}  // namespace
