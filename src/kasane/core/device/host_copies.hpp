// Counts the copies between host and device that this process starts: tests and benchmarks check that a computation stays on its device.
// Thread-safe; without CUDA all counts are 0.
#pragma once

#include <cstdint>

namespace kasane {

struct HostCopies {
    std::uint64_t count = 0, bytes = 0;  ///< since the process began, in both directions
    std::uint64_t largest = 0;           ///< bytes of one copy, since the last reset_largest_host_copy()
};
HostCopies host_copies();
void reset_largest_host_copy();

namespace detail {
/// Called where a copy is started.
void count_host_copy(std::uint64_t bytes);
}  // namespace detail

}  // namespace kasane
