// The part of a program that a profiler records. A profiler that was started with `ncu --profile-from-start off` sees the work between
// begin and end alone; without a profiler both do nothing.
#pragma once

#include <kasane/core/device/space.hpp>

#include <concepts>
#include <utility>

namespace kasane {

#if defined(KASANE_CUDA)
namespace cuda {
/// Waits for the device, so that earlier work stays outside of the recorded part.
void begin_profile(Cuda on);
/// Waits for the device, so that all work since begin_profile() is inside.
void end_profile(Cuda on);
}  // namespace cuda
#endif

/// Calls `call`; the work that it starts on a CUDA device is recorded by a profiler.
template <Space S, class Call>
void profiled([[maybe_unused]] S on, Call&& call) {
#if defined(KASANE_CUDA)
    if constexpr (std::same_as<S, Cuda>) cuda::begin_profile(on);
#endif
    std::forward<Call>(call)();
#if defined(KASANE_CUDA)
    if constexpr (std::same_as<S, Cuda>) cuda::end_profile(on);
#endif
}

}  // namespace kasane
