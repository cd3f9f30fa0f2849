// gravity.galaxy.equilibrium: sampled galaxies evolved with the tree code; do they stay as they are?
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

constexpr double gyr = 1.0227121650537077;      // [kpc s/km]
constexpr double crossing_times = 20;           // of a sphere in its own units
constexpr double first_part = 0.1;              // of the span: where a galaxy out of equilibrium rings
constexpr int outputs = 40;                     // of the span; every fourth is reported
constexpr double delta = 1. / 512, eta = 0.3;

/// Particles of one component, told by their ids.
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

/// Median distance from the plane through `center` that stands on the disk's angular momentum: 0.55 z_d of a sech^2 layer.
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

/// What is watched of one component.
struct Shape {
    std::array<double, std::size(lagrangian_fractions)> radius{};
    double height = 0;  // disks
};

Shape shape_of(const Particles& part, bool disk) {
    Shape shape;
    // The centre of the whole component wanders with its far particles; that of its inner half is where its potential well is.
    auto center = center_of_mass(part);
    for (int k = 0; k < 3; ++k) {
        const double half = lagrangian_radii(part, center, {0.5}).front();
        Vec3<double> sum{};
        double mass = 0;
        for (std::size_t i = 0; i < part.mass.size(); ++i) {
            const auto x = part.position[i] - center;
            if (dot(x, x) <= half * half) sum += part.mass[i] * part.position[i], mass += part.mass[i];
        }
        center = (1 / mass) * sum;
    }
    const auto radii = lagrangian_radii(part, center, {std::begin(lagrangian_fractions), std::end(lagrangian_fractions)});
    std::copy(radii.begin(), radii.end(), shape.radius.begin());
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

void evolve(const BenchmarkContext& context, const NamedGalaxy& named) {
    const Galaxy galaxy(named.model);
    const auto known = facts(galaxy);
    const double span = named.galactic ? gyr : crossing_times * known.crossing_time;
    const double softening = known.suggested_softening;
    const Tree tree{.mac = AccelerationMac{delta}, .softening = softening, .G = named.model.G, .deterministic = false};
    constexpr int steps_between = 8;  // longest steps between outputs
    const double longest = span / (outputs * steps_between);
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
    const std::string head = "gravity.galaxy.equilibrium, " + named.name + ", ";
    double virial = 0, early_virial = 0, seconds = 0, energy0 = 0, energy_error = 0;
    for (int k = 0; k <= outputs; ++k) {
        if (k > 0) {
            const Stopwatch watch;
            sim.step(steps_between);
            seconds += watch.seconds();
        }
        const auto state = diagnose(sim.particles(), sim.potential(), sim.acceleration(), sim.time());
        if (k == 0) energy0 = state.energy;
        const double off = state.virial_ratio - 1;
        energy_error = std::max(energy_error, std::abs(state.energy / energy0 - 1));
        virial = std::max(virial, std::abs(off));
        if (k <= first_part * outputs) early_virial = std::max(early_virial, std::abs(off));
        for (auto& part : parts) {
            const auto now = shape_of(part_of(sim.particles(), part.first, part.count), part.disk);
            if (k == 0) part.start = now;
            part.all.add(now, part.start);
            if (k <= first_part * outputs) part.early.add(now, part.start);
            if (k % 4 != 0) continue;
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
                    {"early_drift", part.early.radii()}};
        for (std::size_t i = 0; i < part.all.radius.size(); ++i)
            row.more.emplace_back(fmt::format("r{:.0f}_drift", 100 * lagrangian_fractions[i]), part.all.radius[i]);
        if (part.disk) row.more.emplace_back("height_drift", part.all.height);
        context.report(row);
    }
}

void run(const BenchmarkContext& context) {
    for (const auto n : sizes_or(context, {1 << 16}, {1 << 20})) {
        for (const auto& sphere : single_spheres(n)) evolve(context, sphere);
        evolve(context, {"black-hole bulge", black_hole_bulge(n), true});
        evolve(context, {"disk in halo", disk_in_halo(n), true});
        evolve(context, {"m31", m31_model(n), true});
    }
}

}  // namespace

Benchmark galaxy_equilibrium() {
    return {"gravity.galaxy.equilibrium",
            fmt::format("Sampled galaxies evolved with the tree code (delta 2^-9, quadrupoles, block steps of eta {}, the softening that "
                        "`kasane sample` suggests): spheres for {} crossing times, galaxies in galactic units for 1 Gyr. r10 to r90 are "
                        "the radii that hold 10% to 90% of a component, over those at the start; `height` a disk's median distance from its plane. "
                        "`*_drift` are the largest deviations of {} outputs, `early_drift` of the first tenth of the span. The error is the "
                        "largest drift of a radius.",
                        eta, crossing_times, outputs),
            run};
}

}  // namespace kasane::bench
