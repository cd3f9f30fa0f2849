// gravity.galaxy.sample: time to build and to sample a galaxy in equilibrium.
#include <kasane/core/base/timer.hpp>
#include <kasane/gravity/galaxy/facts.hpp>

#include <bench/gravity/galaxy_models.hpp>
#include <bench/gravity/galaxy_studies.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::bench {

using namespace gravity;

namespace {

constexpr index_t block = 1 << 16;

/// Builds and samples one galaxy in blocks, like `kasane sample` without the file. The error is the largest relative error of the
/// components' half-mass radii.
void measure_sampling(const BenchmarkContext& context, Cpu on, const NamedGalaxy& named) {
    const Stopwatch building;
    const Galaxy galaxy(named.model, on);
    const double build = building.seconds();
    const Stopwatch centring;
    const Sampler sampler(galaxy, on);
    const double centre = centring.seconds();
    const Stopwatch sampling;
    Particles particles;
    double fill = 0;
    std::vector<std::vector<double>> distance(galaxy.counts().size());
    for (index_t first = 0; first < sampler.size(); first += block) {
        const Stopwatch watch;
        sampler.fill(particles, first, std::min(block, sampler.size() - first));
        fill += watch.seconds();
        index_t end = 0;
        std::size_t component = 0;
        for (index_t i = 0; i < particles.size(); ++i) {
            while (first + i >= end) end += galaxy.counts()[component++];
            const auto& x = particles.position[static_cast<std::size_t>(i)];
            distance[component - 1].push_back(std::sqrt(dot(x, x)));
        }
    }
    const auto known = facts(galaxy);
    double worst = 0;
    for (std::size_t k = 0; k < distance.size(); ++k) {
        if (is_black_hole(named.model.components[k].law)) continue;
        const auto middle = distance[k].begin() + static_cast<std::ptrdiff_t>(distance[k].size() / 2);
        std::nth_element(distance[k].begin(), middle, distance[k].end());
        worst = std::max(worst, std::abs(*middle / known.components[k].half_mass_radius - 1));
    }
    BenchmarkResult row;
    row.name = "gravity.galaxy.sample, " + named.name;
    row.n = sampler.size();
    row.seconds = build + centre + fill;
    row.rate = static_cast<double>(row.n) / row.seconds;
    row.unit = "particles/s";
    row.error = worst;
    row.more = {{"build_seconds", build}, {"centre_seconds", centre}, {"fill_seconds", fill}};
    context.report(row);
}

void run_sampling(const BenchmarkContext& context) {
    const auto* on = std::get_if<Cpu>(&context.space);
    if (!on) return;  // sampling runs on the CPU
    for (const auto n : context.sizes.empty() ? std::vector<index_t>{1 << 21, 1 << 23} : context.sizes) {
        measure_sampling(context, *on, {"m31 without disk", m31_model(n, false), true});
        measure_sampling(context, *on, {"m31", m31_model(n), true});
        measure_sampling(context, *on, {"black-hole bulge", black_hole_bulge(n), true});
    }
}

}  // namespace

Benchmark galaxy_sample() {
    return {"gravity.galaxy.sample",
            "Galaxies in equilibrium, from their components to all particles, made in blocks like `kasane sample` but not written. "
            "`build_seconds`: potential, disks, distribution functions; `centre_seconds`: the first pass, for the centres of mass; "
            "`fill_seconds`: the second. The error is the largest relative one of a component's half-mass radius.",
            run_sampling};
}

}  // namespace kasane::bench
