#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/model.hpp>
#include <reference/spheres.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>

using namespace kasane;
using namespace kasane::gravity;

namespace {

constexpr index_t many = 100'000;
const Model truncated_nfw{.kind = ModelKind::nfw, .truncation_radius = 30, .truncation_width = 3};

Model with(Model model, index_t count, std::uint64_t seed = 1) {
    model.count = count;
    model.seed = seed;
    return model;
}
Model of(ModelKind kind) { return kind == ModelKind::nfw ? truncated_nfw : Model{.kind = kind}; }

double norm(const Vec3<double>& v) { return std::sqrt(dot(v, v)); }

/// Uniform numbers in, chi-square over bins of equal probability out. A fixed seed passes always or never; a right sample lies
/// above mean + 5 standard deviations about once in 1e5.
void expect_uniform(const std::vector<double>& u, const char* what) {
    constexpr int bins = 50;
    std::vector<double> count(bins);
    for (const double x : u) count[static_cast<std::size_t>(std::clamp(static_cast<int>(x * bins), 0, bins - 1))] += 1;
    const double expected = static_cast<double>(u.size()) / bins;
    double chi2 = 0;
    for (const double c : count) chi2 += (c - expected) * (c - expected) / expected;
    EXPECT_LT(chi2, bins - 1 + 5 * std::sqrt(2. * (bins - 1))) << what;
    EXPECT_GT(chi2, bins - 1 - 5 * std::sqrt(2. * (bins - 1))) << what << ": more even than chance";
}

/// @param center  where the model's centre lies in the sample
void expect_mass_profile(const Particles& p, const std::function<double(double)>& mass, const Vec3<double>& center, const char* what) {
    std::vector<double> u;
    for (const auto& x : p.position) u.push_back(mass(norm(x - center)));
    expect_uniform(u, what);
}

/// Component-wise: finds a cusp to some 1e-3 scales, whatever the outliers do.
Vec3<double> median(const Particles& p) {
    const auto middle = [&](double Vec3<double>::*component) {
        std::vector<double> x;
        for (const auto& r : p.position) x.push_back(r.*component);
        std::nth_element(x.begin(), x.begin() + x.size() / 2, x.end());
        return x[x.size() / 2];
    };
    return {middle(&Vec3<double>::x), middle(&Vec3<double>::y), middle(&Vec3<double>::z)};
}

/// In 20 shells of equal numbers, <v^2>/3 against Jeans' dispersion: the estimate's relative deviation is sqrt(2/(3n)) for
/// Gaussian velocities, and less for these.
void expect_dispersion(const Particles& p, const std::function<double(double)>& dispersion2, const Vec3<double>& center) {
    std::vector<std::size_t> order(p.position.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return norm(p.position[a] - center) < norm(p.position[b] - center); });
    const std::size_t shell = order.size() / 20;
    for (std::size_t first = 0; first + shell <= order.size(); first += shell) {
        double measured = 0, expected = 0;
        for (std::size_t k = first; k < first + shell; ++k) {
            measured += dot(p.velocity[order[k]], p.velocity[order[k]]) / 3;
            expected += dispersion2(norm(p.position[order[k]] - center));
        }
        EXPECT_NEAR(measured / expected, 1, 5 * std::sqrt(2 / (3. * static_cast<double>(shell)))) << "shell from " << first;
    }
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

std::vector<std::string> bad_keys(const Model& model) {
    std::vector<std::string> keys;
    try {
        sample(model);
    } catch (const InputError& error) {
        for (const auto& problem : error.problems()) keys.push_back(problem.where.key);
    }
    return keys;
}
using Keys = std::vector<std::string>;

}  // namespace

TEST(Sample, PlummerFollowsItsMassProfile) {
    const auto p = sample(with(of(ModelKind::plummer), many));
    expect_mass_profile(p, reference::Plummer::mass, {}, "plummer");
}

TEST(Sample, HernquistFollowsItsMassProfile) {
    // Untruncated: 1e-5 of the mass lies beyond 2e5 scales and drags the centre of mass away from the cusp.
    const auto p = sample(with(of(ModelKind::hernquist), many));
    expect_mass_profile(p, reference::Hernquist::mass, median(p), "hernquist");
}

