#include <kasane/core/base/error.hpp>
#include <kasane/gravity/performance/force_time.hpp>
#include <kasane/gravity/direct/groups.hpp>
#include <kasane/gravity/direct/schedule.hpp>
#include <kasane/gravity/direct/simd.hpp>
#include <kasane/core/math/least_squares.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {
namespace {

constexpr double schedulers = 4;  ///< schedulers of a multiprocessor, each with its own warps
constexpr double warp = 32;       ///< lanes of a warp
/// CPU: time to add a target's sums over a grain to its binned sums, in interactions (AVX-512, single precision, 2026-11).
constexpr double grain_steps = 40;

double whole_number(double over, double under) { return std::ceil(over / under); }

/// Targets of the CPU's busiest thread, in whole groups of targets in registers.
double targets_of_thread(const ForceDevice& device, index_t targets) {
    const double padded = whole_number(static_cast<double>(targets), detail::target_padding) * detail::target_padding;
    return std::max(padded / device.units, std::min(padded, static_cast<double>(detail::target_padding)));
}

/// Work of thread blocks of `threads` threads with K targets each. @param runs  runs of sources that a thread sums
KernelWork work_of_blocks(const ForceDevice& device, double blocks, int resident, int threads, int targets_per_thread, int runs) {
    const double warps = threads / warp / schedulers;           // warps of a thread block on each scheduler
    const double fullest = whole_number(blocks, device.units);  // thread blocks of the fullest multiprocessor, in all waves
    const double per_block = static_cast<double>(runs) * source_run * targets_per_thread;
    KernelWork work;
    work.chain = per_block * whole_number(fullest, resident);
    work.issue = per_block * warps * fullest;
    work.whole = per_block * warps * blocks / device.units;
    work.targets = targets_per_thread;
    work.additions = targets_per_thread * warps * fullest;
    return work;
}

KernelWork group_work(const ForceDevice& device, const GroupSchedule& schedule) {
    const auto& shape = schedule.shape;
    auto work = work_of_blocks(device, static_cast<double>(schedule.target_blocks) * schedule.shares, shape.blocks_per_multiprocessor,
                               shape.threads, shape.targets_per_thread, 1);
    work.additions /= groups_of_block;
    return work;
}

}  // namespace

KernelWork one_sided_work(const ForceDevice& device, Precision precision, index_t targets, index_t sources, index_t total) {
    if (targets == 0 || sources == 0) return {};
    KernelWork work;
    if (!device.cuda) {
        const auto grain = static_cast<double>(DirectForce<Cpu>(Cpu{}, {.precision = precision}, total).grain());
        const double own = targets_of_thread(device, targets);
        const double steps = static_cast<double>(sources) + grain_steps * whole_number(static_cast<double>(sources), grain);
        work.chain = work.issue = own * steps;
        work.whole = static_cast<double>(targets) * steps / device.units;
        return work;
    }
    const auto schedule = tile_schedule(targets, sources, precision, false, device.units);
    const auto& shape = schedule.shape;
    return work_of_blocks(device, static_cast<double>(schedule.target_blocks) * schedule.shares, shape.blocks_per_multiprocessor,
                          shape.threads, shape.targets_per_thread, schedule.runs);
}

KernelWork both_sides_work(const ForceDevice& device, Precision precision, index_t total, index_t begin, index_t end, index_t other_begin,
                           index_t other_end, Share share) {
    const auto shape = pair_shape(precision, total);
    const auto pairs = count_tile_pairs(shape, total, begin, end, other_begin, other_end);
    const double before = 1.0 / parts_of_own_pairs, part = share == Share::all ? 1 : share == Share::before ? before : 1 - before;
    const double units = part * static_cast<double>(pairs.units), strips = part * static_cast<double>(pairs.strips);
    if (units == 0) return {};
    const double warps = std::min(std::ceil(units), static_cast<double>(shape.warps(device.units)));
    const double scheduled = std::min(warps, device.units * schedulers);  // schedulers with at least one warp
    const double per_strip = warp * shape.targets_per_lane;
    // The work of a warp and of a scheduler is rounded up to whole work units of the smallest size, which come last.
    const double last = pairs.last, longest = last * whole_number(strips, last * warps);
    KernelWork work;
    work.targets = shape.targets_per_lane;
    work.chain = longest * per_strip;
    work.issue = std::max(longest, last * whole_number(strips, last * scheduled)) * per_strip;
    work.whole = strips * per_strip / (device.units * schedulers);
    work.additions = (strips + units * shape.targets_per_lane) / scheduled;  // sums of reactions and of targets
    const bool own = begin == other_begin && end == other_end;
    work.takes = own && share != Share::before && units > warps ? 1 : 0;
    return work;
}

