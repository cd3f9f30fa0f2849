// Every law of a sphere at a million particles against its own density, Jeans' equation and distribution function: chi-square per
// degree of freedom, and Jeans' equation closed by the moments of f. Expected values come from plain trapezoidal sums over the law's
// density, not from the tables that the sampler uses. The chi-squares are printed: ctest -R SampledSpheres -V.
#include <kasane/gravity/galaxy/component/density_law.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

namespace kasane::gravity {
namespace {

using std::numbers::pi;

constexpr index_t count = 1'000'000;
// A right sampler exceeds mean + 5 sigma of chi-square once in 3 million; the seeds are fixed, so a pass stays a pass.
double largest_chi_square(double freedom) { return freedom + 5 * std::sqrt(2 * freedom); }

struct SphereCase {
    std::string name;
    Component component;
    friend void PrintTo(const SphereCase& each, std::ostream* to) { *to << each.name; }
};

Table plummer_table(double power) {
    Table table;
    for (double x = -7; x <= 7; x += 1. / 16) {
        table.radius.push_back(std::exp(x));
        table.density.push_back(std::pow(1 + std::exp(2 * x), power));
    }
    return table;
}

std::vector<SphereCase> sphere_cases() {
    // Isothermal spheres have so much mass at the edge that f < 0 for 0.9% of it when it is only 10% wide.
    const Truncation cut{20, 2}, wide{20, 5};
    return {{"plummer", {.law = Plummer{}}},
            {"plummer_cut", {.law = Plummer{}, .truncation = cut}},
            {"king_3", {.law = King{3}}},
            {"king_9", {.law = King{9}}},
            {"hernquist", {.law = Hernquist{}, .truncation = {100, 10}}},
            {"nfw", {.law = Nfw{}, .truncation = cut}},
            {"moore", {.law = Moore{}, .truncation = cut}},
            {"burkert", {.law = Burkert{}, .truncation = cut}},
            {"einasto", {.law = Einasto{0.18}}},
            {"einasto_cut", {.law = Einasto{0.3}, .truncation = cut}},
            {"isothermal", {.law = Isothermal{}, .truncation = wide}},
            {"two_power", {.law = TwoPower{1.5, 4, 1}, .truncation = {100, 10}}},
            {"two_power_cut", {.law = TwoPower{0, 3, 2}, .truncation = cut}},
            {"triple_power", {.law = TriplePower{0.5, 2, 5, 5, 2}}},
            {"sersic_1", {.law = Sersic{1}}},
            {"sersic_4", {.law = Sersic{4}, .truncation = cut}},
            {"table", {.law = TabulatedDensity{plummer_table(-2.5)}}},
            {"surface_density_table", {.law = TabulatedSurfaceDensity{plummer_table(-2)}}},
            {"hernquist_anisotropic", {.law = Hernquist{}, .truncation = {100, 30}, .anisotropy_radius = 2}},
            {"plummer_anisotropic", {.law = Plummer{}, .anisotropy_radius = 1.5}}};
}

/// The component by trapezoidal sums on a fine grid of ln r: enclosed mass, Psi, radial dispersion; G = mass = 1.
class Sums {
   public:
    static constexpr double step = 1. / 2048;

    explicit Sums(const Component& component) : ra_(component.anisotropy_radius) {
        const auto law = density_law(component);
        const double first = std::log(law.inner), last = std::log(std::min(law.outer, 1e5));
        for (double x = first; x < last; x += step) r.push_back(std::exp(x));
        const auto n = r.size();
        rho.resize(n), mass.resize(n), psi.resize(n), radial2.resize(n), volume.resize(n);
        for (std::size_t i = 0; i < n; ++i) rho[i] = law.at(r[i]).rho, volume[i] = std::pow(r[i], 3) / weight(r[i]);
        const double slope = std::log(rho[0] / rho[1]) / step;  // a power law inside the grid
        mass[0] = 4 * pi * rho[0] * std::pow(r[0], 3) / (3 - slope);
        for (std::size_t i = 1; i < n; ++i)
            mass[i] = mass[i - 1] + 2 * pi * step * (rho[i - 1] * std::pow(r[i - 1], 3) + rho[i] * std::pow(r[i], 3));
        const double total = mass[n - 1];
        for (auto& density : rho) density /= total;
        for (auto& enclosed : mass) enclosed /= total;
        psi[n - 1] = 1 / r[n - 1];
        double pressure = 0;
        const auto pull = [&](std::size_t i) { return mass[i] / r[i]; };
        for (std::size_t i = n - 1; i-- > 0;) {
            psi[i] = psi[i + 1] + step / 2 * (pull(i) + pull(i + 1));
            pressure += step / 2 * (weight(r[i]) * rho[i] * pull(i) + weight(r[i + 1]) * rho[i + 1] * pull(i + 1));
            radial2[i] = pressure / (weight(r[i]) * rho[i]);
        }
    }