TEST(Sample, TruncatedModelsFollowTheirMassProfiles) {
    const auto expect = [](ModelKind kind, const std::function<double(double)>& density) {
        const Model model{.kind = kind, .count = many, .mass = 5, .scale = 2, .truncation_radius = 20, .truncation_width = 2};
        // Cumulated Simpson panels on a fine grid of ln r, looked up linearly: plain, and good to 1e-5.
        const auto cut = [&](double r) { return density(r) * std::erfc((2 * r - 20) / 2) / 2; };
        constexpr int n = 4000;
        const double low = std::log(1e-6), high = std::log(20.), step = (high - low) / n;
        std::vector<double> table{0};
        for (int i = 0; i < n; ++i) {
            table.push_back(table.back() + reference::mass_between(cut, std::exp(low + i * step), std::exp(low + (i + 1) * step), 1));
        }
        const auto mass = [&](double r) {
            const double t = std::clamp((std::log(r / 2) - low) / step, 0., n - 1e-9);
            const auto i = static_cast<std::size_t>(t);
            return (table[i] + (t - static_cast<double>(i)) * (table[i + 1] - table[i])) / table.back();
        };
        const auto p = sample(model);
        expect_mass_profile(p, mass, {}, name(kind).c_str());
        EXPECT_NEAR(std::accumulate(p.mass.begin(), p.mass.end(), 0.), 5, 1e-9);
    };
    expect(ModelKind::plummer, reference::Plummer::density);
    expect(ModelKind::hernquist, reference::Hernquist::density);
    expect(ModelKind::nfw, [](double r) { return 1 / (r * (1 + r) * (1 + r)); });
}

TEST(Sample, UniformSpheresAreUniform) {
    for (const auto kind : {ModelKind::uniform, ModelKind::cold}) {
        const auto p = sample(Model{.kind = kind, .count = many, .scale = 3});
        // The centre of mass was moved by about 3/sqrt(5 N): the last bin's edge blurs by less than a tenth of its width.
        expect_mass_profile(
            p, [](double r) { return std::pow(r / 3, 3); }, {}, "uniform");
    }
}

TEST(Sample, DispersionFollowsJeans) {
    const auto plummer = sample(with(of(ModelKind::plummer), many, 2));
    expect_dispersion(plummer, reference::Plummer::dispersion2, {});
    const auto hernquist = sample(with(of(ModelKind::hernquist), many, 2));
    // The closed form cancels beyond some 100 scales; there the dispersion is 1/(5 r).
    expect_dispersion(
        hernquist, [](double r) { return r < 300 ? reference::Hernquist::dispersion2(r) : 1 / (5 * r); }, median(hernquist));
}

// At any radius of a Plummer sphere q = v / v_escape has the density q^2 (1 - q^2)^(7/2)    [Aarseth, Henon & Wielen 1974].
TEST(Sample, PlummerSpeedsFollowTheirDistribution) {
    const auto p = sample(with(of(ModelKind::plummer), many, 3));
    constexpr int n = 20000;
    std::vector<double> table{0};
    for (int i = 0; i < n; ++i) {
        const double q = (i + 0.5) / n;
        table.push_back(table.back() + q * q * std::pow(1 - q * q, 3.5));
    }
    std::vector<double> u;
    for (std::size_t i = 0; i < p.mass.size(); ++i) {
        const double q = norm(p.velocity[i]) / std::sqrt(2 * reference::Plummer::psi(norm(p.position[i])));
        u.push_back(table[static_cast<std::size_t>(std::min(q, 1.) * n)] / table.back());
    }
    expect_uniform(u, "speeds");
}

