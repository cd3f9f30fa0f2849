// Upper bound of the rate of direct summation: the rate at which the hardware executes the arithmetic instructions of the inner loop,
// without loads, latencies and overheads.
#pragma once

#include <kasane/gravity/direct/direct.hpp>

#include <string>

namespace kasane::gravity {

struct DirectBound {
    double rate = 0;     ///< interactions per second
    std::string reason;  ///< the instructions that were counted, for people
};

/// Measures the rate of this CPU, in 60 ms, on the instruction mix of the variant `simd` with independent instructions.
/// @param potential  the potential is computed beside the acceleration
DirectBound direct_bound(Cpu on, const Direct& options, bool potential = false);

#if defined(KASANE_CUDA)
/// Counts the instructions of the accelerations of n particles on themselves by the variant that `options` chooses. Every multiprocessor
/// issues four warp instructions per cycle; the special function takes one slot; shuffles and loads are not counted.
/// @param equal_masses  all particles have one mass, which is factored out of the inner loop
DirectBound direct_bound(Cuda on, const Direct& options, index_t n, bool equal_masses);
#endif

/// The bound of the accelerations of n particles on themselves on any space.
DirectBound direct_bound(const AnySpace& on, const Direct& options, index_t n, bool equal_masses);

}  // namespace kasane::gravity
