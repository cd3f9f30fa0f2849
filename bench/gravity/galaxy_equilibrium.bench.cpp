// gravity.galaxy.equilibrium.*: evolves sampled galaxies with the tree code and measures how much they change.
#include <kasane/core/base/timer.hpp>
#include <kasane/gravity/diagnose/diagnose.hpp>
#include <kasane/gravity/galaxy/facts.hpp>
#include <kasane/gravity/simulation.hpp>

#include <bench/gravity/galaxy_models.hpp>
#include <bench/gravity/galaxy_studies.hpp>
#include <bench/gravity/tree_studies.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kasane::bench {

using namespace gravity;

namespace {

constexpr double gyr = 1.0227121650537077;  // [kpc s/km]
constexpr double crossing_times = 20;       // span of a sphere with G = M = scale = 1
// Times of the measurements, in hundredths of the span: frequent at first, where a galaxy out of equilibrium oscillates.
constexpr std::array looks{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
constexpr int early = 10;
constexpr int longest_steps = 2;  // per hundredth of the span
constexpr double delta = 1. / 512, eta = 0.5;
// Softening over the suggested one, for fewer steps. With 2 and 2^16 particles a Plummer sphere is 1.3% out of virial equilibrium.
constexpr double softer = 1.5;
constexpr double thinner = 10;  // smallest ratio of a disk's height to the softening

/// Particles of one component, selected by their ids.
Particles part_of(const Particles& all, std::uint64_t first, std::uint64_t count) {
    Particles part;
    for (std::size_t i = 0; i < all.id.size(); ++i) {
        if (all.id[i] < first || all.id[i] >= first + count) continue;
        part.position.push_back(all.position[i]);
        part.velocity.push_back(all.velocity[i]);
        part.mass.push_back(all.mass[i]);
        part.id.push_back(all.id[i]);
        part.type.push_back(all.type[i]);
    }
    return part;
}

/// Median distance from the plane through `center` perpendicular to the disk's angular momentum: 0.55 z_d for a sech^2 layer.
double median_height(const Particles& disk, const Vec3<double>& center) {
    Vec3<double> spin{};
    for (std::size_t i = 0; i < disk.mass.size(); ++i) spin += cross(disk.position[i] - center, disk.velocity[i]);
    spin = (1 / std::sqrt(dot(spin, spin))) * spin;
    std::vector<double> height;
    height.reserve(disk.mass.size());
    for (const auto& x : disk.position) height.push_back(std::abs(dot(x - center, spin)));
    const auto middle = height.begin() + static_cast<std::ptrdiff_t>(height.size() / 2);
    std::nth_element(height.begin(), middle, height.end());
    return *middle;
}

/// Measured quantities of one component.
struct Shape {
    std::array<double, std::size(lagrangian_fractions)> radius{};
    double noise = 0;   // standard deviation of the difference of r10 between two samples
    double height = 0;  // disks
};

Shape shape_of(const Particles& part, bool disk) {
    // The mean of all particles moves with the far ones; the mean of the inner half is at the minimum of the potential.
    auto center = center_of_mass(part);
    const auto n = part.mass.size();
    std::vector<double> distance(n);
    const auto measure = [&] {
        for (std::size_t i = 0; i < n; ++i) distance[i] = std::sqrt(dot(part.position[i] - center, part.position[i] - center));
    };
    const auto radius_of = [&](double fraction) {  // masses are equal
        const auto at = distance.begin() + static_cast<std::ptrdiff_t>(fraction * static_cast<double>(n - 1));
        std::nth_element(distance.begin(), at, distance.end());
        return *at;
    };
    for (int k = 0; k < 3; ++k) {
        measure();
        const double half = radius_of(0.5);
        Vec3<double> sum{};
        double inside = 0;
        for (const auto& x : part.position)
            if (dot(x - center, x - center) <= half * half) sum += x, inside += 1;
        center = (1 / inside) * sum;
    }
    measure();
    Shape shape;
    for (std::size_t k = 0; k < shape.radius.size(); ++k) shape.radius[k] = radius_of(lagrangian_fractions[k]);
    // Noise of the difference of two r10: Poisson noise of the particles inside over d ln M / d ln r.
    const double slope = std::log(1.2 / 0.8) / std::log(radius_of(0.12) / radius_of(0.08)), tenth = 0.1 * static_cast<double>(n);
    shape.noise = std::sqrt(2 * 0.9 / tenth) / slope;
    if (disk) shape.height = median_height(part, center);
    return shape;
}

/// The largest deviations from the start.
struct Drift {
    std::array<double, std::size(lagrangian_fractions)> radius{};
    double height = 0;
    void add(const Shape& now, const Shape& start) {
        for (std::size_t k = 0; k < radius.size(); ++k) radius[k] = std::max(radius[k], std::abs(now.radius[k] / start.radius[k] - 1));
        if (start.height > 0) height = std::max(height, std::abs(now.height / start.height - 1));
    }
    double radii() const { return *std::max_element(radius.begin(), radius.end()); }
};

void evolve(const BenchmarkContext& context, const std::string& study, const NamedGalaxy& named) {
    const Galaxy galaxy(named.model);
    const auto known = facts(galaxy);
    const double span = named.galactic ? gyr : crossing_times * known.crossing_time;
    double softening = softer * known.suggested_softening;
    for (const auto& component : named.model.components)
        if (is_disk(component.law)) softening = std::min(softening, component.disk.height / thinner);
    const Tree tree{.mac = AccelerationMac{delta}, .softening = softening, .G = named.model.G, .deterministic = false};
    const double longest = span / (100 * longest_steps);
    Simulation sim(context.space, sample(galaxy), {.force = tree, .step = BlockSteps{{.dt_max = longest, .eta = eta}}});

    struct Watched {
        std::string label;
        std::uint64_t first, count;
        bool disk;
        Shape start{};
        Drift early{}, all{};
    };
    std::vector<Watched> parts;
    std::uint64_t first = 1;
    for (std::size_t k = 0; k < named.model.components.size(); ++k) {
        const auto& component = named.model.components[k];
        const auto count = static_cast<std::uint64_t>(galaxy.counts()[k]);
        if (!is_black_hole(component.law)) parts.push_back({component.label(), first, count, is_disk(component.law)});
        first += count;
    }
    if (parts.size() > 1) parts.push_back({"everything", 1, static_cast<std::uint64_t>(galaxy.count()), false});
    const std::string head = study + ", " + named.name + ", ";
    double virial = 0, early_virial = 0, seconds = 0, energy0 = 0, energy_error = 0;
    for (const int k : looks) {
        while (sim.steps() < k * longest_steps) {
            const Stopwatch watch;
            sim.step();
            seconds += watch.seconds();
        }
        const auto state = diagnose(sim.particles(), sim.potential(), sim.acceleration(), sim.time());
        if (k == 0) energy0 = state.energy;
        const double off = state.virial_ratio - 1;
        energy_error = std::max(energy_error, std::abs(state.energy / energy0 - 1));
        virial = std::max(virial, std::abs(off));
        if (k <= early) early_virial = std::max(early_virial, std::abs(off));
        for (auto& part : parts) {
            const auto now = shape_of(part_of(sim.particles(), part.first, part.count), part.disk);
            if (k == 0) part.start = now;
            part.all.add(now, part.start);
            if (k <= early) part.early.add(now, part.start);
            BenchmarkResult row;
            row.name = head + part.label + fmt::format(", at {}", k);
            row.n = sim.size();
            row.seconds = seconds;
            row.more = {{"time", sim.time()}, {"virial", off}};
            for (std::size_t i = 0; i < now.radius.size(); ++i)
                row.more.emplace_back(fmt::format("r{:.0f}", 100 * lagrangian_fractions[i]), now.radius[i] / part.start.radius[i]);
            if (part.disk) row.more.emplace_back("height", now.height / part.start.height);
            context.report(row);
        }
    }
    for (const auto& part : parts) {
        BenchmarkResult row;
        row.name = head + part.label;
        row.n = sim.size();
        row.seconds = seconds;
        row.rate = sim.step_counts().updates / seconds;
        row.unit = "updates/s";
        row.error = part.all.radii();
        row.more = {{"particles", static_cast<double>(part.count)},
                    {"span", span},
                    {"softening", softening},
                    {"dt_max", longest},
                    {"block_steps", static_cast<double>(sim.step_counts().block_steps)},
                    {"energy_error", energy_error},
                    {"virial_drift", virial},
                    {"early_virial_drift", early_virial},
                    {"early_drift", part.early.radii()},
                    {"r10_noise", part.start.noise}};
        for (std::size_t i = 0; i < part.all.radius.size(); ++i)
            row.more.emplace_back(fmt::format("r{:.0f}_drift", 100 * lagrangian_fractions[i]), part.all.radius[i]);
        if (part.disk) row.more.emplace_back("height_drift", part.all.height);
        context.report(row);
    }
}

std::string head(const std::string& which) {
    return fmt::format(
        "{} evolved with the tree code (delta 2^-9, quadrupoles, block steps of eta {}; `softening` is {} times the suggestion of "
        "`kasane sample`, a tenth of a disk's height at most). r10 to r90 are the radii "
        "that enclose 10% to 90% of a component around its centre, over those at the start; `height` is a disk's median distance "
        "from its plane. `*_drift` are the largest deviations over the span, `early_drift` of the radii in its first tenth; "
        "`r10_noise` is the standard deviation of the ratio of r10 in two samples of this size. The error is the largest "
        "drift of a radius.",
        which, eta, softer);
}

const std::string spheres = "gravity.galaxy.equilibrium.spheres", galaxies = "gravity.galaxy.equilibrium.galaxies";

}  // namespace

Benchmark galaxy_equilibrium_spheres() {
    return {
        spheres,
        head(fmt::format("Every spherical law alone, for {} crossing times, extended haloes of 1e12 Msun and a scale of 10 kpc for 1 Gyr,",
                         crossing_times)),
        [](const BenchmarkContext& context) {
            for (const auto n : sizes_or(context, {1 << 16}, {1 << 20}))
                for (const auto& sphere : single_spheres(n)) evolve(context, spheres, sphere);
        }};
}

Benchmark galaxy_equilibrium_galaxies() {
    return {
        galaxies,
        head(fmt::format("M31 and its disk in its halo alone for 1 Gyr, a bulge with a black hole for {} crossing times,", crossing_times)),
        [](const BenchmarkContext& context) {
            for (const auto n : sizes_or(context, {1 << 16}, {1 << 20})) {
                evolve(context, galaxies, {"m31", m31_model(n), true});
                evolve(context, galaxies, {"disk in halo", disk_in_halo(n), true});
                evolve(context, galaxies, {"black-hole bulge", black_hole_bulge(n), false});
            }
        }};
}

}  // namespace kasane::bench
