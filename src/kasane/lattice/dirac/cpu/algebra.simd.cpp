// The operations of the field algebra and the conversions between precisions, one vector of sites at a time.
// Invariants: products of single-precision numbers are summed in double, exactly; sums follow the places, so their last bits depend on
// the instruction set but not on threads. An operation in half sums its results before they are rounded to 16 bits.
#include <kasane/lattice/dirac/cpu/algebra.hpp>
#include <kasane/lattice/dirac/cpu/half.hpp>
#include <kasane/perf/simd_targets.hpp>

// Without AVX2 the baseline runs: SSE4 would cost a quarter of the compile time of these kernels.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/lattice/dirac/cpu/algebra.simd.cpp"
#include <hwy/foreach_target.h>

#include <kasane/lattice/dirac/cpu/vectors.simd.hpp>

HWY_BEFORE_NAMESPACE();
namespace kasane::lattice {
namespace HWY_NAMESPACE {
namespace {

constexpr int block_lanes = Lattice<Cpu>::lanes;
using Doubles = hn::ScalableTag<double>;

/// Sums of products in double, lane by lane.
template <Precision P>
struct Sum {
    hn::Vec<Doubles> low, high;
    HWY_INLINE Sum() : low(hn::Zero(Doubles())), high(hn::Zero(Doubles())) {}
    HWY_INLINE void add(Vector<P> a, Vector<P> b) {
        const Doubles dd;
        if constexpr (P == Precision::double_) {
            low = hn::MulAdd(a, b, low);
        } else {
#if HWY_TARGET == HWY_SCALAR
            low = hn::MulAdd(hn::PromoteTo(dd, a), hn::PromoteTo(dd, b), low);
#else
            const hn::Half<Tag<P>> dh;
            const auto wide_low = [&](Vector<P> v) HWY_ATTR { return hn::PromoteTo(dd, hn::LowerHalf(dh, v)); };
            const auto wide_high = [&](Vector<P> v) HWY_ATTR { return hn::PromoteTo(dd, hn::UpperHalf(dh, v)); };
            low = hn::MulAdd(wide_low(a), wide_low(b), low);
            high = hn::MulAdd(wide_high(a), wide_high(b), high);
#endif
        }
    }
    HWY_INLINE void subtract(Vector<P> a, Vector<P> b) { add(hn::Neg(a), b); }
    HWY_INLINE double total() const { return hn::GetLane(hn::SumOfLanes(Doubles(), hn::Add(low, high))); }
};

template <Precision P>
struct Sums {
    Sum<P> re, im, norm2;
    HWY_INLINE Sums() {}
    /// conj(x) y
    HWY_INLINE void dot(const Cx<Vector<P>>& x, const Cx<Vector<P>>& y) {
        re.add(x.re, y.re);
        re.add(x.im, y.im);
        im.add(x.re, y.im);
        im.subtract(x.im, y.re);
    }
    HWY_INLINE void square(const Cx<Vector<P>>& x) {
        norm2.add(x.re, x.re);
        norm2.add(x.im, x.im);
    }
};

/// a x + y
template <class V>
HWY_INLINE Cx<V> plus_times(const Cx<V>& a, const Cx<V>& x, const Cx<V>& y) {
    return {NegMulAdd(a.im, x.im, MulAdd(a.re, x.re, y.re)), MulAdd(a.im, x.re, MulAdd(a.re, x.im, y.im))};
}
template <class V>
HWY_INLINE Cx<V> product(const Cx<V>& a, const Cx<V>& x) {
    return {NegMulAdd(a.im, x.im, a.re * x.re), MulAdd(a.im, x.re, a.re * x.im)};
}

/// An operation on one vector of places.
template <Precision P, Operation operation>
struct Pass {
    using Stored = typename CpuReal<P>::Stored;
    using V = Vector<P>;
    const AlgebraJob& job;
    Cx<V> a, b;