TEST(Sample, DirectionsAreIsotropicAndIndependent) {
    for (const auto kind : {ModelKind::plummer, ModelKind::nfw, ModelKind::uniform}) {
        const auto p = sample(with(of(kind), many, 4));
        double radial = 0, xy = 0;
        Vec3<double> mean, square;
        for (std::size_t i = 0; i < p.mass.size(); ++i) {
            const auto e = 1 / norm(p.position[i]) * p.position[i], w = 1 / norm(p.velocity[i]) * p.velocity[i];
            mean += e;
            square += {e.x * e.x, e.y * e.y, e.z * e.z};
            xy += e.x * e.y;
            radial += dot(e, w) * dot(e, w);
        }
        const double n = static_cast<double>(many), five = 5 / std::sqrt(n);
        // Per particle: <cos^2> = 1/3, variance of cos^2 = 4/45, of xy = 1/15.
        for (const double m : {mean.x, mean.y, mean.z}) EXPECT_NEAR(m / n, 0, five / std::sqrt(3.));
        for (const double s : {square.x, square.y, square.z}) EXPECT_NEAR(s / n, 1. / 3, five * std::sqrt(4. / 45));
        EXPECT_NEAR(xy / n, 0, five / std::sqrt(15.));
        EXPECT_NEAR(radial / n, 1. / 3, five * std::sqrt(4. / 45));
    }
}

// Deviations of K and W from their means are some 0.5/sqrt(N) and 0.9/sqrt(N) of themselves, or 1.6% together for these models;
// 6% is four of them.
TEST(Sample, IsInVirialEquilibrium) {
    for (const auto kind : {ModelKind::plummer, ModelKind::hernquist, ModelKind::nfw, ModelKind::uniform}) {
        auto model = with(of(kind), 4096, 5);
        model.mass = 3;
        model.scale = 0.5;
        model.G = 7;
        const auto [kinetic, potential] = energies(sample(model), model.G);
        EXPECT_NEAR(2 * kinetic / -potential, 1, 0.06) << name(kind);
    }
}

TEST(Sample, ColdSphereIsAtRest) {
    for (const auto& v : sample(Model{.kind = ModelKind::cold, .count = 100}).velocity) EXPECT_EQ(v, Vec3<double>{});
}

