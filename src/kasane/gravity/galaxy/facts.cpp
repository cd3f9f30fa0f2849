#include <kasane/gravity/galaxy/cautions.hpp>
#include <kasane/gravity/galaxy/facts.hpp>
#include <kasane/gravity/galaxy/survey.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::gravity {
namespace {

using std::numbers::pi;

// Step in ln r of integrals over a sphere. Integrands are smooth and vanish at both ends, so that the trapezoidal rule converges faster
// than any power. An edge with a width of a tenth of its radius is 3 steps wide, and the error is still 1e-6.
constexpr double shell_step = 1. / 32;
constexpr double left_out = 1e-7;  // fraction of the mass left out at either end
constexpr double resolved_share = 0.01;
constexpr double resolved_particles = 8;
constexpr double eta = 0.5;  // softening lengths that a particle moves in a step

/// Twice the kinetic energy, its part without rotation, and the virial of the forces, Int rho x . grad Phi dV; G = 1.
struct Virial {
    double kinetic2 = 0, random2 = 0, forces = 0;
    Virial& operator+=(const Virial& other) {
        kinetic2 += other.kinetic2, random2 += other.random2, forces += other.forces;
        return *this;
    }
};

Virial virial_of_sphere(const Galaxy& galaxy, std::size_t k, Cpu on) {
    const auto& sphere = *galaxy.sphere(k);
    const double first = std::log(sphere.radius(left_out * sphere.total()));
    const double last = std::log(std::min(sphere.outer(), sphere.radius((1 - left_out) * sphere.total())));
    const auto n = static_cast<index_t>((last - first) / shell_step) + 1;
    std::vector<Virial> part(static_cast<std::size_t>(n));
    const int threads = thread_count(on);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (index_t i = 0; i < n; ++i) {
        const double r = std::exp(first + shell_step * static_cast<double>(i));
        const double rho = sphere.density(r).rho;
        if (!(rho > 0)) continue;
        const double shell = 4 * pi * r * r * r * rho * shell_step;
        const double v2 = mean_speed2(galaxy, k, r);
        // The force of the disks, averaged over a sphere, is that of their spherical average.
        part[static_cast<std::size_t>(i)] = {shell * v2, shell * v2, shell * galaxy.potential().mass(r) / r};
    }
    Virial sum;
    for (const auto& p : part) sum += p;  // in one order for any number of threads
    return sum;
}

Virial virial_of_disk(const Galaxy& galaxy, const Survey& survey, int disk) {
    const auto& disks = *galaxy.disks();
    const auto d = static_cast<std::size_t>(disk);
    Virial sum;
    double R = -1;
    DiskAt here;
    auto nodes = survey.nodes(disk);
    std::sort(nodes.begin(), nodes.end(),
              [](const DiskNode& a, const DiskNode& b) { return a.R < b.R; });  // the nodes of a column are neighbours
    for (const auto& node : nodes) {
        if (node.R != R) here = disks.at(d, R = node.R);
        const double random = here.sigma_R * here.sigma_R + here.sigma_phi * here.sigma_phi + here.sigma_z * here.sigma_z;
        const double rotation = disks.rotation(d, node.R, node.z);
        const auto pull = disks.pull(node.R, node.z);
        sum += {node.mass * (random + rotation * rotation), node.mass * random, -node.mass * (node.R * pull.R + node.z * pull.z)};
    }
    return sum;
}

/// sqrt(r^3 / (G M(r))).
double dynamical_time(const Galaxy& galaxy, double r) {
    return r > 0 ? std::sqrt(r * r * r / (galaxy.model().G * galaxy.potential().mass(r))) : 0;
}

/// Radius of the sphere with half of the mass, without black holes.
double half_mass_radius(const Galaxy& galaxy) {
    const auto& potential = galaxy.potential();
    const double half = (potential.total_mass() - potential.point_mass()) / 2;
    if (!(half > 0)) return 0;
    double low = std::log(potential.inner()), high = std::log(potential.outer());
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (potential.mass(std::exp(middle)) - potential.point_mass() < half ? low : high) = middle;
    }
    return std::exp(low);
}

