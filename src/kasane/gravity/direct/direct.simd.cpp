// The variant `simd`: sources stream through vector registers, a few targets stay in registers, targets are distributed over threads.
// Invariants: a target's sum over a grain adds the sources in one order, for any threads and other targets, and is added to binned sums;
// every pair is evaluated for each of its two targets (no use of Newton's third law); the inner loop has no branch, division or
// square root.
//
// Why Highway: measured in 1e9 interactions/s, accelerations, N = 4096, one core with AVX-512 at about 3.7 GHz, g++ 12.2 (2026-11):
//                                                          float AVX2 / AVX-512      double AVX2 / AVX-512
//     this file                                             4.9       6.7             1.43      2.75
//     this file with square root and division                                         0.80      0.76
//     omp simd, -ffast-math (target_clones: the same)        4.1       3.4             0.81      0.75
//     std::experimental::simd, 4 targets (with -ffast-math)  2.8 (3.7) 2.7 (4.1)       0.80      0.75
// Only intrinsics give access to the estimate of 1/sqrt in double without -ffast-math. Highway chooses the instruction set at run time.
// Bound by the instruction mix (performance/bound.simd.cpp): N >= 4096 reaches 85 to 93% of it (AVX-512; AVX2: float 88 to 94%, double 71
// to 82%). The work per grain and group of targets (flush) costs 1.5% of 1024 sources in float, 3% of 512. Groups of 4 targets are 3%
// faster than 2 with AVX-512's 32 registers; with AVX2's 16 registers, groups of 2 are 7% faster than 4 in float.
#include <kasane/gravity/direct/simd.hpp>
#include <kasane/perf/simd_targets.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/gravity/direct/direct.simd.cpp"
#include <hwy/foreach_target.h>

#include <kasane/core/math/rsqrt.simd.hpp>
#include <kasane/gravity/softening/pair.simd.hpp>

#include <algorithm>

#if !defined(KASANE_DIRECT_SIMD_ONCE)
#define KASANE_DIRECT_SIMD_ONCE

namespace kasane::gravity::detail {
namespace {

/// Targets that a thread evaluates at a time, at most. Their sums fit into the first-level cache beside a grain of sources in float, and
/// they amortise the load of a grain from the third level: 64 and 256 are 2% slower at N = 65,536.
constexpr index_t chunk_size = 128;

/// An unsoftened pair with a smaller r^2 contributes zero, so that r^-3 stays finite.
template <class Real>
constexpr Real coincident = Real(sizeof(Real) == 4 ? 1e-24 : 1e-200);

}  // namespace
}  // namespace kasane::gravity::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace kasane::gravity::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Number of targets in registers: as many as the register file holds with their positions and sums.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int block_size = 4;
#else
constexpr int block_size = 2;
#endif

template <class D>
struct Target {
    hn::Vec<D> x, y, z;
    hn::Vec<D> ax, ay, az, phi;
    hn::Vec<D> term;        // softening term, where pairs combine softenings
    HWY_INLINE Target() {}  // explicit: an implicit constructor is compiled for the baseline and cannot inline NEON's constructors
};

