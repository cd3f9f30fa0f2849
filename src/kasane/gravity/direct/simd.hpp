// The interface between direct summation on the CPU (direct_force.cpu.cpp) and its kernel in explicit SIMD (direct.simd.cpp).
// Invariant: the sum that the kernel adds to a target for one grain of sources depends on the two and the instruction set alone, not on
// other targets, earlier grains or threads; grains are added to binned sums, so that results do not depend on their order.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/softening/pair.body.hpp>

namespace kasane::gravity::detail {

/// Components of a target's sums: x, y, z of its acceleration and its potential.
inline constexpr int sum_components = 4;

/// Sources are stored in groups x[], y[], z[], m[] (and softening terms) of this many: the width of the widest vector.
template <class Real>
inline constexpr index_t source_group = static_cast<index_t>(64 / sizeof(Real));

/// Constants of each part in SimdSums::bins: one per component, twice, for the widest vector.
inline constexpr index_t bins_width = 2 * sum_components;

/// Targets are padded to a multiple of this, a multiple of every number of targets that a kernel keeps in registers.
inline constexpr index_t target_padding = 4;

/// The binned sums of the targets, stored for four targets at a time.
struct SimdSums {
    double* at = nullptr;  ///< [padded targets / 4][parts][4][components], aligned as a Buffer is
    int parts = 0;
    const double* bins = nullptr;  ///< [parts][bins_width] constants Bins::shift

    /// Distance between the parts of a target, in numbers.
    static constexpr index_t stride = target_padding * sum_components;
    /// The components of a target's first part.
    double* of(index_t target) const { return at + target / target_padding * parts * stride + target % target_padding * sum_components; }
};

/// One call of the kernel: a source block and the targets. Lengths and masses are of order 1 (the caller scales them).
template <class Real>
struct SimdJob {
    const Real* bodies = nullptr;                         ///< groups of sources, padded with massless ones to whole groups
    index_t sources = 0, grain = 0;                       ///< sources in all and of a grain, which is a whole number of groups
    const Real *x = nullptr, *y = nullptr, *z = nullptr;  ///< targets, padded
    index_t targets = 0;                                  ///< number of targets without the padding
    bool potential = false;                               ///< the potential is computed beside the acceleration
    bool leaves_out_own = false;                          ///< target i is source i + shift, which its potential leaves out
    index_t shift = 0;
    PairSoftening form = PairSoftening::none;  ///< `common`: eps2 >= softened_from, the loop needs no guard against r = 0
    Real eps2 = 0;                             ///< of one softening
    const Real* term = nullptr;                ///< softening terms of the targets, padded; where pairs combine softenings
    SimdSums sums;                             ///< the kernel adds to these
};

/// From this eps^2 on the loop without a guard is safe: r^-3 stays finite, and r^2 is a normal float.
template <class Real>
inline constexpr double softened_from = sizeof(Real) == 4 ? 1e-24 : 1e-30;

/// Constant factors that the caller applies: the field (without G) is these times the sums.
struct SimdFactors {
    double acceleration, potential;
};
template <class Real>
constexpr SimdFactors simd_factors(PairSoftening form, bool potential) {
    if (sizeof(Real) == 8 || own_softening(form)) return {1, 1};
    return potential ? SimdFactors{1. / 8, 1. / 2} : SimdFactors{3. / 2, 1};
}

/// Runs the kernel; the targets are distributed over the threads.
template <class Real>
void add_simd(const SimdJob<Real>& job, int threads);

}  // namespace kasane::gravity::detail