    double weight(double radius) const { return ra_ > 0 ? 1 + radius * radius / (ra_ * ra_) : 1; }
    /// A quantity at a radius, linear in ln r.
    double at(const std::vector<double>& values, double radius) const {
        const double t = std::log(radius / r[0]) / step;
        const auto i = static_cast<std::size_t>(std::clamp(t, 0., static_cast<double>(r.size() - 2)));
        const double s = std::clamp(t - static_cast<double>(i), 0., 1.);
        return values[i] + s * (values[i + 1] - values[i]);
    }
    double radius_of(double m) const {
        const auto i = static_cast<std::size_t>(std::upper_bound(mass.begin(), mass.end(), m) - mass.begin());
        if (i == 0) return r[0];
        if (i >= r.size()) return r.back();
        return r[i - 1] + (m - mass[i - 1]) / (mass[i] - mass[i - 1]) * (r[i] - r[i - 1]);
    }
    /// Mass per Q and unit f: 16 pi^2 Int r^2 / (1 + r^2/r_a^2) sqrt(2 (Psi - Q)) dr                [Binney & Tremaine 2008, 4.4]
    double states(double q) const {
        double sum = 0;
        for (std::size_t i = 0; i < r.size() && psi[i] > q; ++i) sum += volume[i] * std::sqrt(2 * (psi[i] - q));
        return 16 * pi * pi * sum * step;
    }

    std::vector<double> r, rho, mass, psi, radial2, volume;  ///< volume: r^3 / (1 + r^2/r_a^2)