/// Adds the attraction of one vector of sources on one target. With the estimate y0 ~ 1/r and h = r^2 y0^2 = 1 - t, the factors
/// r^-3 = y0^3 h^(-3/2) and r^-1 = y0 h^(-1/2) are evaluated by their Taylor series in t. Constant factors are applied at the end:
/// float sums 2/3 of the acceleration (5/3 - h in place of 1 + 3t/2), or, with the potential, 8 times and twice it.
template <bool Potential, bool Softened, class D, class V = hn::Vec<D>>
HWY_INLINE void interact(D d, Target<D>& to, V x, V y, V z, V m, V eps2) {
    using Real = hn::TFromD<D>;
    const V dx = hn::Sub(x, to.x), dy = hn::Sub(y, to.y), dz = hn::Sub(z, to.z);
    const V r2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::MulAdd(dx, dx, eps2)));
    V y0 = kasane::HWY_NAMESPACE::rsqrt_estimate<!Softened>(d, r2);
    if constexpr (!Softened) y0 = hn::IfThenElseZero(hn::Gt(r2, hn::Set(d, coincident<Real>)), y0);
    const V s = hn::Mul(y0, y0);
    const auto c = [d](double value) HWY_ATTR { return hn::Set(d, static_cast<Real>(value)); };
    V force;  // m / r^3
    if constexpr (sizeof(Real) == 4) {
        if constexpr (Potential) {
            const V twice = hn::Mul(y0, hn::NegMulAdd(r2, s, c(3.0)));
            const V m_over_r = hn::Mul(m, twice);
            to.phi = hn::Add(to.phi, m_over_r);
            force = hn::Mul(m_over_r, hn::Mul(twice, twice));
        } else {
            force = hn::Mul(hn::Mul(hn::Mul(m, y0), s), hn::NegMulAdd(r2, s, c(5.0 / 3)));
        }
    } else {
        const V t = hn::NegMulAdd(r2, s, c(1.0));
        // |t| < a. The first omitted power is economised: t^4 -> a^2 t^2 and t^5 -> 5/4 a^2 t^3 - 5/16 a^4 t have errors of
        // a^4 / 8 and a^5 / 16 (Chebyshev), less than 1e-16 here.
        constexpr double a = 2 * kasane::HWY_NAMESPACE::rsqrt_estimate_error, a2 = a * a;
#if HWY_TARGET == HWY_AVX3
        const auto series = [&](double c1, double c2, double c3, double c4, double)
                                HWY_ATTR { return hn::MulAdd(hn::MulAdd(hn::MulAdd(c(c3), t, c(c2 + c4 * a2)), t, c(c1)), t, c(1.0)); };
#else
        const auto series = [&](double c1, double c2, double c3, double c4, double c5) HWY_ATTR {
            const V high = hn::MulAdd(hn::MulAdd(c(c4), t, c(c3 + 1.25 * c5 * a2)), t, c(c2));
            return hn::MulAdd(hn::MulAdd(high, t, c(c1 - 0.3125 * c5 * a2 * a2)), t, c(1.0));
        };
#endif
        if constexpr (Potential) {
            const V over_r = hn::Mul(y0, series(1. / 2, 3. / 8, 5. / 16, 35. / 128, 63. / 256));
            const V m_over_r = hn::Mul(m, over_r);
            to.phi = hn::Add(to.phi, m_over_r);
            force = hn::Mul(m_over_r, hn::Mul(over_r, over_r));
        } else {
            force = hn::Mul(hn::Mul(hn::Mul(m, y0), s), series(3. / 2, 15. / 8, 35. / 16, 315. / 128, 693. / 256));
        }
    }
    to.ax = hn::MulAdd(force, dx, to.ax);
    to.ay = hn::MulAdd(force, dy, to.ay);
    to.az = hn::MulAdd(force, dz, to.az);
}

/// Adds the attraction of one vector of sources on one target, with a softening for each particle: the formulas of
/// softening/pair.body.hpp. Pairs of two unsoftened particles at one place contribute zero.
template <bool Potential, PairSoftening form, class D, class V = hn::Vec<D>>
HWY_INLINE void interact_softened(D d, Target<D>& to, V x, V y, V z, V m, V term) {
    using Real = hn::TFromD<D>;
    const V dx = hn::Sub(x, to.x), dy = hn::Sub(y, to.y), dz = hn::Sub(z, to.z);
    const V d2 = hn::MulAdd(dz, dz, hn::MulAdd(dy, dy, hn::Mul(dx, dx)));
    const auto factors = combined_pair<Potential, form>(d, d2, hn::Add(term, to.term), hn::Set(d, coincident<Real>));
    const V force = hn::Mul(m, factors.force);
    to.ax = hn::MulAdd(force, dx, to.ax);
    to.ay = hn::MulAdd(force, dy, to.ay);
    to.az = hn::MulAdd(force, dz, to.az);
    if constexpr (Potential) to.phi = hn::MulAdd(m, factors.potential, to.phi);
}

