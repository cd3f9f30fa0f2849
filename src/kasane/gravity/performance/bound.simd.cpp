#include <kasane/gravity/performance/bound.hpp>
#include <kasane/perf/cpu_peak.hpp>
#include <kasane/perf/simd.hpp>
#include <kasane/perf/simd_targets.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/gravity/performance/bound.simd.cpp"
#include <hwy/foreach_target.h>

#include <kasane/perf/vector_mix.simd.hpp>

#include <fmt/format.h>

#if !defined(KASANE_DIRECT_BOUND_ONCE)
#define KASANE_DIRECT_BOUND_ONCE
namespace kasane::gravity {
namespace {

/// Arithmetic of one interaction of a vector in the softened inner loop, as the disassembly has it (objdump -d of the object of
/// direct.simd.cpp, the loops of sum_chunk that hold vrsqrt: vsub/vadd, vmul, vfmadd + vfnmadd, estimates, divided by the targets of
/// a group: 4 for AVX-512, 2 for AVX2). Loads (4 per group, and targets that do not fit into registers), register moves and the loop's
/// own 3 instructions use other ports.
struct Mix {
    int adds, products, fmas, estimates;
};
constexpr Mix single_acceleration{3, 4, 7, 1}, single_both{4, 5, 7, 1};
constexpr Mix double_acceleration{3, 4, 10, 1}, double_both{4, 5, 10, 1};
/// Without AVX-512 the estimate of a double is computed in float (two more conversions, measured as part of it) and has fewer bits:
/// the series has one more term.
constexpr int longer_series = 1;

struct Measured {
    std::int64_t lanes;
    Mix mix;
};

}  // namespace
}  // namespace kasane::gravity
#endif

HWY_BEFORE_NAMESPACE();
namespace kasane::gravity {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// The mix as this instruction set executes it: without fused multiply-adds, each is a product and an addition.
constexpr Mix executed(Mix mix, bool is_double) {
#if HWY_TARGET != HWY_AVX3
    if (is_double) mix.fmas += longer_series;
#endif
#if HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SCALAR
    return {mix.adds + mix.fmas, mix.products + mix.fmas, 0, mix.estimates};
#else
    return mix;
#endif
}

template <class Real, bool Both>
Measured execute(std::int64_t rounds) {
    const hn::ScalableTag<Real> d;
    constexpr bool is_double = sizeof(Real) == 8;
    constexpr Mix mix =
        executed(is_double ? (Both ? double_both : double_acceleration) : (Both ? single_both : single_acceleration), is_double);
    kasane::HWY_NAMESPACE::vector_mix<mix.adds, mix.products, mix.fmas, mix.estimates>(d, rounds);
    return {static_cast<std::int64_t>(hn::Lanes(d)), mix};
}

Measured execute_mix(std::int64_t rounds, bool is_double, bool both) {
    if (is_double) return both ? execute<double, true>(rounds) : execute<double, false>(rounds);
    return both ? execute<float, true>(rounds) : execute<float, false>(rounds);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kasane::gravity
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane::gravity {
namespace {
HWY_EXPORT(execute_mix);
}

DirectBound direct_bound(Cpu on, const Direct& options, bool potential) {
    const bool is_double = options.precision == Precision::double_;
    const auto run = [&](index_t rounds) { return HWY_DYNAMIC_DISPATCH(execute_mix)(rounds, is_double, potential); };
    const auto [lanes, mix] = run(1);
    const double mixes = sustained_rate(on, [&](index_t rounds) { run(rounds); }, 4);
    return {static_cast<double>(lanes) * mixes,
            fmt::format("{}: {} add, {} mul, {} fma, {} estimate of 1/sqrt for {} interactions; {:.3g} such mixes/s measured on {} threads",
                        simd_target(), mix.adds, mix.products, mix.fmas, mix.estimates, lanes, mixes, thread_count(on))};
}

}  // namespace kasane::gravity
#endif
