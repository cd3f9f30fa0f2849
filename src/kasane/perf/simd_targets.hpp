// To be included before <hwy/highway.h>: the instruction sets that kernels are compiled for and among which the run time chooses.
// All files that use Highway share this choice, so that one name (simd_target()) is valid for all of them.
#pragma once

// AVX3_DL adds nothing for floating point; vectors of unknown length (SVE) cannot be members or array elements, and NEON is
// on every 64-bit Arm. No processor of the last fifteen years has SSSE3 without SSE4.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