/// The pair in any form. @param at  softening terms of the sources, where pairs combine softenings
template <bool Potential, PairSoftening form, class D, class V = hn::Vec<D>>
HWY_INLINE void attract(D d, Target<D>& to, V x, V y, V z, V m, V eps2, const hn::TFromD<D>* at) {
    if constexpr (own_softening(form))
        interact_softened<Potential, form>(d, to, x, y, z, m, hn::Load(d, at));
    else
        interact<Potential, form == PairSoftening::common>(d, to, x, y, z, m, eps2);
}

/// Components of a source in memory.
template <PairSoftening form>
constexpr index_t rows = own_softening(form) ? 5 : 4;

/// Adds the sources [from, to) of a run, whole groups.
template <bool Potential, PairSoftening form, class D, class Real = hn::TFromD<D>>
HWY_INLINE void pull(D d, Target<D> (&target)[block_size], const Real* run, index_t from, index_t to, hn::Vec<D> eps2) {
    constexpr index_t group = source_group<Real>;
    const Real* const end = run + rows<form> * to;
    for (const Real* at = run + rows<form> * from; at < end; at += rows<form> * group)
        for (index_t l = 0; l < group; l += static_cast<index_t>(hn::Lanes(d))) {
            const auto x = hn::Load(d, at + l), y = hn::Load(d, at + group + l);
            const auto z = hn::Load(d, at + 2 * group + l), m = hn::Load(d, at + 3 * group + l);
#pragma GCC unroll 8
            for (int k = 0; k < block_size; ++k) attract<Potential, form>(d, target[k], x, y, z, m, eps2, at + 4 * group + l);
        }
}

/// The same for sources that contain the targets: target k is source `own` + k of the run.
template <bool Potential, PairSoftening form, class D, class Real = hn::TFromD<D>>
HWY_NOINLINE void pull_but_own(D d, Target<D> (&target)[block_size], const Real* run, index_t from, index_t to, index_t own,
                               hn::Vec<D> eps2) {
    constexpr index_t group = source_group<Real>;
    for (index_t j = from; j < to; j += group)
        for (index_t l = 0; l < group; l += static_cast<index_t>(hn::Lanes(d))) {
            const Real* const at = run + rows<form> * j + l;
            const auto x = hn::Load(d, at), y = hn::Load(d, at + group), z = hn::Load(d, at + 2 * group), m = hn::Load(d, at + 3 * group);
            const auto index = hn::Iota(d, static_cast<Real>(j + l));
            for (int k = 0; k < block_size; ++k) {
                const auto is_own = hn::Eq(index, hn::Set(d, static_cast<Real>(own + k)));
                attract<Potential, form>(d, target[k], x, y, z, hn::IfThenZeroElse(is_own, m), eps2, at + 4 * group);
            }
        }
}

/// Divides terms into parts and adds them: BinnedSum::add on as many neighbouring sums as there are lanes.
template <class D>
HWY_INLINE void add_parts(D d, hn::Vec<D> term, const SimdSums& to, const double* bins, double* sums) {
    const auto add_part = [&](int k) HWY_ATTR {
        const auto shift = hn::LoadU(d, bins + k * bins_width);
        const auto part = hn::Sub(hn::Add(term, shift), shift);
        term = hn::Sub(term, part);
        hn::Store(hn::Add(hn::Load(d, sums + k * SimdSums::stride), part), d, sums + k * SimdSums::stride);
    };
    add_part(0), add_part(1);
    for (int k = 2; k < to.parts; ++k) add_part(k);
}

