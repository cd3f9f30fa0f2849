// The measurement of prefetch_to_second_cache_is_faster(): reads of memory that is in no cache, in the order of a hop, each line prefetched
// one group ahead.
#include <kasane/lattice/dirac/cpu/prefetch.hpp>

#include <kasane/core/base/timer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kasane::lattice {
#if defined(__x86_64__)
namespace {

constexpr int cache_line = 64;
constexpr int streams = 16, groups_of_stream = 16, lines_of_group = 24;  ///< a hop reads 8 streams of links and as many of spinors
constexpr int measured_lines = streams * groups_of_stream * lines_of_group;

void flush(const std::byte* line, int lines) {
    for (int l = 0; l < lines; ++l) __builtin_ia32_clflush(line + l * cache_line);
    __builtin_ia32_mfence();
}

/// @param locality  of the built-in function: 3 for the first-level cache, 2 for the second
template <int locality>
unsigned sum_of(const std::byte* lines) {
    unsigned sum = 0;
    for (int group = 0; group < groups_of_stream; ++group)
        for (int stream = 0; stream < streams; ++stream) {
            const auto* const line = lines + (stream * groups_of_stream + group) * lines_of_group * cache_line;
            for (int l = 0; l < lines_of_group; ++l) {
                __builtin_prefetch(line + (lines_of_group + l) * cache_line, 0, locality);
                sum += static_cast<unsigned>(line[l * cache_line]);
            }
        }
    return sum;
}

bool measure() {
    // The last stream's prefetches reach a group further.
    std::vector<std::byte> memory((measured_lines + lines_of_group + 1) * cache_line);
    const auto* const lines = memory.data() + (-reinterpret_cast<std::uintptr_t>(memory.data())) % cache_line;
    double first = std::numeric_limits<double>::infinity(), second = first;
    unsigned sum = 0;
    const auto time = [&](auto pass, double& best) {
        flush(lines, measured_lines + lines_of_group);
        const Stopwatch watch;
        sum += pass(lines);
        best = std::min(best, watch.seconds());
    };
    for (int run = 0; run < 12; ++run) {
        time(sum_of<3>, first);
        time(sum_of<2>, second);
    }
    // The sums are zero; they are read so that they are computed.
    return sum == 0 && first > 1.3 * second;
}

}  // namespace

bool prefetch_to_second_cache_is_faster() {
    static const bool faster = measure();
    return faster;
}
#else
bool prefetch_to_second_cache_is_faster() { return false; }
#endif

}  // namespace kasane::lattice
