#include <kasane/core/base/error.hpp>
#include <kasane/core/math/least_squares.hpp>
#include <kasane/gravity/performance/direct_model.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace kasane::gravity {
namespace {

index_t waves(index_t filling, index_t targets) { return (targets + filling - 1) / filling; }

/// Cycles of one source for all resident blocks of a multiprocessor.
double blocks_per_lane(const DirectDevice& device) { return static_cast<double>(device.resident_blocks) / device.lanes; }

/// Cycles of a source and of a wave without its sources.
std::pair<double, double> cycles_of(const DirectDevice& device) {
    const double calculation = device.threads * device.cycles_per_interaction;
    const double loop = device.resident_blocks > 1 ? std::max(device.latency_cycles, calculation) : device.latency_cycles + calculation;
    return {blocks_per_lane(device) * loop, device.launch_cycles + 2 * device.latency_cycles};
}

}  // namespace

double direct_cycles(const DirectDevice& device, index_t targets, index_t sources) {
    const auto [source, wave] = cycles_of(device);
    return static_cast<double>(waves(device.filling_targets(), targets)) * (static_cast<double>(sources) * source + wave);
}

double direct_seconds(const DirectDevice& device, index_t targets, index_t sources) {
    return direct_cycles(device, targets, sources) / device.clock_hertz;
}

double DirectWaves::seconds(index_t targets, index_t sources) const {
    return static_cast<double>(waves(filling, targets)) * (static_cast<double>(sources) * per_source + per_wave);
}

DirectWaves waves_of(const DirectDevice& device) {
    const auto [source, wave] = cycles_of(device);
    return {device.filling_targets(), source / device.clock_hertz, wave / device.clock_hertz};
}

DirectWaves fit_direct_waves(const std::vector<index_t>& n, const std::vector<double>& seconds) {
    KS_VALIDATE(n.size() >= 3, "eq. 2 of [MTM13] has three constants: three times of one device are needed, measure more sizes");
    const auto most = *std::max_element(n.begin(), n.end());
    DirectWaves best;
    double least = INFINITY;
    for (index_t filling = 1; filling / 2 < most; filling *= 2) {
        std::vector<std::vector<double>> rows;
        for (const auto size : n) {
            const auto count = static_cast<double>(waves(filling, size));
            rows.push_back({count * static_cast<double>(size), count});
        }
        const auto fit = relative_least_squares(rows, seconds, Sign::non_negative);
        if (fit.scatter < least) least = fit.scatter, best = {filling, fit.value[0], fit.value[1], fit.largest};
    }
    return best;
}

double loop_cycles(const DirectDevice& device, index_t targets, index_t sources, double seconds) {
    return seconds * device.clock_hertz /
           (static_cast<double>(waves(device.filling_targets(), targets)) * static_cast<double>(sources) * blocks_per_lane(device));
}

StreamWork stream_work(int devices) {
    KS_VALIDATE(devices > 0 && std::has_single_bit(static_cast<unsigned>(devices)), "eqs. 4 to 7 of [MTM13] are for powers of two");
    StreamWork work{1, 0};
    for (int stage = 0; 1 << stage < devices; ++stage) (stage % 2 == 0 ? work.stream0 : work.stream1) += 1 << stage;
    return work;
}

int stream_waits(int devices) { return (std::bit_width(static_cast<unsigned>(devices)) - 1) / 2; }

double unfilled_seconds(int devices, double t_calc, double t_sync) {
    const auto work = stream_work(devices);
    return t_calc * std::max(work.stream0, work.stream1) + t_sync * stream_waits(devices);
}

double unfilled_efficiency(int devices, double t_calc, double t_sync) {
    return devices * t_calc / unfilled_seconds(devices, t_calc, t_sync);
}

double cluster_seconds(const DirectWaves& waves, index_t n, int devices, double t_sync) {
    const index_t own = (n + devices - 1) / devices;
    if (own < waves.filling) return unfilled_seconds(devices, waves.seconds(own, own), t_sync);
    double seconds = waves.seconds(own, own) + t_sync;
    for (int joined = 1; joined < devices; joined *= 2) seconds += waves.seconds(own, own * joined);
    return seconds;
}

double cluster_seconds(const DirectDevice& device, index_t n, int devices, double t_sync) {
    return cluster_seconds(waves_of(device), n, devices, t_sync);
}

DirectDevice mtm13::tesla_m2090() {
    DirectDevice device{16, 2, 32, 256, 0, 600, 0, 1.3e9};
    device.cycles_per_interaction = loop_cycles(device, timed_particles, timed_particles, timed_seconds) / device.threads;
    device.launch_cycles = table2.front().t_kernel * device.clock_hertz;
    return device;
}

}  // namespace kasane::gravity