   private:
    double ra_;
};

class SampledSpheres : public testing::TestWithParam<SphereCase> {};

TEST_P(SampledSpheres, FitTheirDensityDispersionsAndDistribution) {
    const auto& component = GetParam().component;
    GalaxyModel model;
    model.components = {component};
    model.count = count;
    model.seed = 5;
    const Galaxy galaxy(model);
    const auto particles = sample(galaxy);
    const Sums sums(component);

    // Shells of equal mass; the outermost ones of laws without an end would be cut by the sums' grid.
    constexpr std::size_t shells = 50;
    std::vector<double> edge(shells - 1);
    for (std::size_t k = 0; k + 1 < shells; ++k) edge[k] = sums.radius_of(static_cast<double>(k + 1) / shells);
    std::vector<double> members(shells), radial2(shells), radial4(shells), tangential2(shells), tangential4(shells), expected_r2(shells),
        expected_t2(shells);
    std::vector<double> q;
    q.reserve(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < particles.mass.size(); ++i) {
        const auto &x = particles.position[i], &v = particles.velocity[i];
        const double r = std::sqrt(dot(x, x)), radial = dot(x, v) / r, v2 = dot(v, v);
        const double tangential = v2 - radial * radial;  // of two directions
        const auto shell = static_cast<std::size_t>(std::upper_bound(edge.begin(), edge.end(), r) - edge.begin());
        const double sigma2 = sums.at(sums.radial2, r);
        members[shell] += 1;
        radial2[shell] += radial * radial, radial4[shell] += std::pow(radial, 4);
        tangential2[shell] += tangential, tangential4[shell] += tangential * tangential;
        expected_r2[shell] += sigma2, expected_t2[shell] += 2 * sigma2 / sums.weight(r);
        q.push_back(sums.at(sums.psi, r) - radial * radial / 2 - tangential / 2 * sums.weight(r));
    }
    double density = 0, radial = 0, across = 0;
    const double share = static_cast<double>(count) / shells;
    for (std::size_t k = 0; k < shells; ++k) {
        density += std::pow(members[k] - share, 2) / share;
        const auto deviation = [&](double sum, double square, double expected) {
            const double variance = square - sum * sum / members[k];
            return std::pow(sum - expected, 2) / variance;
        };
        radial += deviation(radial2[k], radial4[k], expected_r2[k]);
        across += deviation(tangential2[k], tangential4[k], expected_t2[k]);
    }

    // Q in bins of equal numbers, each expected to hold Int f(Q) g(Q) dQ.
    std::sort(q.begin(), q.end());
    const auto* f = galaxy.distribution(0);
    double energy = 0;
    constexpr std::size_t bins = 40, pieces = 16;
    // The last bins at either end contain the particles beyond the tables' ends, and are left out.
    for (std::size_t k = 1; k + 1 < bins; ++k) {
        const auto per_bin = q.size() / bins;
        const double low = q[k * per_bin], high = q[(k + 1) * per_bin];
        double expected = 0;  // Simpson's rule
        for (std::size_t j = 0; j <= pieces; ++j) {
            const double at = low + (high - low) * static_cast<double>(j) / pieces;
            expected += (j == 0 || j == pieces ? 1 : j % 2 == 1 ? 4 : 2) * (*f)(at)*sums.states(at);
        }
        expected *= (high - low) / pieces / 3 * static_cast<double>(count);
        energy += std::pow(static_cast<double>(per_bin) - expected, 2) / expected;
    }
    std::printf("%-24s chi-square per degree of freedom: density %.2f, radial dispersion %.2f, tangential %.2f, f(Q) %.2f\n",
                GetParam().name.c_str(), density / (shells - 1), radial / shells, across / shells, energy / (bins - 2));
    EXPECT_LT(density, largest_chi_square(shells - 1));
    EXPECT_LT(radial, largest_chi_square(shells));
    EXPECT_LT(across, largest_chi_square(shells));
    // Edges taken from the sample itself have twice the variance of fixed ones.
    EXPECT_LT(energy, 2 * largest_chi_square(bins - 2));
    EXPECT_GT(density, (shells - 1) - 5 * std::sqrt(2. * (shells - 1))) << "too even to be random";
}

/// Int v_r^2 f d^3v / Int f d^3v against Jeans' equation solved by sums, at radii that hold 1% to 99% of the mass.
TEST_P(SampledSpheres, MomentsOfFCloseJeansEquation) {
    const auto& component = GetParam().component;
    GalaxyModel model;
    model.components = {component};
    model.count = 1;
    const Galaxy galaxy(model);
    const auto* f = galaxy.distribution(0);
    const Sums sums(component);
    double worst = 0, worst_density = 0;
    for (const double m : {0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 0.99}) {
        const double r = sums.radius_of(m), psi = galaxy.potential().psi(r), fastest = std::sqrt(2 * psi);
        constexpr int speeds = 4000;
        double zeroth = 0, second = 0;
        for (int j = 1; j < speeds; ++j) {
            const double part = static_cast<double>(j) / speeds, u = fastest * part * part * part;  // dense where cold cusps are
            const double density = 4 * pi * u * u * (*f)(psi - u * u / 2) * 3 * fastest * part * part / speeds;
            zeroth += density, second += density * u * u / 3;
        }
        worst = std::max(worst, std::abs(second / zeroth / sums.at(sums.radial2, r) - 1));
        worst_density = std::max(worst_density, std::abs(zeroth / sums.weight(r) / sums.at(sums.rho, r) - 1));
    }
    std::printf("%-24s Jeans' equation closes to %.1e, the density to %.1e\n", GetParam().name.c_str(), worst, worst_density);
    // The tolerance is 1%; f is not clamped here, and the sums over speeds and radii have errors of about 1e-5.
    EXPECT_LT(worst, 5e-5);
    EXPECT_LT(worst_density, 5e-5);
}

INSTANTIATE_TEST_SUITE_P(EveryLaw, SampledSpheres, testing::ValuesIn(sphere_cases()), [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace kasane::gravity
