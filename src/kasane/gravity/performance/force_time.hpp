// How long a step with direct summation takes on one device: counts of work, which follow from the schedule of the kernels
// (schedule.hpp), times what each costs, which is fitted to measurements. [MTM13] eq. 2 grown to today's devices;
// docs/performance-model.md derives it.
//
//     t = launches t_launch + particles t_particle + sum over kernels of { (t_step + t_load / K) max(L chain, issue) + t_add additions
//                                                                + t_take takes }
//
// A step is what one lane of a warp does at a time: one interaction, or one pair with both its sides; K targets of a lane share the loads
// of a source. `chain` are the steps of the longest warp, `issue` those of all warps that share its scheduler: L resident warps hide the
// latency of each other's steps (eq. 2: max(L, T C_calc)), and fewer leave the scheduler idle. On the CPU there is no latency to hide:
// both are the steps of the busiest thread.
#pragma once

#include <kasane/gravity/direct/direct.hpp>
#include <kasane/gravity/direct/direct_force.hpp>

#include <vector>

namespace kasane::gravity {

/// What the counts depend on.
struct ForceDevice {
    bool cuda = false;
    int units = 1;  ///< multiprocessors; threads of a CPU
};

/// One kernel, in counts.
struct KernelWork {
    double targets = 1;    ///< K, of a lane: they share the loads of a source
    double chain = 0;      ///< steps of the longest warp or thread, waves one after the other
    double issue = 0;      ///< steps of the fullest scheduler or busiest thread
    double whole = 0;      ///< steps of all over all schedulers or threads: `issue` if nothing were idle
    double additions = 0;  ///< sums that a lane adds to binned sums, over all warps that share its scheduler
    double takes = 0;      ///< 1: warps take chunks of the work, and the last of them begin where no other warp hides the wait
};

struct ForceWork {
    double launches = 0;   ///< kernels; CPU: parallel regions
    double particles = 0;  ///< advanced, packed, finished
    std::vector<KernelWork> kernels;
};

/// Every source of a source block acts on every target. @param total  particles of all workers
KernelWork one_sided_work(const ForceDevice& device, Precision precision, index_t targets, index_t sources, index_t total);
/// Each pair of blocks of own particles [begin, end) with those of [other_begin, other_end) that the own worker meets (CUDA), or a share
/// of the own pairs.
KernelWork both_sides_work(const ForceDevice& device, Precision precision, index_t total, index_t begin, index_t end, index_t other_begin,
                           index_t other_end, Share share = Share::all);

/// Is the form of both sides taken for the accelerations of all particles?
bool takes_both_sides(const ForceDevice& device, const Direct& options, index_t total);

/// One step of constant length by a device alone.
inline constexpr double launches_of_step = 6;
ForceWork step_work(const ForceDevice& device, const Direct& options, index_t n, bool both_sides);

/// What the counts cost [s], and how well they explain what was measured.
struct ForceTime {
    double launch = 0, particle = 0, step = 0, load = 0, addition = 0, take = 0;
    double hiding = 1;                ///< L: warps of a scheduler that hide the latency of each other's steps
    double scatter = 0, largest = 0;  ///< relative: standard deviation of the measurements from the fit, and the largest
    double fewest = 0, most = 0;      ///< particles of the measurements

    double seconds(const KernelWork& kernel) const;
    double seconds(const ForceWork& work) const;
    /// Part of the device that a kernel keeps busy while it runs.
    double part(const KernelWork& kernel) const;
};

/// By least squares of the relative deviations, with no parameter below zero. @param particles  of each measurement
/// @throws InputError: fewer than six measurements
ForceTime fit_force_time(const std::vector<ForceWork>& work, const std::vector<double>& seconds);

}  // namespace kasane::gravity