TEST(Sample, UniformSphereIsBound) {
    const auto p = sample(Model{.kind = ModelKind::uniform, .count = 10'000});
    // v <= sqrt(GM/R), and the potential at the edge is -GM/R; the frame's own motion is about 1%.
    for (const auto& v : p.velocity) EXPECT_LT(dot(v, v) / 2, 0.6);
}

// Standard units: K = 1/4, W = -1/2. Deviations at N = 4096: 0.0035 in K and std(phi)/sqrt(N) = 0.007 in W; five of both is 0.04.
TEST(Sample, PlummerInStandardUnitsHasAQuarterOfEnergy) {
    const auto [kinetic, potential] = energies(plummer({.count = 4096, .seed = 6}), 1);
    EXPECT_NEAR(kinetic, 0.25, 0.018);
    EXPECT_NEAR(potential, -0.5, 0.035);
    EXPECT_NEAR(kinetic + potential, -0.25, 0.04);
    // With the exact potential of the model many more particles can be had.
    const auto p = plummer({.count = many, .seed = 6});
    const double a = 3 * std::numbers::pi / 16;
    double energy = 0;
    for (std::size_t i = 0; i < p.mass.size(); ++i) {
        energy += p.mass[i] * (dot(p.velocity[i], p.velocity[i]) - reference::Plummer::psi(norm(p.position[i]) / a) / a) / 2;
    }
    EXPECT_NEAR(energy, -0.25, 5 * 0.35 / std::sqrt(static_cast<double>(many)));  // std(v^2 + phi)/2 < 0.35
}

TEST(Sample, ScalesWithMassScaleAndG) {
    const auto unit = sample(with(truncated_nfw, 1000));
    auto model = with(truncated_nfw, 1000);
    model.mass = 100, model.scale = 20, model.G = 43007.1;
    model.truncation_radius *= 20, model.truncation_width *= 20;
    const auto scaled = sample(model);
    const double speed = std::sqrt(43007.1 * 100 / 20);
    for (std::size_t i = 0; i < 1000; ++i) {
        EXPECT_NEAR(norm(scaled.position[i] - 20 * unit.position[i]), 0, 1e-9 * 20 * 50);
        EXPECT_NEAR(norm(scaled.velocity[i] - speed * unit.velocity[i]), 0, 1e-9 * speed);
    }
}

TEST(Sample, CentreOfMassIsAtTheOriginAndAtRest) {
    for (const auto kind : {ModelKind::plummer, ModelKind::hernquist, ModelKind::nfw, ModelKind::uniform, ModelKind::cold}) {
        const auto p = sample(with(of(kind), 3001));
        Vec3<double> x, v;
        double size = 0;
        for (std::size_t i = 0; i < p.mass.size(); ++i) {
            x += p.position[i], v += p.velocity[i];
            size += norm(p.position[i]);
        }
        // Rounding of a plain sum of N terms: N times 1e-16 of the sum of magnitudes, at the worst.
        EXPECT_LT(norm(x), 3001 * 1.2e-16 * size) << name(kind);
        EXPECT_LT(norm(v), 3001 * 3001 * 1.2e-16) << name(kind);
    }
}

TEST(Sample, IdsMassesAndTypes) {
    auto model = with(of(ModelKind::plummer), 257);
    model.mass = 2;
    model.type = 3;
    const auto p = sample(model);
    validate(p, "sample");
    ASSERT_EQ(p.size(), 257);
    for (std::size_t i = 0; i < 257; ++i) {
        EXPECT_EQ(p.id[i], i + 1);
        EXPECT_EQ(p.mass[i], 2. / 257);
        EXPECT_EQ(p.type[i], 3);
    }
}

TEST(Sample, OneParticleRestsAtTheOrigin) {
    const auto p = sample(with(of(ModelKind::plummer), 1));
    EXPECT_EQ(p.position[0], Vec3<double>{});
    EXPECT_EQ(p.velocity[0], Vec3<double>{});
}

TEST(Sample, SameOnAnyNumberOfThreads) {
    for (const auto kind : {ModelKind::plummer, ModelKind::nfw, ModelKind::uniform}) {
        const auto model = with(of(kind), 20'001);  // above the size from which threads are used
        const auto one = sample(model, Cpu{1});
        for (const int threads : {2, 3, 7}) {
            const auto p = sample(model, Cpu{threads});
            EXPECT_EQ(p.position, one.position);
            EXPECT_EQ(p.velocity, one.velocity);
        }
    }
}

TEST(Sample, SeedsDiffer) {
    const auto a = sample(with(of(ModelKind::plummer), 100, 1)), b = sample(with(of(ModelKind::plummer), 100, 2));
    for (std::size_t i = 0; i < 100; ++i) EXPECT_NE(a.position[i], b.position[i]);
}

TEST(Sample, BadOptionsAreNamed) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    const Model good{.count = 10};
    EXPECT_EQ(bad_keys(good), Keys{});
    const auto change = [&](auto set) {
        Model model = good;
        set(model);
        return bad_keys(model);
    };
    EXPECT_EQ(change([](Model& m) { m.count = 0; }), Keys{"count"});
    EXPECT_EQ(change([](Model& m) { m.count = -5; }), Keys{"count"});
    for (const double bad : {0., -1., nan, inf}) {
        EXPECT_EQ(change([&](Model& m) { m.mass = bad; }), Keys{"mass"});
        EXPECT_EQ(change([&](Model& m) { m.scale = bad; }), Keys{"scale"});
        EXPECT_EQ(change([&](Model& m) { m.G = bad; }), Keys{"G"});
    }
    EXPECT_EQ(change([](Model& m) { m.type = 6; }), Keys{"type"});
    for (const double bad : {-1., nan, inf}) {
        EXPECT_EQ(change([&](Model& m) { m.truncation_radius = bad, m.truncation_width = 1; }).at(0), "truncation_radius");
    }
    for (const double bad : {0., -1., nan, inf, 0.05, 6.}) {
        EXPECT_EQ(change([&](Model& m) { m.truncation_radius = 10, m.truncation_width = bad; }), Keys{"truncation_width"});
    }
    EXPECT_EQ(change([](Model& m) { m.truncation_width = 1; }), Keys{"truncation_width"});
    EXPECT_EQ(change([](Model& m) { m.kind = ModelKind::nfw; }), Keys{"truncation_radius"});
    EXPECT_EQ(change([](Model& m) { m.kind = ModelKind::cold, m.truncation_radius = 1, m.truncation_width = 0.1; }), Keys{"truncation"});
    EXPECT_EQ(change([](Model& m) { m.count = 0, m.mass = -1, m.scale = nan; }), (Keys{"count", "mass", "scale"}));
}

TEST(Sample, RefusesATruncationWithoutEquilibrium) {
    auto model = with(truncated_nfw, 10);
    model.truncation_radius = 1, model.truncation_width = 0.03;
    EXPECT_EQ(bad_keys(model), Keys{"truncation"});
    try {
        sample(model);
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("negative for"), std::string::npos) << error.what();
    }
}

TEST(Sample, ModelNames) {
    for (const auto kind : {ModelKind::plummer, ModelKind::hernquist, ModelKind::nfw, ModelKind::uniform, ModelKind::cold}) {
        EXPECT_EQ(model_kind_named(name(kind)), kind);
    }
    try {
        model_kind_named("hernquis");
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean \"hernquist\""), std::string::npos);
    }
}