/// eta min(eps / v, sqrt(eps / a)), the criterion of the steps, for the rms speed of the fastest component and the largest acceleration at
/// radii that the softening resolves: particles move on average less than half a softening length per step. [Rodionov & Sotnikova 2005]
double step_for(const Galaxy& galaxy, const Survey& survey, double softening, double outer) {
    const double G = galaxy.model().G;
    double rate2 = 0;  // (1 / time)^2
    for (double r = softening; r < outer; r *= 1.25) {
        rate2 = std::max(rate2, G * survey.circular_speed2(r) / r / softening);
        for (std::size_t k = 0; k < galaxy.model().components.size(); ++k) {
            double v2 = 0;
            if (const auto* sphere = galaxy.sphere(k); sphere && sphere->density(r).rho > 0) v2 = mean_speed2(galaxy, k, r);
            if (const int d = survey.disk_of(k); d >= 0)
                if (const auto here = galaxy.disks()->at(static_cast<std::size_t>(d), r); here.surface_density > 0) v2 = mean_speed2(here);
            rate2 = std::max(rate2, G * v2 / (softening * softening));
        }
    }
    return rate2 > 0 ? eta / std::sqrt(rate2) : 0;
}

ComponentFacts facts_of(const Galaxy& galaxy, const Survey& survey, std::size_t k, const Virial& virial) {
    const auto& component = galaxy.model().components[k];
    ComponentFacts f;
    f.label = component.label();
    f.law = name(component.law);
    f.count = galaxy.counts()[k];
    f.mass = component.mass;
    f.particle_mass = f.mass / static_cast<double>(f.count);
    if (is_black_hole(component.law)) return f;
    f.half_mass_radius = survey.radius_holding(k, 0.5);
    f.dispersion = std::sqrt(galaxy.model().G * virial.random2 / (3 * f.mass));
    f.dynamical_time = dynamical_time(galaxy, f.half_mass_radius);
    if (const auto* distribution = galaxy.distribution(k))
        f.clamped_fraction = distribution->clamped().fraction, f.clamped_radius = distribution->clamped().radius;
    if (const int d = survey.disk_of(k); d >= 0) {
        const auto least = galaxy.disks()->least_q(static_cast<std::size_t>(d));
        f.least_q = least.toomre_q, f.least_q_radius = least.radius;
        const auto misses = galaxy.disks()->misses(static_cast<std::size_t>(d));
        f.density_miss = misses.surface_density, f.dispersion_miss = misses.sigma_R2 / 2;
    }
    const auto n = static_cast<double>(f.count);
    const double share = std::clamp(resolved_particles / n, resolved_share, 0.5);
    f.suggested_softening = suggested_softening(survey.radius_holding(k, share), share * n);
    return f;
}

}  // namespace

double suggested_softening(double radius, double particles) {
    const double volume = 4 * pi / 3 * radius * radius * radius;
    return std::cbrt(volume / particles) / 1.5;
}

GalaxyFacts facts(const Galaxy& galaxy, Cpu on) {
    const Survey survey(galaxy, on);
    const double G = galaxy.model().G;
    GalaxyFacts f;
    for (auto& caution : cautions(galaxy)) f.warnings.push_back(std::move(caution.message));
    Virial all;
    double smallest = std::numeric_limits<double>::infinity();
    f.suggested_softening = smallest;
    for (std::size_t k = 0; k < galaxy.model().components.size(); ++k) {
        Virial own;
        if (galaxy.sphere(k)) own = virial_of_sphere(galaxy, k, on);
        if (survey.disk_of(k) >= 0) own = virial_of_disk(galaxy, survey, survey.disk_of(k));
        all += own;
        const auto component = facts_of(galaxy, survey, k, own);
        f.mass += component.mass;
        f.count += component.count;
        if (component.half_mass_radius > 0) smallest = std::min(smallest, component.half_mass_radius);
        if (component.suggested_softening > 0) f.suggested_softening = std::min(f.suggested_softening, component.suggested_softening);
        f.components.push_back(component);
    }
    if (!std::isfinite(smallest)) {  // the only component is a black hole
        f.suggested_softening = 0;
        return f;
    }
    const auto& potential = galaxy.potential();
    f.half_mass_radius = half_mass_radius(galaxy);
    f.escape_radius = potential.point_mass() > 0 ? smallest / 100 : 0;
    f.escape_speed = std::sqrt(2 * G * (f.escape_radius > 0 ? potential.psi(f.escape_radius) : potential.central()));
    f.virial_ratio = all.kinetic2 / all.forces;
    f.dynamical_time = dynamical_time(galaxy, f.half_mass_radius);
    f.crossing_time = 2 * f.half_mass_radius / std::sqrt(G * all.kinetic2 / (f.mass - potential.point_mass()));
    f.suggested_step = step_for(galaxy, survey, f.suggested_softening, f.half_mass_radius);
    // The longest step is at most 64 times the shortest, and an orbit has several of the longest steps.
    if (f.suggested_step > 0)
        f.suggested_dt_max =
            std::exp2(std::floor(std::log2(std::max(f.suggested_step, std::min(64 * f.suggested_step, f.dynamical_time / 8)))));
    return f;
}

}  // namespace kasane::gravity
