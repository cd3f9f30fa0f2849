// The pair of two softenings (pair.body.hpp) on Highway vectors. Included once per instruction set, by files that include
// <hwy/foreach_target.h>.
#if defined(KASANE_SOFTENED_PAIR_SIMD) == defined(HWY_TARGET_TOGGLE)
#ifdef KASANE_SOFTENED_PAIR_SIMD
#undef KASANE_SOFTENED_PAIR_SIMD
#else
#define KASANE_SOFTENED_PAIR_SIMD
#endif

#include <kasane/core/math/rsqrt.simd.hpp>
#include <kasane/gravity/softening/pair.body.hpp>

HWY_BEFORE_NAMESPACE();
namespace kasane::gravity::detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// 1/sqrt(v) to the precision of its type, v positive and normal.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reciprocal_sqrt(D d, V v) {
    using Real = hn::TFromD<D>;
    const auto c = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<Real>(value)); };
    // Steps of Newton's method: the error e of the estimate becomes 3/2 e^2.
    constexpr int steps = sizeof(Real) == 4 ? 1 : kasane::HWY_NAMESPACE::rsqrt_estimate_error < 0x1p-13 ? 2 : 3;
    V y = kasane::HWY_NAMESPACE::rsqrt_estimate<true>(d, v);
#pragma GCC unroll 4
    for (int step = 0; step < steps; ++step) y = hn::MulAdd(hn::Mul(y, c(0.5)), hn::NegMulAdd(v, hn::Mul(y, y), c(1.0)), y);
    return y;
}

template <class V>
struct VectorFactors {
    V force, potential;
};

/// The factors of softened_pair(); the potential is set where Potential, and always for the Plummer kernel.
/// @param least  a positive squared distance below which two unsoftened particles are at one place, and contribute zero
template <bool Potential, PairSoftening form, class D, class V = hn::Vec<D>>
HWY_INLINE VectorFactors<V> combined_pair(D d, V d2, V eps2, V least) {
    using Real = hn::TFromD<D>;
    const auto c = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<Real>(value)); };
    if constexpr (form == PairSoftening::plummer) {
        const V r2 = hn::Add(d2, eps2);
        const V over_r = hn::IfThenElseZero(hn::Gt(r2, least), reciprocal_sqrt(d, hn::Max(r2, least)));
        return {hn::Mul(over_r, hn::Mul(over_r, over_r)), over_r};
    } else {
        const V h2 = hn::Mul(c(spline_radius * spline_radius), eps2);
        const V over_r = reciprocal_sqrt(d, hn::Max(d2, least));
        if (hn::AllFalse(d, hn::Lt(d2, h2))) {  // the usual case: Newtonian pairs, the same values as those below with v = 0
            const V newton = hn::IfThenElseZero(hn::Gt(d2, least), over_r);
            return {hn::Mul(newton, hn::Mul(newton, newton)), newton};
        }
        const V over_h = reciprocal_sqrt(d, hn::Max(h2, least));
        const V u = hn::Mul(hn::Mul(d2, over_r), over_h), u2 = hn::Mul(u, u);
        const V v = hn::Max(hn::Sub(c(1.0), u), hn::Zero(d)), v2 = hn::Mul(v, v), v4 = hn::Mul(v2, v2);
        const auto inner = hn::Lt(u, c(0.5)), apart = hn::Gt(hn::Add(d2, h2), least);
        const V over = hn::IfThenElseZero(apart, hn::IfThenElse(inner, over_h, over_r));
        const V inside = hn::NegMulAdd(v4, hn::MulAdd(v, hn::MulSub(c(32. / 3), v, c(128. / 5)), c(16.0)), c(1.0));
        const V core = hn::MulAdd(u2, hn::MulSub(c(32.0), u, c(192. / 5)), c(32. / 3));
        const V force = hn::Mul(hn::IfThenElse(inner, core, inside), hn::Mul(over, hn::Mul(over, over)));
        if constexpr (!Potential) return {force, over};
        const V outer = hn::NegMulAdd(hn::Mul(v4, v), hn::NegMulAdd(c(32. / 15), v, c(16. / 5)), c(1.0));
        const V well = hn::NegMulAdd(u2, hn::MulAdd(u2, hn::MulSub(c(32. / 5), u, c(48. / 5)), c(16. / 3)), c(14. / 5));
        return {force, hn::Mul(hn::IfThenElse(inner, well, outer), over)};
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace kasane::gravity::detail
HWY_AFTER_NAMESPACE();

#endif
