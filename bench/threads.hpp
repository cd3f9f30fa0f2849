// Common parts of the benchmarks of all modules: a CPU with one thread and with all, and the speed of its memory.
#pragma once

#include <kasane/perf/triad.hpp>

#include <map>
#include <string>
#include <vector>

namespace kasane::bench {

/// This space with one thread, then with all of its threads; a device as it is.
std::vector<AnySpace> with_threads(const AnySpace& on);
/// ", 1 thread", ", 2 threads"; nothing on a device.
std::string threads_label(const AnySpace& on);

/// Measures the memory of each space once.
class Speeds {
   public:
    const MemorySpeed& of(const AnySpace& on);

   private:
    std::map<std::string, MemorySpeed> known_;
};

/// "triad a = b + s c in double, measured in this run, arrays of 512 MiB: 4390 GB/s; reading alone 4500 GB/s"
std::string words(const MemorySpeed& speed);

}  // namespace kasane::bench
