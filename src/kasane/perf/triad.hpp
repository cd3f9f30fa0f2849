// Bandwidth of the memory, measured where the program runs: the bound of every loop that streams through arrays.
// Invariants: arrays are far larger than the caches where the memory allows; rates count the bytes that the loop names, as STREAM does.
#pragma once

#include <kasane/core/device/space.hpp>

#include <cstdint>

namespace kasane {

struct MemorySpeed {
    double triad = 0;  ///< [bytes/s] of a = b + s c in double, 24 bytes per element: the bound in benchmarks   [McCalpin 1995, STREAM]
    double read = 0;   ///< [bytes/s] of the sum of b c, 16 bytes per element: solvers read far more than they write
    std::uint64_t array_bytes = 0;  ///< of each of the three arrays
    std::uint64_t cache_bytes = 0;  ///< of the last-level cache; 0 where the system does not report it
};

/// Times a few passes of each loop and returns the fastest.
/// On the CPU the threads take equal parts and touch theirs first; stores are ordinary ones, so that a processor without write-combining
/// also reads each line of a before it writes it. These 8 bytes are not counted (STREAM's habit), so that a loop which reads more than it
/// writes can exceed the triad's rate, and the read rate is its bound.
/// @param array_bytes  of each array; 0: four times the last-level cache, at least 256 MiB, all three at most a fifth of the free memory
MemorySpeed memory_speed(Cpu on, std::uint64_t array_bytes = 0);
#if defined(KASANE_CUDA)
MemorySpeed memory_speed(Cuda on, std::uint64_t array_bytes = 0);
#endif
MemorySpeed memory_speed(const AnySpace& on, std::uint64_t array_bytes = 0);

namespace detail {
/// Elements of each array. @throws ComputationError where not even 1 MiB each is free
index_t speed_elements(std::uint64_t asked, std::uint64_t cache, std::uint64_t free_memory);
}  // namespace detail

}  // namespace kasane
