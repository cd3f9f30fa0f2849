// What an audit holds accelerations against: the attraction of a worker's own particles on a few targets, pair by pair in double.
// Invariant: summed over runs of sources that are fixed in the order of all particles, and the runs binned, so that the parts of all
// workers, added up, are the same bits whatever the number of workers and threads.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/math/binned_sum.hpp>
#include <kasane/gravity/direct/direct.hpp>

namespace kasane::gravity {

struct AuditSum {
    BinnedSum<3> x, y, z;
};

/// Without G; a source at a target's place attracts it in no direction, at any softening.
/// @param run  sources that are added up before they are binned; own[0] is a multiple of it in the order of all
/// @param out [target.n shares]  overwritten; the sum of target t is that of out[t + s target.n] over all s
template <Space S>
void audit_sums(S on, View<const Vec3<double>> target, const Sources& own, double softening, const Bins<3>& bins, index_t run,
                View<AuditSum> out);

}  // namespace kasane::gravity
