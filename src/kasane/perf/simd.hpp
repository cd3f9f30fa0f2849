// The vector instruction set of the CPU kernels. It is chosen once, when a kernel first runs: the best one that the processor has and that
// the build compiled.
#pragma once

#include <string>
#include <vector>

namespace kasane {

/// Highway's name: "AVX3" (AVX-512), "AVX2", "SSE4", "NEON", "SCALAR", ...
std::string simd_target();

/// All sets that this processor can run, the best first.
std::vector<std::string> simd_targets();

/// Selects the set that kernels use from now on (one of simd_targets()); empty: the best again. For tests and comparisons; not while
/// kernels run. @throws InputError for an unknown name
void select_simd_target(const std::string& name);

}  // namespace kasane
