// Rate of a mix of vector instructions that are independent of one another and find all operands in registers: the limit of the vector
// units. Included once per instruction set.
#if defined(KASANE_VECTOR_MIX_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef KASANE_VECTOR_MIX_SIMD
#undef KASANE_VECTOR_MIX_SIMD
#else
#define KASANE_VECTOR_MIX_SIMD
#endif

#include <kasane/core/math/rsqrt.simd.hpp>

HWY_BEFORE_NAMESPACE();
namespace kasane {
namespace HWY_NAMESPACE {

/// Executes a mix `rounds` * 4 times: additions, products, fused multiply-adds, estimates of 1/sqrt.
/// Eight chains of multiply-adds cover their latency at two a cycle; the other chains are long enough for that, too.
template <int Adds, int Products, int Fmas, int Estimates, class D>
HWY_NOINLINE void vector_mix(D d, std::int64_t rounds) {
    namespace hn = hwy::HWY_NAMESPACE;
    using Real = hn::TFromD<D>;
    using V = hn::Vec<D>;
    const V a = hn::Set(d, Real(0.999)), b = hn::Set(d, Real(0.001));
    V product[8], sum[4], estimate[4];
    for (int i = 0; i < 8; ++i) product[i] = hn::Set(d, static_cast<Real>(1 + i));
    for (int i = 0; i < 4; ++i) sum[i] = b;
    for (int i = 0; i < 4; ++i) estimate[i] = hn::Set(d, static_cast<Real>(2 + i));
    for (std::int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 4
        for (int mix = 0; mix < 4; ++mix) {
#pragma GCC unroll 32
            for (int i = 0; i < Products + Fmas; ++i) {
                V& to = product[(i + mix * (Products + Fmas)) % 8];
                to = i < Products ? hn::Mul(to, a) : hn::MulAdd(to, a, b);
            }
#pragma GCC unroll 32
            for (int i = 0; i < Adds; ++i) sum[(i + mix * Adds) % 4] = hn::Sub(sum[(i + mix * Adds) % 4], b);
            if constexpr (Estimates > 0) estimate[mix] = rsqrt_estimate<false>(d, estimate[mix]);
        }
    }
    V all = product[0];
    for (int i = 1; i < 8; ++i) all = hn::Add(all, product[i]);
    for (int i = 0; i < 4; ++i) all = hn::Add(all, hn::Add(sum[i], estimate[i]));
    volatile Real sink = hn::GetLane(all);  // keeps the compiler from removing the loop
    static_cast<void>(sink);
}

}  // namespace HWY_NAMESPACE
}  // namespace kasane
HWY_AFTER_NAMESPACE();

#endif
