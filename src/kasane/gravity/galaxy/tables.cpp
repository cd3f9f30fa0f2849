#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/survey.hpp>
#include <kasane/gravity/galaxy/tables.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::gravity {
namespace {

using std::numbers::pi;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double innermost_share = 1e-6, outermost_share = 0.999;

/// Logarithmic radii over the range of all components without black holes.
std::vector<double> radii_of(const Galaxy& galaxy, const Survey& survey, int n) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (std::size_t k = 0; k < galaxy.model().components.size(); ++k) {
        const double inner = survey.radius_holding(k, innermost_share);
        if (!(inner > 0)) continue;
        low = std::min(low, inner);
        high = std::max(high, 1.1 * survey.radius_holding(k, outermost_share));
    }
    std::vector<double> r;
    if (!(high > low)) return r;
    for (int i = 0; i < n; ++i) r.push_back(low * std::pow(high / low, static_cast<double>(i) / (n - 1)));
    return r;
}

double speed(double v2) { return v2 > 0 ? std::sqrt(v2) : 0; }

void fill_sphere(ComponentTable& t, const Galaxy& galaxy, std::size_t k, const std::vector<double>& radius, Cpu on) {
    const auto& sphere = *galaxy.sphere(k);
    const auto* distribution = galaxy.distribution(k);
    const double G = galaxy.model().G, anisotropy = galaxy.model().components[k].anisotropy_radius;
    const auto n = radius.size();
    for (auto* column : {&t.density, &t.mass, &t.sigma_radial, &t.sigma_tangential, &t.rotation_speed}) column->assign(n, nan);
    const int threads = thread_count(on);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (std::size_t i = 0; i < n; ++i) {
        const double r = radius[i];
        t.density[i] = sphere.density(r).rho;
        t.mass[i] = sphere.mass(r);
        t.rotation_speed[i] = speed(G * t.mass[i] / r);
        if (!(t.density[i] > 0)) continue;
        const auto sigma = jeans_dispersions(sphere, galaxy.potential(), anisotropy, r);
        t.sigma_radial[i] = speed(G * sigma.radial2);
        t.sigma_tangential[i] = speed(G * sigma.tangential2);
    }
    if (!distribution) return;
    for (std::size_t i = n; i-- > 0;) {
        if (!(t.density[i] > 0)) continue;
        const double e = galaxy.potential().psi(radius[i]);
        t.energy.push_back(G * e);
        t.distribution.push_back((*distribution)(e) / std::pow(G, 1.5));
    }
}

void fill_disk(ComponentTable& t, const Galaxy& galaxy, std::size_t d, const std::vector<double>& radius) {
    const auto& disks = *galaxy.disks();
    const double root_G = std::sqrt(galaxy.model().G);
    double mass = 0, inner = 0;
    for (const double R : radius) {
        const auto here = disks.at(d, R);
        const bool there = here.surface_density > 0;
        t.density.push_back(there ? disks.density(d, R, 0) : 0);
        t.surface_density.push_back(there ? here.surface_density : 0);
        mass += integrate_short([&](double x) { return 2 * pi * x * disks.at(d, x).surface_density; }, inner, R);
        inner = R;
        t.mass.push_back(mass);
        t.sigma_R.push_back(there ? root_G * here.sigma_R : nan);
        t.sigma_phi.push_back(there ? root_G * here.sigma_phi : nan);
        t.sigma_z.push_back(there ? root_G * here.sigma_z : nan);
        t.rotation.push_back(there ? root_G * here.rotation : nan);
        t.height.push_back(there ? here.height : nan);
        t.toomre_q.push_back(there ? here.toomre_q : nan);
    }
    for (const double v2 : disks.own_circular_speed2(d, radius)) t.rotation_speed.push_back(root_G * speed(v2));
}

void fill_black_hole(ComponentTable& t, const Galaxy& galaxy, std::size_t k, const std::vector<double>& radius) {
    const double mass = galaxy.model().components[k].mass;
    t.mass.assign(radius.size(), mass);
    for (const double r : radius) t.rotation_speed.push_back(speed(galaxy.model().G * mass / r));
}

}  // namespace

GalaxyTables tables(const Galaxy& galaxy, int radii, Cpu on) {
    const Survey survey(galaxy, on);
    const double G = galaxy.model().G;
    GalaxyTables all;
    all.radius = radii_of(galaxy, survey, radii);
    for (const double r : all.radius) {
        const double psi = G * survey.psi(r);
        all.mass.push_back(galaxy.potential().mass(r));
        all.potential.push_back(-psi);
        all.circular_speed.push_back(speed(G * survey.circular_speed2(r)));
        all.escape_speed.push_back(speed(2 * psi));
    }
    for (std::size_t k = 0; k < galaxy.model().components.size(); ++k) {
        auto& t = all.components.emplace_back();
        t.label = galaxy.model().components[k].label();
        t.law = name(galaxy.model().components[k].law);
        if (galaxy.sphere(k)) {
            fill_sphere(t, galaxy, k, all.radius, on);
        } else if (survey.disk_of(k) >= 0) {
            fill_disk(t, galaxy, static_cast<std::size_t>(survey.disk_of(k)), all.radius);
        } else {
            fill_black_hole(t, galaxy, k, all.radius);
        }
    }
    return all;
}

}  // namespace kasane::gravity
