// The reference of a force audit: the acceleration of a few targets by a worker's own particles, pair by pair in double.
// Invariant: summed over runs of sources that are fixed in the order of all particles, and the runs are added to binned sums, so that the
// sum over all workers has the same bits for any number of workers and threads.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/math/binned_sum.hpp>
#include <kasane/gravity/direct/direct.hpp>

namespace kasane::gravity {

struct AuditSum {
    BinnedSum<3> x, y, z;
};

/// Sums the accelerations without G. A source at the position of a target adds zero, at any softening.
/// @param options  form of the pairs, and eps where a view of softenings is empty   @param softening [target.n]  of each target, or empty
/// @param run  sources of a run; the number of own[0] among all particles is a multiple of it
/// @param out [target.n shares]  overwritten; the sum of target t is that of out[t + s target.n] over all s
template <Space S>
void audit_sums(S on, View<const Vec3<double>> target, View<const double> softening, const Sources& own, const Direct& options,
                const Bins<3>& bins, index_t run, View<AuditSum> out);

}  // namespace kasane::gravity
