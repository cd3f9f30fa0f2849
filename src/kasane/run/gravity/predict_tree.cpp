#include <kasane/core/base/error.hpp>
#include <kasane/gravity/distributed/memory.hpp>
#include <kasane/run/gravity/predict_parts.hpp>
#include <kasane/run/gravity/predict_tree.hpp>
#include <kasane/run/model/sampling.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {
namespace {

using gravity::Particles;

// Particles of the larger pilot; the smaller one has a quarter of them.
constexpr index_t pilot_cpu = 65'536, pilot_cuda = 1'048'576, let_pilot = 32'768;
constexpr double pilot_seconds = 2;
// Assumed relative errors.
constexpr double least_error = 0.1;         ///< of the parts of a step; the distribution of steps changes with time
constexpr double per_factor_of_ten = 0.05;  ///< for numbers of particles beyond the pilot's
constexpr double let_error = 0.1;           ///< LETs are selected, packed and merged in 1 to 10% of a walk with 10,000 particles or more

/// n of the particles, at equal distances in their order, with the mass of all.
Particles every_kth(const Particles& all, index_t n) {
    Particles out;
    if (!all.softening.empty()) out.softening.resize(1);
    out.resize(n);
    const double share = static_cast<double>(all.size()) / static_cast<double>(n);
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const auto from = static_cast<std::size_t>(share * static_cast<double>(i));
        out.position[i] = all.position[from], out.velocity[i] = all.velocity[from];
        out.mass[i] = all.mass[from] * share;
        out.id[i] = all.id[from], out.type[i] = all.type[from];
        if (!all.softening.empty()) out.softening[i] = all.softening[from];
    }
    return out;
}

/// n particles of the run's initial state: models are sampled with fewer particles, of snapshots every k-th is taken.
Particles pilot_particles(const GravityFile& file, gravity::Force& force, index_t n) {
    auto initial = file.initial;
    const bool files = std::ranges::any_of(initial.sources, [](const Source& source) { return source.file() != nullptr; });
    if (!files) set_count(initial, n);
    const auto* cpu = std::get_if<Cpu>(&file.space);
    auto sampled = load(initial, file.units, cpu ? *cpu : Cpu{});
    if (!file.softening.one()) {
        sampled.particles.softening = softenings(sampled.particles, resolve(file.softening, sampled.outline));
        gravity::set_softening(force, sampled.particles.softening);
        if (!gravity::softening_per_particle(force)) sampled.particles.softening.clear();
    }
    return sampled.particles.size() > n ? every_kth(sampled.particles, n) : std::move(sampled.particles);
}

std::string tree_bound(const gravity::TreeStepTime& step) {
    const double all = step.total();
    if (step.messages > 0.2 * all) return fmt::format("messages: {:.0f}% of a step", 100 * step.messages / all);
    const auto most = std::ranges::max_element(step.seconds);
    const auto part = gravity::tree_part_names[static_cast<std::size_t>(most - step.seconds.begin())];
    return fmt::format("{}: {:.0f}% of a step", std::string(part) == "walk" ? "walks" : part, 100 * *most / all);
}

}  // namespace

