#include <kasane/perf/cpu_peak.hpp>
#include <kasane/perf/simd_targets.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/perf/cpu_peak.cpp"
#include <hwy/foreach_target.h>

#include <kasane/perf/vector_mix.simd.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace kasane {
namespace HWY_NAMESPACE {

void multiply_adds(std::int64_t rounds) { vector_mix<0, 0, 8, 0>(hwy::HWY_NAMESPACE::ScalableTag<float>(), rounds); }
std::size_t float_lanes() { return hwy::HWY_NAMESPACE::Lanes(hwy::HWY_NAMESPACE::ScalableTag<float>()); }

}  // namespace HWY_NAMESPACE
}  // namespace kasane
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane {
namespace {

HWY_EXPORT(multiply_adds);
HWY_EXPORT(float_lanes);

}  // namespace

double sustained_rate(Cpu on, const std::function<void(index_t)>& work, double per_round) {
    using Clock = std::chrono::steady_clock;
    constexpr index_t rounds = 1000;
    double all = 0;
    const int threads = thread_count(on);
#pragma omp parallel num_threads(threads) reduction(+ : all)
    {
        std::vector<double> slices;
        const auto start = Clock::now();
        for (auto begin = start; begin - start < std::chrono::milliseconds(60);) {
            work(rounds);
            const auto end = Clock::now();
            slices.push_back(std::chrono::duration<double>(end - begin).count());
            begin = end;
        }
        const auto tenth = slices.begin() + static_cast<std::ptrdiff_t>(slices.size() / 10);
        std::nth_element(slices.begin(), tenth, slices.end());
        all += static_cast<double>(rounds) * per_round / *tenth;
    }
    return all;
}

CpuPeak cpu_peak(Cpu on) {
    const auto work = [](index_t rounds) { HWY_DYNAMIC_DISPATCH(multiply_adds)(rounds); };
    return {sustained_rate(on, work, 4 * 8), static_cast<int>(HWY_DYNAMIC_DISPATCH(float_lanes)())};
}

}  // namespace kasane
#endif