bool takes_both_sides(const ForceDevice& device, const Direct& options, index_t total, int workers) {
    if (!device.cuda || options.variant == DirectVariant::tile || options.variant == DirectVariant::plain) return false;
    return options.variant == DirectVariant::pair || both_sides_pay(options, total, device.units, workers);
}

ForceWork step_work(const ForceDevice& device, const Direct& options, index_t n, bool both_sides) {
    const bool whole = device.cuda && !both_sides && whole_in_one_launch(n, n, options.precision, device.units);
    ForceWork work{whole ? launches_of_step - 2 : launches_of_step, static_cast<double>(n), {}};
    if (whole && options.precision == Precision::single_)
        if (const auto schedule = group_schedule(n, n, device.units)) {
            work.kernels.push_back(group_work(device, schedule));
            return work;
        }
    work.kernels.push_back(both_sides ? both_sides_work(device, options.precision, n, 0, n, 0, n)
                                      : one_sided_work(device, options.precision, n, n, n));
    return work;
}

double ForceTime::seconds(const KernelWork& kernel) const {
    return (step + load / kernel.targets) * std::max(hiding * kernel.chain, kernel.issue) + addition * kernel.additions +
           take * kernel.takes;
}

double ForceTime::seconds(const ForceWork& work) const {
    double sum = launch * work.launches + particle * work.particles;
    for (const auto& kernel : work.kernels) sum += seconds(kernel);
    return sum;
}

double ForceTime::part(const KernelWork& kernel) const {
    const double all = seconds(kernel);
    return all > 0 && kernel.issue > 0
               ? std::min(1.0,
                          ((step + load / kernel.targets) * kernel.whole + addition * kernel.additions * kernel.whole / kernel.issue) / all)
               : 1;
}

ForceTime fit_force_time(const std::vector<ForceWork>& work, const std::vector<double>& seconds) {
    KS_VALIDATE(work.size() == seconds.size() && work.size() >= 6, "the model of a force needs measurements at six sizes or more");
    bool latency = false;  // the counts depend on the hiding of latency
    for (const auto& one : work)
        for (const auto& kernel : one.kernels) latency = latency || kernel.issue != kernel.chain;
    ForceTime best;
    // L is the only parameter in which the time is not linear: the best value of a fine grid is taken.
    const double first = latency ? 0.25 : 1, last = latency ? 64 : 1;
    for (double hiding = first; hiding <= last; hiding *= 1.02) {
        std::vector<std::vector<double>> rows;
        for (const auto& one : work) {
            double steps = 0, loads = 0, additions = 0, takes = 0;
            for (const auto& kernel : one.kernels) {
                const double here = std::max(hiding * kernel.chain, kernel.issue);
                steps += here;
                loads += here / kernel.targets;
                additions += kernel.additions;
                takes += kernel.takes;
            }
            rows.push_back({one.launches, one.particles, steps, loads, additions, takes});
        }
        const auto fit = relative_least_squares(rows, seconds, Sign::non_negative);
        if (hiding > first && fit.scatter >= best.scatter) continue;
        best = {fit.value[0], fit.value[1], fit.value[2], fit.value[3], fit.value[4], fit.value[5], hiding, fit.scatter, fit.largest, 0, 0};
    }
    best.fewest = best.most = work.front().particles;
    for (const auto& one : work) best.fewest = std::min(best.fewest, one.particles), best.most = std::max(best.most, one.particles);
    return best;
}

}  // namespace kasane::gravity
