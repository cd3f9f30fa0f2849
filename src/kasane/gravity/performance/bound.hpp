// What the hardware allows direct summation: the rate at which the arithmetic instructions of the inner loop can be executed,
// and nothing else (no loads, no latencies, no overheads).
#pragma once

#include <kasane/gravity/direct/direct.hpp>

#include <string>

namespace kasane::gravity {

struct DirectBound {
    double rate = 0;     ///< interactions per second
    std::string reason;  ///< what was counted
};

/// Measured in 60 ms: this CPU on the instruction mix of the variant `simd`, every instruction independent of the others.
/// @param potential  is computed beside the acceleration
DirectBound direct_bound(Cpu on, const Direct& options, bool potential = false);

#if defined(KASANE_CUDA)
/// Counted: accelerations of n particles on themselves by the variant that `options` chooses. Every multiprocessor issues four
/// warp instructions per cycle; the special function takes a slot like any other, shuffles and loads are left out.
/// @param equal_masses  all particles have one mass: the mass leaves the inner loop
DirectBound direct_bound(Cuda on, const Direct& options, index_t n, bool equal_masses);
#endif

/// Accelerations of n particles on themselves.
DirectBound direct_bound(const AnySpace& on, const Direct& options, index_t n, bool equal_masses);

}  // namespace kasane::gravity