TEST(Objects, AreTurnedMovedAndNumbered) {
    const auto model = with(of(ModelKind::uniform), 50);
    const auto alone = sample(model);
    const auto p = sample(std::vector<Object>{{model, {}, {}, {}}, {model, {10, 20, 30}, {1, 2, 3}, {90, 0, 0}}});
    ASSERT_EQ(p.size(), 100);
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_EQ(p.position[i], alone.position[i]);
        const auto& x = alone.position[i];
        // A quarter turn about x takes y to z and z to -y.
        EXPECT_NEAR(norm(p.position[50 + i] - Vec3<double>{10 + x.x, 20 - x.z, 30 + x.y}), 0, 1e-14 * (40 + norm(x)));
        const auto& v = alone.velocity[i];
        EXPECT_NEAR(norm(p.velocity[50 + i] - Vec3<double>{1 + v.x, 2 - v.z, 3 + v.y}), 0, 1e-14);
    }
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(p.id[i], i + 1);
}

TEST(Objects, TurnAboutXThenYThenZ) {
    const auto model = with(of(ModelKind::cold), 3);
    const auto x = sample(model).position[1];
    const auto turned = [&](const Vec3<double>& spin) { return sample(std::vector<Object>{{model, {}, {}, spin}}).position[1]; };
    const auto expect = [&](const Vec3<double>& spin, const Vec3<double>& to) { EXPECT_NEAR(norm(turned(spin) - to), 0, 1e-14); };
    expect({0, 90, 0}, {x.z, x.y, -x.x});
    expect({0, 0, 90}, {-x.y, x.x, x.z});
    expect({90, 90, 0}, {x.y, -x.z, -x.x});  // x first: (x, -z, y), then y: (y, -z, -x)
    expect({0, 90, 90}, {-x.y, x.z, -x.x});
    expect({360, -720, 0}, x);
}

TEST(Objects, ProblemsNameTheObject) {
    auto bad = with(of(ModelKind::plummer), 0);
    const auto good = with(of(ModelKind::plummer), 5);
    try {
        sample(std::vector<Object>{{good, {}, {}, {}}, {bad, {std::nan(""), 0, 0}, {}, {}}});
        ADD_FAILURE();
    } catch (const InputError& error) {
        ASSERT_EQ(error.problems().size(), 2u);
        EXPECT_EQ(error.problems()[0].where.key, "object.1.count");
        EXPECT_EQ(error.problems()[1].where.key, "object.1.position");
    }
    auto sharp = with(truncated_nfw, 10);
    sharp.truncation_radius = 1, sharp.truncation_width = 0.03;
    try {
        sample(std::vector<Object>{{sharp, {}, {}, {}}});
        ADD_FAILURE();
    } catch (const InputError& error) {
        EXPECT_EQ(error.problems()[0].where.key, "object.0.truncation");
    }
    EXPECT_THROW(sample(std::vector<Object>{}), InputError);
}
