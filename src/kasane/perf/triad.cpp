#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/perf/triad.hpp>

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

namespace kasane {

namespace detail {

index_t speed_elements(std::uint64_t asked, std::uint64_t cache, std::uint64_t free_memory) {
    constexpr std::uint64_t mebibyte = 1 << 20;
    const auto most = free_memory / 5 / 3;
    const auto bytes = asked > 0 ? asked : std::min(std::max(4 * cache, 256 * mebibyte), most);
    if (bytes < mebibyte || 3 * bytes > free_memory)
        throw ComputationError("measuring the memory takes three arrays of " + std::to_string(std::max(bytes, mebibyte)) + " bytes; " +
                               std::to_string(free_memory) + " bytes are free");
    return static_cast<index_t>(bytes / (64 * sizeof(double))) * 64;  // whole cache lines for any number of threads
}

}  // namespace detail

namespace {

// The compiler may neither fuse the loops of two passes nor use the values of the operands.
[[gnu::noinline]] void triad(double* __restrict a, const double* __restrict b, const double* __restrict c, double s, index_t n) {
    for (index_t i = 0; i < n; ++i) a[i] = b[i] + s * c[i];
}

/// 16 chains of additions: a single chain would measure the latency of an addition and not the memory.
[[gnu::noinline]] double sum_of_products(const double* __restrict b, const double* __restrict c, index_t n) {
    constexpr index_t chains = 16;
    double sum[chains] = {};
    for (index_t i = 0; i < n; i += chains)
        for (index_t k = 0; k < chains; ++k) sum[k] += b[i + k] * c[i + k];
    double all = 0;
    for (const double s : sum) all += s;
    return all;
}

std::uint64_t last_cache() {
    const long third = sysconf(_SC_LEVEL3_CACHE_SIZE), second = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return static_cast<std::uint64_t>(std::max({third, second, 0L}));
}

}  // namespace

MemorySpeed memory_speed(Cpu on, std::uint64_t array_bytes) {
    MemorySpeed speed;
    speed.cache_bytes = last_cache();
    const index_t n = detail::speed_elements(array_bytes, speed.cache_bytes, available_memory(on));
    speed.array_bytes = static_cast<std::uint64_t>(n) * sizeof(double);
    Buffer<double, Cpu> a(on, n), b(on, n), c(on, n);
    constexpr int passes = 5;
    double seconds[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}, sum = 0;
#pragma omp parallel num_threads(thread_count(on))
    {
        const index_t lines = n / 64, me = omp_get_thread_num(), all = omp_get_num_threads();
        const index_t first = lines * me / all * 64, count = lines * (me + 1) / all * 64 - first;
        double *pa = a.data() + first, *pb = b.data() + first, *pc = c.data() + first;
        for (index_t i = 0; i < count; ++i) pa[i] = 0, pb[i] = 1, pc[i] = 2;
        const auto timed = [&](int loop, const auto& body) {
            for (int pass = 0; pass < passes; ++pass) {
#pragma omp barrier
                Stopwatch watch;
                body();
#pragma omp barrier
                if (me == 0) seconds[loop] = std::min(seconds[loop], watch.seconds());
            }
        };
        timed(0, [&] { triad(pa, pb, pc, 3, count); });
        double mine = 0;
        timed(1, [&] { mine += sum_of_products(pb, pc, count); });
#pragma omp atomic
        sum += mine;
    }
    const double elements = static_cast<double>(n);
    // Sums of small whole numbers are exact in any order, so that this tests the loops.
    if (sum != 2 * passes * elements || a.data()[n - 1] != 7)
        throw ComputationError("memory_speed: wrong sums; this memory or processor errs");
    speed.triad = 3 * sizeof(double) * elements / seconds[0];
    speed.read = 2 * sizeof(double) * elements / seconds[1];
    return speed;
}

MemorySpeed memory_speed(const AnySpace& on, std::uint64_t array_bytes) {
    return std::visit([&](auto space) { return memory_speed(space, array_bytes); }, on);
}

}  // namespace kasane
