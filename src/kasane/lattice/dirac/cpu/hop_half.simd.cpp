// The kernels of the Wilson-clover operator, half.
#include <kasane/lattice/dirac/cpu/half.hpp>
#include <kasane/lattice/dirac/cpu/hop.hpp>
#include <kasane/lattice/dirac/eight_reals.hpp>
#include <kasane/perf/simd_targets.hpp>

// Without AVX2 the baseline runs: SSE4 would cost a quarter of the compile time of these kernels.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/lattice/dirac/cpu/hop_half.simd.cpp"
#include <hwy/foreach_target.h>

#include <kasane/lattice/dirac/cpu/hop.simd.hpp>

HWY_BEFORE_NAMESPACE();
namespace kasane::lattice {
namespace HWY_NAMESPACE {

void hop_half(const HopJob& job, index_t first, index_t last) { hop_any<Precision::half>(job, first, last); }
void clover_half(const CloverJob& job, index_t first, index_t last) { clover_any<Precision::half>(job, first, last); }

}  // namespace HWY_NAMESPACE
}  // namespace kasane::lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane::lattice {

HWY_EXPORT(hop_half);
HWY_EXPORT(clover_half);

template <>
void hop_blocks<Precision::half>(const HopJob& job, index_t first, index_t last) {
    HWY_DYNAMIC_DISPATCH(hop_half)(job, first, last);
}
template <>
void clover_groups<Precision::half>(const CloverJob& job, index_t first, index_t last) {
    HWY_DYNAMIC_DISPATCH(clover_half)(job, first, last);
}

}  // namespace kasane::lattice
#endif
