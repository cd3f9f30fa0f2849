// The seam between direct summation on the CPU (direct_force.cpu.cpp) and its kernel in explicit SIMD (direct.simd.cpp).
// Invariant: what the kernel adds to a target for one grain of sources depends on these two and the instruction set alone, not on the
// targets beside it, the grains before it or the threads; grains are added as binned sums, so that their order does not show.
#pragma once

#include <kasane/core/base/types.hpp>

namespace kasane::gravity::detail {

/// What is summed for a target: x, y, z of its acceleration and its potential.
inline constexpr int sum_components = 4;

/// Sources lie in groups x[], y[], z[], m[] of this many: the widest vector there is.
template <class Real>
inline constexpr index_t source_group = static_cast<index_t>(64 / sizeof(Real));

/// Numbers of each part in SimdSums::bins: the components' constants, twice, as the widest vector takes them.
inline constexpr index_t bins_width = 2 * sum_components;

/// Targets are padded to a multiple of this, which covers every number of targets that a kernel keeps in registers.
inline constexpr index_t target_padding = 4;

/// The binned sums of the targets, four targets together.
struct SimdSums {
    double* at = nullptr;  ///< [padded targets / 4][parts][4][components], aligned as a Buffer is
    int parts = 0;
    const double* bins = nullptr;  ///< [parts][bins_width] constants to cut with (Bins::shift)

    /// Numbers from part to part.
    static constexpr index_t stride = target_padding * sum_components;
    /// The components of a target's first part.
    double* of(index_t target) const { return at + target / target_padding * parts * stride + target % target_padding * sum_components; }
};

/// A source block of sources and the targets that feel it. Lengths and masses are of order 1 (the caller scales them).
template <class Real>
struct SimdJob {
    const Real* bodies = nullptr;                         ///< groups of sources, padded by massless ones to whole groups
    index_t sources = 0, grain = 0;                       ///< a grain is a whole number of groups
    const Real *x = nullptr, *y = nullptr, *z = nullptr;  ///< targets, padded
    index_t targets = 0;                                  ///< without the padding
    bool potential = false;                               ///< wanted beside the acceleration
    bool leaves_out_own = false;                          ///< target i is source i + shift, and its potential leaves that out
    index_t shift = 0;
    Real eps2 = 0;
    bool softened = false;  ///< eps2 >= softened_from: no pair needs to be guarded
    SimdSums sums;          ///< added to
};

/// From this eps^2 on the loop without a guard is safe: r^-3 stays finite, and r^2 is a normal float.
template <class Real>
inline constexpr double softened_from = sizeof(Real) == 4 ? 1e-24 : 1e-30;

/// Factors that the kernel leaves to its caller: the field (without G) is these times the sums.
struct SimdFactors {
    double acceleration, potential;
};
template <class Real>
constexpr SimdFactors simd_factors(bool potential) {
    if (sizeof(Real) == 8) return {1, 1};
    return potential ? SimdFactors{1. / 8, 1. / 2} : SimdFactors{3. / 2, 1};
}

/// Shares the targets out among the threads.
template <class Real>
void add_simd(const SimdJob<Real>& job, int threads);

}  // namespace kasane::gravity::detail
