// The model of the time of a step with direct summation on one device: counts of work, which follow from the schedule of the kernels
// (schedule.hpp), times the cost of each, which is fitted to measurements. It extends [MTM13] eq. 2 to today's devices;
// docs/performance-model.md derives it.
//
//     t = launches t_launch + particles t_particle + sum over kernels of { (t_step + t_load / K) max(L chain, issue) + t_add additions
//                                                                + t_take takes }
//
// A step of a kernel is the work of one lane at a time: one interaction, or one pair with both its sides; the K targets of a lane share the
// loads of a source. `chain` counts the steps of the longest warp, `issue` those of all warps that share its scheduler: L resident warps
// hide the latency of each other's steps (eq. 2: max(L, T C_calc)), and fewer leave the scheduler idle. On the CPU no latency is hidden:
// both are the steps of the busiest thread.
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/direct/direct_force.hpp>

#include <vector>

namespace kasane::gravity {

/// Properties of a device that the counts depend on.
struct ForceDevice {
    bool cuda = false;
    int units = 1;  ///< multiprocessors; threads of a CPU
};

/// Counts of one kernel.
struct KernelWork {
    double targets = 1;    ///< K: targets of a lane, which share the loads of a source
    double chain = 0;      ///< steps of the longest warp or thread, in all waves
    double issue = 0;      ///< steps of the fullest scheduler or busiest thread
    double whole = 0;      ///< mean steps of a scheduler or thread: `issue` if none were idle
    double additions = 0;  ///< sums that the lanes add to binned sums, over all warps that share a scheduler
    double takes = 0;      ///< 1: guided scheduling; no other warp hides the wait for the last chunks
};

struct ForceWork {
    double launches = 0;   ///< number of kernels; CPU: of parallel regions
    double particles = 0;  ///< particles that are advanced, packed and finished
    std::vector<KernelWork> kernels;
};

/// Counts of the one-sided form: every source of a source block acts on every target. @param total  particles of all workers
KernelWork one_sided_work(const ForceDevice& device, Precision precision, index_t targets, index_t sources, index_t total);
/// Counts of the form with both sides (CUDA): the tile pairs of own particles [begin, end) with [other_begin, other_end) that the own
/// worker evaluates, or a share of the own pairs.
KernelWork both_sides_work(const ForceDevice& device, Precision precision, index_t total, index_t begin, index_t end, index_t other_begin,
                           index_t other_end, Share share = Share::all);

/// True if the accelerations of all particles are computed in the form with both sides.
bool takes_both_sides(const ForceDevice& device, const Direct& options, index_t total, int workers);

/// Counts of one step of constant length on a single device.
inline constexpr double launches_of_step = 6;
ForceWork step_work(const ForceDevice& device, const Direct& options, index_t n, bool both_sides);

/// Cost of each count [s], and deviations of the fit.
struct ForceTime {
    double launch = 0, particle = 0, step = 0, load = 0, addition = 0, take = 0;
    double hiding = 1;                ///< L: warps of a scheduler that hide the latency of each other's steps
    double scatter = 0, largest = 0;  ///< standard and largest relative deviation of the measurements from the fit
    double fewest = 0, most = 0;      ///< smallest and largest number of particles of the measurements

    double seconds(const KernelWork& kernel) const;
    double seconds(const ForceWork& work) const;
    /// Part of the device that a kernel keeps busy while it runs.
    double part(const KernelWork& kernel) const;
};

/// Fits the costs by least squares of the relative deviations, with no parameter below zero. @param seconds  of each measurement
/// @throws InputError: fewer than six measurements
ForceTime fit_force_time(const std::vector<ForceWork>& work, const std::vector<double>& seconds);

}  // namespace kasane::gravity
