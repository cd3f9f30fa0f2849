// Estimates of 1/sqrt(v) in Highway vectors, for both precisions: the start of a series or of Newton's method, in place of a
// division and a square root. Included once per instruction set, by files that include <hwy/foreach_target.h>.
#if defined(KASANE_RSQRT_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef KASANE_RSQRT_SIMD
#undef KASANE_RSQRT_SIMD
#else
#define KASANE_RSQRT_SIMD
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace kasane {
namespace HWY_NAMESPACE {

/// The largest relative error of rsqrt_estimate().
#if HWY_TARGET == HWY_AVX3
constexpr double rsqrt_estimate_error = 0x1.01p-14;
#else
constexpr double rsqrt_estimate_error = 0x1.82p-12;
#endif

namespace detail {
namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V rsqrt_float(D d, V v) {
    const V y = hn::ApproximateReciprocalSqrt(v);
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
    static_cast<void>(d);
    return y;
#else  // 8 bits elsewhere: one step of Newton's method
    return hn::Mul(y, hn::NegMulAdd(hn::Mul(v, hn::Set(d, 0.5f)), hn::Mul(y, y), hn::Set(d, 1.5f)));
#endif
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V rsqrt_through_float(D d, V v) {
    const hn::Rebind<float, D> df;
    return hn::PromoteTo(d, rsqrt_float(df, hn::DemoteTo(df, v)));
}
}  // namespace detail

/// 1/sqrt(v) to rsqrt_estimate_error, v positive and normal.
/// @tparam WideRange  for double: v may lie outside the range of float
template <bool WideRange, class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V rsqrt_estimate(D d, V v) {
    namespace hn = hwy::HWY_NAMESPACE;
    if constexpr (sizeof(hn::TFromD<D>) == 4) {
        return detail::rsqrt_float(d, v);
    } else {
#if HWY_TARGET == HWY_AVX3
        return V{_mm512_rsqrt14_pd(v.raw)};
#else
        if constexpr (!WideRange) {
            return detail::rsqrt_through_float(d, v);
        } else {
            // v = f 4^k with f in [1/2, 2): 1/sqrt(v) = 2^-k / sqrt(f); the exponent is halved in integers.
            const hn::Rebind<std::uint64_t, D> di;
            const auto bits = hn::BitCast(di, v);
            const auto mantissa = hn::And(bits, hn::Set(di, std::uint64_t{0x001fffffffffffff}));
            const auto f = hn::BitCast(d, hn::Or(mantissa, hn::Set(di, std::uint64_t{0x3fe0000000000000})));
            const auto half = hn::And(hn::ShiftRight<1>(bits), hn::Set(di, std::uint64_t{0x3ff0000000000000}));
            const auto power = hn::Sub(hn::Set(di, std::uint64_t{0x1ff0000000000000}), half);
            return hn::BitCast(d, hn::Add(hn::BitCast(di, detail::rsqrt_through_float(d, f)), power));
        }
#endif
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace kasane
HWY_AFTER_NAMESPACE();

#endif
