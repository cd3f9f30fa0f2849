// What a CUDA device's issue rate allows direct summation. Empty in a build without CUDA.
#pragma once

#include <kasane/gravity/direct/direct.hpp>

#include <string>

#if defined(KASANE_CUDA)
namespace kasane::gravity {

struct CudaDirectBound {
    double rate = 0;  ///< interactions per second
    std::string reason;
};

/// Accelerations of n particles on themselves by the variant that `options` chooses. Every multiprocessor issues four warp
/// instructions per cycle; the special function takes a slot like any other, shuffles and loads are not counted.
/// @param equal_masses  all particles have one mass: the mass leaves the inner loop
CudaDirectBound direct_bound(Cuda on, const Direct& options, index_t n, bool equal_masses);

}  // namespace kasane::gravity
#endif