#if HWY_TARGET != HWY_SCALAR
/// Adds neighbouring 128-bit lanes: [a0 + a1, …, b0 + b1, …].
template <class D, class V = hn::Vec<D>>
HWY_INLINE V fold(D d, V a, V b) {
#if HWY_TARGET == HWY_AVX3
    static_cast<void>(d);
    if constexpr (sizeof(hn::TFromD<D>) == 4)
        return hn::Add(V{_mm512_shuffle_f32x4(a.raw, b.raw, 0x88)}, V{_mm512_shuffle_f32x4(a.raw, b.raw, 0xdd)});
    else
        return hn::Add(V{_mm512_shuffle_f64x2(a.raw, b.raw, 0x88)}, V{_mm512_shuffle_f64x2(a.raw, b.raw, 0xdd)});
#else
    return hn::Add(hn::ConcatLowerLower(d, b, a), hn::ConcatUpperUpper(d, b, a));
#endif
}
#endif

/// Adds the field of one grain at a group of targets, the first of which is number i. The lanes are summed by transposing and adding in
/// one: after each step a vector holds half as many lanes of twice as many sums.
template <class D>
HWY_INLINE void flush(D d, const Target<D> (&target)[block_size], index_t i, const SimdSums& to) {
    const hn::ScalableTag<double> dd;
    double* sums = to.of(i);
#if HWY_TARGET == HWY_SCALAR
    static_cast<void>(d);
    for (int k = 0; k < block_size; ++k, sums += sum_components) {
        const auto component = [&](int c, hn::Vec<D> sum) {
            add_parts(dd, hn::Set(dd, static_cast<double>(hn::GetLane(sum))), to, to.bins + c, sums + c);
        };
        component(0, target[k].ax), component(1, target[k].ay), component(2, target[k].az), component(3, target[k].phi);
    }
#else
    constexpr bool in_float = sizeof(hn::TFromD<D>) == 4;
    constexpr int blocks = static_cast<int>(hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) / 16), vectors = block_size * (in_float ? 1 : 2);
    hn::Vec<D> sum[vectors];
#pragma GCC unroll 8
    for (int k = 0; k < block_size; ++k) {
        const auto& t = target[k];
        const auto xy = hn::Add(hn::InterleaveLower(d, t.ax, t.ay), hn::InterleaveUpper(d, t.ax, t.ay));
        const auto zp = hn::Add(hn::InterleaveLower(d, t.az, t.phi), hn::InterleaveUpper(d, t.az, t.phi));
        if constexpr (in_float) {
            const auto xy2 = hn::BitCast(dd, xy), zp2 = hn::BitCast(dd, zp);
            sum[k] = hn::Add(hn::BitCast(d, hn::InterleaveLower(dd, xy2, zp2)), hn::BitCast(d, hn::InterleaveUpper(dd, xy2, zp2)));
        } else {
            sum[2 * k] = xy, sum[2 * k + 1] = zp;
        }
    }
#pragma GCC unroll 4
    for (int per_sum = blocks; per_sum > 1; per_sum /= 2)
#pragma GCC unroll 8
        for (int v = 0; v < vectors * per_sum / blocks / 2; ++v) sum[v] = fold(d, sum[2 * v], sum[2 * v + 1]);
#pragma GCC unroll 8
    for (int v = 0; v < vectors / blocks; ++v) {
        constexpr index_t width = static_cast<index_t>(hn::MaxLanes(hn::ScalableTag<double>()));
        if constexpr (in_float) {
            const hn::Half<D> half;
            add_parts(dd, hn::PromoteTo(dd, hn::LowerHalf(half, sum[v])), to, to.bins, sums);
            add_parts(dd, hn::PromoteTo(dd, hn::UpperHalf(half, sum[v])), to, to.bins + width % bins_width, sums + width);
            sums += 2 * width;
        } else {
            add_parts(dd, sum[v], to, to.bins + v * width % bins_width, sums);
            sums += width;
        }
    }
