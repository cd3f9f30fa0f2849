// Replaces a function of Highway's library in programs of this build. The library measures the resolution of its timer at each start of a
// program, 3.3 ms of 14, for its benchmarks, which no program here calls. Weak, so that a static library keeps its own.
#include <cstdint>

namespace hwy::platform {

std::uint64_t TimerResolution();  // declared as in hwy/nanobenchmark.h
[[gnu::weak]] std::uint64_t TimerResolution() { return 1; }

}  // namespace hwy::platform