    static HWY_INLINE Cx<V> read(const Reader<P>& from, int k) { return {from(2 * k), from(2 * k + 1)}; }
    static HWY_INLINE void write(Writer<P>& to, int k, const Cx<V>& v) {
        to(2 * k, v.re);
        to(2 * k + 1, v.im);
    }
    HWY_INLINE Reader<P> in(int i, index_t at, int lane) const { return {static_cast<const Stored*>(job.in[i]) + at, lane}; }
    HWY_INLINE Reader<P> old(int i, index_t at, int lane) const { return {static_cast<const Stored*>(job.out[i]) + at, lane}; }
    HWY_INLINE Writer<P> out(int i, index_t at, int lane) const { return {static_cast<Stored*>(job.out[i]) + at, lane}; }

    /// @tparam masked  only the places in `counts` are summed
    template <bool masked>
    HWY_INLINE void operator()(index_t group, int lane, hn::Mask<Tag<P>> counts, Sums<P>& sums) const {
        const index_t at = group * group_words<P>(24);
        const auto counted = [&](Cx<V> v) HWY_ATTR {
            if constexpr (masked) v = {hn::IfThenElseZero(counts, v.re), hn::IfThenElseZero(counts, v.im)};
            return v;
        };
        if constexpr (operation == Operation::norm2) {
            const auto x = in(0, at, lane);
            for (int k = 0; k < 12; ++k) sums.square(counted(read(x, k)));
        } else if constexpr (operation == Operation::dot || operation == Operation::dot_norm2) {
            const auto x = in(0, at, lane), y = in(1, at, lane);
            for (int k = 0; k < 12; ++k) {
                const auto xk = counted(read(x, k));
                sums.dot(xk, read(y, k));
                if constexpr (operation == Operation::dot_norm2) sums.square(xk);
            }
        } else if constexpr (operation == Operation::axpby) {
            const auto x = in(0, at, lane);
            auto y = out(0, at, lane);
            if (job.b == 0.) {
                for (int k = 0; k < 12; ++k) write(y, k, product(a, read(x, k)));
            } else {
                const auto y0 = old(0, at, lane);
                for (int k = 0; k < 12; ++k) write(y, k, plus_times(a, read(x, k), product(b, read(y0, k))));
            }
            y.finish();
        } else if constexpr (operation == Operation::axpy_norm2) {
            const auto x = in(0, at, lane), y0 = old(0, at, lane);
            auto y = out(0, at, lane);
            for (int k = 0; k < 12; ++k) {
                const auto yk = plus_times(a, read(x, k), read(y0, k));
                write(y, k, yk);
                sums.square(counted(yk));
            }
            y.finish();
        } else if constexpr (operation == Operation::axpbypz) {
            const auto x = in(0, at, lane), y = in(1, at, lane), z0 = old(0, at, lane);
            auto z = out(0, at, lane);
            for (int k = 0; k < 12; ++k) write(z, k, plus_times(a, read(x, k), plus_times(b, read(y, k), read(z0, k))));
            z.finish();
        } else if constexpr (operation == Operation::direction) {  // b = -beta omega
            const auto r = in(0, at, lane), v = in(1, at, lane), p0 = old(0, at, lane);
            auto p = out(0, at, lane);
            for (int k = 0; k < 12; ++k) write(p, k, plus_times(a, read(p0, k), plus_times(b, read(v, k), read(r, k))));
            p.finish();
        } else if constexpr (operation == Operation::finish) {
            const auto p = in(0, at, lane), t = in(1, at, lane), shadow = in(2, at, lane), x0 = old(0, at, lane), r0 = old(1, at, lane);
            auto x = out(0, at, lane), r = out(1, at, lane);
            const Cx<V> minus_b = {hn::Neg(b.re), hn::Neg(b.im)};
            for (int k = 0; k < 12; ++k) {
                const auto rk = read(r0, k);
                write(x, k, plus_times(a, read(p, k), plus_times(b, rk, read(x0, k))));
                const auto next = plus_times(minus_b, read(t, k), rk);
                write(r, k, next);
                sums.dot(counted(read(shadow, k)), next);
                sums.square(counted(next));
            }
            x.finish();
            r.finish();
        } else {
            const auto p = in(0, at, lane), q = in(1, at, lane), x0 = old(0, at, lane), r0 = old(1, at, lane);
            auto x = out(0, at, lane), r = out(1, at, lane);
            const auto plus = [&](const Cx<V>& u, const Cx<V>& v)
                                  HWY_ATTR { return Cx<V>{MulAdd(a.re, u.re, v.re), MulAdd(a.re, u.im, v.im)}; };
            const auto minus = [&](const Cx<V>& u, const Cx<V>& v)
                                   HWY_ATTR { return Cx<V>{NegMulAdd(a.re, u.re, v.re), NegMulAdd(a.re, u.im, v.im)}; };
            for (int k = 0; k < 12; ++k) {
                write(x, k, plus(read(p, k), read(x0, k)));
                const auto next = minus(read(q, k), read(r0, k));
                write(r, k, next);
                sums.square(counted(next));
            }
            x.finish();
            r.finish();
        }
    }
};

template <Precision P, Operation operation>
AlgebraSums pass(const AlgebraJob& job, index_t first, index_t last, index_t blocks) {
    const Tag<P> d;
    using Real = hn::TFromD<Tag<P>>;
    constexpr int lanes = group_lanes<P>;
    const auto set = [d](std::complex<double> z) HWY_ATTR {
        return Cx<Vector<P>>{hn::Set(d, static_cast<Real>(z.real())), hn::Set(d, static_cast<Real>(z.imag()))};
    };
    const Pass<P, operation> here{job, set(job.a), set(job.b)};
    Sums<P> sums;
    for (index_t block = first; block < last; ++block)
        for (int offset = 0; offset < block_lanes; offset += width<P>) {
            const index_t group = block * (block_lanes / lanes) + offset / lanes;
            if (block + 1 < blocks) {
                here.template operator()<false>(group, offset % lanes, hn::MaskFromVec(hn::Zero(d)), sums);
            } else {
                const unsigned bits = static_cast<unsigned>(job.counts_in_last) >> offset;
                alignas(8) const std::uint8_t bytes[8] = {static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8)};
                here.template operator()<true>(group, offset % lanes, hn::LoadMaskBits(d, bytes), sums);
            }
        }
    return {sums.re.total(), sums.im.total(), sums.norm2.total()};
}

template <Precision P>
AlgebraSums any_pass(const AlgebraJob& job, index_t first, index_t last, index_t blocks) {
    switch (job.operation) {
        case Operation::norm2: return pass<P, Operation::norm2>(job, first, last, blocks);
        case Operation::dot: return pass<P, Operation::dot>(job, first, last, blocks);
        case Operation::dot_norm2: return pass<P, Operation::dot_norm2>(job, first, last, blocks);
        case Operation::axpby: return pass<P, Operation::axpby>(job, first, last, blocks);
        case Operation::axpy_norm2: return pass<P, Operation::axpy_norm2>(job, first, last, blocks);
        case Operation::axpbypz: return pass<P, Operation::axpbypz>(job, first, last, blocks);
        case Operation::direction: return pass<P, Operation::direction>(job, first, last, blocks);
        case Operation::finish: return pass<P, Operation::finish>(job, first, last, blocks);
        case Operation::step: return pass<P, Operation::step>(job, first, last, blocks);
    }
    return {};
}

/// A block of any precision as single, and back.
template <Precision P>
HWY_INLINE void to_single(const typename CpuReal<P>::Stored* from, float* to) {
    if constexpr (P == Precision::double_) {
        const Doubles dd;
        const hn::Rebind<float, Doubles> df;
        for (int offset = 0; offset < block_lanes; offset += width<P>)
            for (int k = 0; k < 24; ++k)
                hn::Store(hn::DemoteTo(df, hn::Load(dd, from + offset / 8 * group_words<P>(24) + k * 8 + offset % 8)), df,
                          to + k * block_lanes + offset);
    } else {
        for (int lane = 0; lane < block_lanes; lane += width<P>) store_spinor<Precision::single>(load_spinor<P>(from, lane), to, lane);
    }
}
template <Precision P>
HWY_INLINE void from_single(const float* from, typename CpuReal<P>::Stored* to) {
    if constexpr (P == Precision::double_) {
        const Doubles dd;
        const hn::Rebind<float, Doubles> df;
        for (int offset = 0; offset < block_lanes; offset += width<P>)
            for (int k = 0; k < 24; ++k)
                hn::Store(hn::PromoteTo(dd, hn::Load(df, from + k * block_lanes + offset)), dd,
                          to + offset / 8 * group_words<P>(24) + k * 8 + offset % 8);
    } else {
        for (int lane = 0; lane < block_lanes; lane += width<P>) store_spinor<P>(load_spinor<Precision::single>(from, lane), to, lane);
    }
}

template <Precision From, Precision To>
void convert_all(const void* from, void* to, index_t first, index_t last) {
    const auto* source = static_cast<const typename CpuReal<From>::Stored*>(from);
    auto* target = static_cast<typename CpuReal<To>::Stored*>(to);
    for (index_t block = first; block < last; ++block) {
        alignas(128) float single[24 * block_lanes];
        to_single<From>(source + block * (block_lanes / group_lanes<From>)*group_words<From>(24), single);
        from_single<To>(single, target + block * (block_lanes / group_lanes<To>)*group_words<To>(24));
    }
}

}  // namespace

#define KS_NAME(a, b) a##_##b
#define KS_ALGEBRA(name, P)                                                                                  \
    AlgebraSums KS_NAME(algebra, name)(const AlgebraJob& job, index_t first, index_t last, index_t blocks) { \
        return any_pass<P>(job, first, last, blocks);                                                        \
    }
KS_ALGEBRA(half, Precision::half)
KS_ALGEBRA(single, Precision::single)
KS_ALGEBRA(double, Precision::double_)
#undef KS_ALGEBRA

#define KS_CONVERT(name, From, To)                                                         \
    void KS_NAME(convert, name)(const void* from, void* to, index_t first, index_t last) { \
        convert_all<Precision::From, Precision::To>(from, to, first, last);                \
    }
KS_CONVERT(half_single, half, single)
KS_CONVERT(half_double, half, double_)
KS_CONVERT(single_half, single, half)
KS_CONVERT(single_double, single, double_)
KS_CONVERT(double_half, double_, half)
KS_CONVERT(double_single, double_, single)
#undef KS_CONVERT
#undef KS_NAME

}  // namespace HWY_NAMESPACE
}  // namespace kasane::lattice
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane::lattice {

#define KS_EXPORT(name, P)                                                                                         \
    HWY_EXPORT(algebra_##name);                                                                                    \
    template <>                                                                                                    \
    AlgebraSums algebra_blocks<Precision::P>(const AlgebraJob& job, index_t first, index_t last, index_t blocks) { \
        return HWY_DYNAMIC_DISPATCH(algebra_##name)(job, first, last, blocks);                                     \
    }
KS_EXPORT(half, half)
KS_EXPORT(single, single)
KS_EXPORT(double, double_)
#undef KS_EXPORT

#define KS_EXPORT(name, From, To)                                                                                  \
    HWY_EXPORT(convert_##name);                                                                                    \
    template <>                                                                                                    \
    void convert_blocks<Precision::From, Precision::To>(const void* from, void* to, index_t first, index_t last) { \
        HWY_DYNAMIC_DISPATCH(convert_##name)(from, to, first, last);                                               \
    }
KS_EXPORT(half_single, half, single)
KS_EXPORT(half_double, half, double_)
KS_EXPORT(single_half, single, half)
KS_EXPORT(single_double, single, double_)
KS_EXPORT(double_half, double_, half)
KS_EXPORT(double_single, double_, single)
#undef KS_EXPORT

}  // namespace kasane::lattice
#endif