Prediction predict_tree(const GravityFile& file, const Calibration& calibration, const PredictionRequest& request) {
    KS_VALIDATE(std::holds_alternative<gravity::Tree>(file.force), "is not a tree", {file.path.string(), 0, 0, "force.method"});
    check_request(request);
    const auto here = device_of(file.space);
    KS_VALIDATE(request.device.empty() || request.device == here,
                fmt::format("a tree run is predicted from small systems that are computed on this machine's '{}', not on '{}': run `kasane "
                            "predict` on the machine that is to compute",
                            here, request.device),
                {"", 0, 0, "--on"});
    const auto n = file.initial.count();
    const int workers = request.ranks * request.workers;
    const auto link = find_channel(calibration, here, request);

    auto force = file.force;
    const index_t most = std::min(n, std::holds_alternative<Cpu>(file.space) ? pilot_cpu : pilot_cuda);
    const auto particles = pilot_particles(file, force, most);
    const auto tree = std::get<gravity::Tree>(force);
    const auto large = gravity::measure_tree(file.space, particles, tree, file.steps, pilot_seconds);
    const auto fewer = std::max<index_t>(1, particles.size() / 4);
    const auto small = gravity::measure_tree(file.space, every_kth(particles, fewer), tree, file.steps, pilot_seconds / 4);
    gravity::LetSize lets;
    if (workers > 1) lets = gravity::measure_lets(every_kth(particles, std::min(particles.size(), let_pilot)), tree);

    Prediction out;
    out.method = "tree";
    out.device = here;
    out.particles = n;
    out.steps = file.schedule.last();
    out.ranks = request.ranks, out.workers = request.workers;
    const auto time = [&](double count, int of, const gravity::LinkTime& channel) {
        return gravity::tree_step_time(small, large, lets, count, of, channel);
    };
    const auto all = static_cast<double>(n);
    const auto step = time(all, workers, link.time);
    out.parts.emplace_back("block steps", step.block_steps);
    for (std::size_t k = 0; k < gravity::tree_parts; ++k) out.parts.emplace_back(gravity::tree_part_names[k], step.seconds[k]);
    out.parts.emplace_back("messages", step.messages);
    out.step.seconds = step.total();
    out.step.exposed = step.messages;
    out.step.messages = static_cast<int>(step.count);
    out.step.bytes = step.bytes;
    out.interactions_per_second = step.interactions / step.total();
    const auto alone = time(all, 1, {}), part = time(all / workers, 1, {});
    out.strong_efficiency = alone.total() / (workers * step.total());
    out.weak_efficiency = out.interactions_per_second / (workers * part.interactions / part.total());

    double off = least_error + (workers > 1 ? let_error : 0);
    out.doubts.push_back(fmt::format("{} and {} particles of the same model were computed here; the distribution of steps is theirs",
                                     small.particles, large.particles));
    if (n > large.particles) {
        off += per_factor_of_ten * std::log10(all / static_cast<double>(large.particles));
        out.doubts.push_back(
            fmt::format("a block step of {:.3g} times as many particles was not measured", all / static_cast<double>(large.particles)));
    }
    if (std::abs(small.block_steps / large.block_steps - 1) > 0.1) {
        off += 0.1;
        out.doubts.push_back(fmt::format("a longest step has {:.3g} block steps with {} particles and {:.3g} with {}", small.block_steps,
                                         small.particles, large.block_steps, large.particles));
    }
    if (!link.doubt.empty()) out.doubts.push_back(link.doubt);
    auto worse = link.time, better = link.time;
    worse.latency *= link.factor, worse.bytes_per_second /= link.factor;
    better.latency /= link.factor, better.bytes_per_second *= link.factor;
    double high = time(all, workers, worse).total();
    if (workers > 1) {
        const double one_by_one = step.count * worse.latency;
        high += one_by_one;
        if (one_by_one > 0.1 * step.total())
            out.doubts.push_back(
                fmt::format("messages to {} workers that follow each other would add {:.3g} s to a step", workers - 1, one_by_one));
    }
    out.seconds_per_step = {step.total(), time(all, workers, better).total() * (1 - off), high * (1 + off)};
    const auto steps = static_cast<double>(out.steps);
    out.run_seconds = {steps * out.seconds_per_step.expected, steps * out.seconds_per_step.low, steps * out.seconds_per_step.high};
    out.bound = tree_bound(step);
    const bool apart = request.ranks > 1 || std::holds_alternative<gravity::BlockSteps>(file.steps);
    for (int m = 0; m < request.workers; ++m) {  // of the root rank, which takes most
        const auto memory = workers > 1
                                ? gravity::worker_memory(file.space, n, file.force, file.exchange, workers, m, request.workers, apart)
                                : gravity::simulation_memory(file.space, n, file.force);
        out.host_bytes += memory.host_bytes, out.device_bytes += memory.device_bytes;
    }
    out.host_bytes = root_host_bytes(file, out.host_bytes, request.ranks, available_memory(Cpu{}));
    return out;
}

}  // namespace kasane::run