#endif
}

/// Evaluates the targets [first, last), both multiples of target_padding.
template <class Real, bool Potential, PairSoftening form>
HWY_NOINLINE void sum_chunk(const SimdJob<Real>& job, index_t first, index_t last) {
    using D = hn::ScalableTag<Real>;
    const D d;
    constexpr index_t group = source_group<Real>;
    const auto eps2 = hn::Set(d, job.eps2);
    const auto whole = [](index_t n) { return (n + group - 1) / group * group; };

    for (index_t start = 0; start < job.sources; start += job.grain) {
        const Real* const run = job.bodies + rows<form> * start;
        const index_t count = whole(std::min(job.grain, job.sources - start));
        for (index_t i = first; i < last; i += block_size) {
            Target<D> target[block_size];
            for (int k = 0; k < block_size; ++k) {
                const auto zero = hn::Zero(d);
                target[k].x = hn::Set(d, job.x[i + k]), target[k].y = hn::Set(d, job.y[i + k]), target[k].z = hn::Set(d, job.z[i + k]);
                target[k].ax = target[k].ay = target[k].az = target[k].phi = zero;
                if constexpr (own_softening(form)) target[k].term = hn::Set(d, job.term[i + k]);
            }
            const index_t own = i + job.shift - start;
            if (!Potential || !job.leaves_out_own || own + block_size <= 0 || own >= count) {
                pull<Potential, form>(d, target, run, 0, count, eps2);
            } else {
                const index_t from = std::max<index_t>(own, 0) / group * group, to = std::min(count, whole(own + block_size));
                pull<Potential, form>(d, target, run, 0, from, eps2);
                pull_but_own<Potential, form>(d, target, run, from, to, own, eps2);
                pull<Potential, form>(d, target, run, to, count, eps2);
            }
            flush(d, target, i, job.sums);
        }
    }
}

template <class Real>
void choose(const SimdJob<Real>& job, index_t first, index_t last) {
    const auto sum = [&]<PairSoftening form>() {
        job.potential ? sum_chunk<Real, true, form>(job, first, last) : sum_chunk<Real, false, form>(job, first, last);
    };
    using enum PairSoftening;
    switch (job.form) {
        case none: return sum.template operator()<none>();
        case common: return sum.template operator()<common>();
        case plummer: return sum.template operator()<plummer>();
        case spline: return sum.template operator()<spline>();
    }
}

void sum_single(const SimdJob<float>& job, index_t first, index_t last) { choose(job, first, last); }
void sum_double(const SimdJob<double>& job, index_t first, index_t last) { choose(job, first, last); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kasane::gravity::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane::gravity::detail {
namespace {

HWY_EXPORT(sum_single);
HWY_EXPORT(sum_double);

/// Highway detects the processor here once, not at every call through its table.
void choose_target() {
    if (!hwy::GetChosenTarget().IsInitialized()) hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
auto kernel(float) { return choose_target(), HWY_DYNAMIC_DISPATCH(sum_single); }
auto kernel(double) { return choose_target(), HWY_DYNAMIC_DISPATCH(sum_double); }

}  // namespace

template <class Real>
void add_simd(const SimdJob<Real>& job, int threads) {
    // At least four chunks per thread, so that threads do not wait long for the slowest.
    const auto whole = [](index_t n) { return (n + target_padding - 1) / target_padding * target_padding; };
    const index_t padded = whole(job.targets), chunk = std::clamp(whole(job.targets / (4 * threads)), target_padding, chunk_size);
    const auto sum = kernel(Real());
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (padded > chunk)
    for (index_t first = 0; first < padded; first += chunk) sum(job, first, std::min(first + chunk, padded));
}

template void add_simd(const SimdJob<float>&, int);
template void add_simd(const SimdJob<double>&, int);

}  // namespace kasane::gravity::detail
#endif
