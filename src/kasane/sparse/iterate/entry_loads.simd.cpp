// The measurement of gathers_are_slow(), and prefetchers_suffice().
#include <kasane/perf/simd_targets.hpp>
#include <kasane/sparse/iterate/entry_loads.hpp>

// The instruction sets of iterate.simd.cpp.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/sparse/iterate/entry_loads.simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/iterate/gather.simd.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace kasane::sparse {
namespace HWY_NAMESPACE {

constexpr int places = 2048;  ///< 16 KiB of numbers and 8 KiB of places: in the first-level cache

template <bool gathers>
HWY_NOINLINE double sum_of(const std::array<double, places>& x, const std::array<std::int32_t, places>& column) {
    namespace hn = hwy::HWY_NAMESPACE;
    const Doubles d;
    auto sum = hn::Zero(d);
    for (std::size_t k = 0; k < places; k += hn::Lanes(d)) sum = hn::Add(sum, gather<gathers>(d, x.data(), column.data() + k));
    return hn::GetLane(hn::SumOfLanes(d, sum));
}

bool loads_are_faster() {
    std::array<double, places> x{};
    std::array<std::int32_t, places> column{};
    for (std::size_t k = 0; k < places; ++k) column[k] = static_cast<std::int32_t>(k * 173 % places);
    double best[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}, sum = 0;
    for (int run = 0; run < 20; ++run)
        for (const bool gathers : {true, false}) {
            const Stopwatch watch;
            sum += gathers ? sum_of<true>(x, column) : sum_of<false>(x, column);
            best[gathers] = std::min(best[gathers], watch.seconds());
        }
    // The sums are zero; they are read so that they are computed.
    return sum == 0 && best[false] < best[true];
}

}  // namespace HWY_NAMESPACE
}  // namespace kasane::sparse
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane::sparse {

HWY_EXPORT(loads_are_faster);

bool gathers_are_slow() {
    static const bool slow = HWY_DYNAMIC_DISPATCH(loads_are_faster)();
    return slow;
}

bool prefetchers_suffice() {
#if defined(__x86_64__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

}  // namespace kasane::sparse
#endif
