// The variant `simd`: sources go through vector registers, a few targets stay in registers, threads share out the targets.
// Invariants: a target's sums run over the sources in one order, whatever the threads; every pair is evaluated for a target
// (no use of Newton's third law); no branch and no division or square root in the inner loop.
//
// Why Highway: measured in 1e9 interactions/s, accelerations, N = 4096, one core with AVX-512 at about 3.7 GHz, g++ 12.2 (2026-11):
//                                                          float AVX2 / AVX-512      double AVX2 / AVX-512
//     this file                                             4.9       6.7             1.43      2.75
//     this file with square root and division                                         0.80      0.76
//     omp simd, -ffast-math (target_clones: the same)        4.1       3.4             0.81      0.75
//     std::experimental::simd, 4 targets (with -ffast-math)  2.8 (3.7) 2.7 (4.1)       0.80      0.75
// Only intrinsics reach the estimate of 1/sqrt in double without -ffast-math, and Highway chooses the instruction set at run time.
// Bound by the instruction mix (bound_cpu.cpp): N >= 4096 runs at 85 to 93% of it (AVX-512; AVX2: float 88 to 94%, double 71 to 82%).
// Blocks of 4 targets beat 2 by 3% with AVX-512's 32 registers; with AVX2's 16, blocks of 2 beat 4 by 7% in float.
#include <kasane/gravity/direct/variants.hpp>
#include <kasane/perf/simd_targets.hpp>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/gravity/direct/direct.simd.cpp"
#include <hwy/foreach_target.h>

#include <kasane/core/math/rsqrt.simd.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#if !defined(KASANE_DIRECT_SIMD_ONCE)
#define KASANE_DIRECT_SIMD_ONCE

namespace kasane::gravity::detail {
namespace {

/// Sources lie in tiles x[], y[], z[], m[] of this many numbers each: 16 KiB a tile, which stays in the first-level cache
/// while a chunk of targets passes. A tile is also the run that float sums before double takes over.
template <class Real>
constexpr index_t tile_size = static_cast<index_t>(4096 / sizeof(Real));

/// Sources are padded by massless ones to full vectors of any instruction set.
constexpr index_t source_padding = 16;

/// Targets that a thread takes at a time, at most; their sums stay in the first-level cache.
constexpr index_t chunk_size = 64;

/// Below this r^2 (in units of the extent of the particles) an unsoftened pair contributes zero: r^-3 stays finite above.
template <class Real>
constexpr Real coincident = Real(sizeof(Real) == 4 ? 1e-24 : 1e-200);

/// From this eps^2 on (same units) the loop without a mask is safe: r^-3 stays finite, and r^2 is a normal float.
template <class Real>
constexpr double softened_from = sizeof(Real) == 4 ? 1e-24 : 1e-30;

/// What a chunk needs to know. Lengths and masses are scaled by powers of two to at most 1, so that any unit fits into float.
template <class Real>
struct SimdJob {
    const Real* tiles;
    index_t sources;
    const Real *x, *y, *z;  ///< targets, padded by one block
    index_t targets;
    index_t shift;  ///< target i is source i + shift
    Real eps2;
    bool potential;
    bool softened;
    bool sums_in_double;
    double per_acceleration, per_potential;  ///< what the scaled field is multiplied by
    Field out;
};

}  // namespace
}  // namespace kasane::gravity::detail
#endif

HWY_BEFORE_NAMESPACE();
namespace kasane::gravity::detail {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// How many targets stay in registers: as many as the register file holds with their positions and sums.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int block_size = 4;
#else
constexpr int block_size = 2;
#endif

template <class D>
struct Target {
    hn::Vec<D> x, y, z;
    hn::Vec<D> ax, ay, az, phi;
    HWY_INLINE Target() {}  // written out: an implicit one is compiled for the baseline and cannot take in NEON's constructors
};

/// Adds the pull of one vector of sources on one target. With y0 ~ 1/r the estimate and h = r^2 y0^2 = 1 - t, the factors
/// r^-3 = y0^3 h^(-3/2) and r^-1 = y0 h^(-1/2) come from their Taylor series in t. Constant factors are left to the end:
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
        // |t| < a. The first power left out is economised: t^4 -> a^2 t^2 and t^5 -> 5/4 a^2 t^3 - 5/16 a^4 t are right to
        // a^4 / 8 and a^5 / 16 (Chebyshev), less than 1e-16 here.
        constexpr double a = 2 * kasane::HWY_NAMESPACE::rsqrt_estimate_error, a2 = a * a;
#if HWY_TARGET == HWY_AVX3
        const auto series = [&](double c1, double c2, double c3, double c4, double) HWY_ATTR {
            return hn::MulAdd(hn::MulAdd(hn::MulAdd(c(c3), t, c(c2 + c4 * a2)), t, c(c1)), t, c(1.0));
        };
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

/// The sources [from, to) of a tile, full vectors.
template <bool Potential, bool Softened, class D, class Real = hn::TFromD<D>>
HWY_INLINE void pull(D d, Target<D> (&target)[block_size], const Real* tile, index_t from, index_t to, hn::Vec<D> eps2) {
    const Real* const end = tile + to;
    for (const Real* at = tile + from; at < end; at += hn::Lanes(d)) {
        const auto x = hn::Load(d, at), y = hn::Load(d, at + tile_size<Real>);
        const auto z = hn::Load(d, at + 2 * tile_size<Real>), m = hn::Load(d, at + 3 * tile_size<Real>);
#pragma GCC unroll 8
        for (int k = 0; k < block_size; ++k) interact<Potential, Softened>(d, target[k], x, y, z, m, eps2);
    }
}

/// The same where the block's own sources lie: own[k] = source `own` + k of the tile.
template <bool Potential, bool Softened, class D, class Real = hn::TFromD<D>>
HWY_NOINLINE void pull_but_own(D d, Target<D> (&target)[block_size], const Real* tile, index_t from, index_t to, index_t own,
                               hn::Vec<D> eps2) {
    for (index_t j = from; j < to; j += static_cast<index_t>(hn::Lanes(d))) {
        const auto x = hn::Load(d, tile + j), y = hn::Load(d, tile + j + tile_size<Real>);
        const auto z = hn::Load(d, tile + j + 2 * tile_size<Real>), m = hn::Load(d, tile + j + 3 * tile_size<Real>);
        const auto index = hn::Iota(d, static_cast<Real>(j));
        for (int k = 0; k < block_size; ++k) {
            const auto is_own = hn::Eq(index, hn::Set(d, static_cast<Real>(own + k)));
            interact<Potential, Softened>(d, target[k], x, y, z, hn::IfThenZeroElse(is_own, m), eps2);
        }
    }
}

/// sum[] += run
template <class D, class V = hn::Vec<D>>
HWY_INLINE void flush(D d, V run, hn::TFromD<D>* sum) {
    hn::Store(hn::Add(hn::Load(d, sum), run), d, sum);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE void flush(D d, V run, double* sum)
    requires(sizeof(hn::TFromD<D>) == 4)
{
    const hn::ScalableTag<double> dd;
#if HWY_TARGET == HWY_SCALAR
    static_cast<void>(d);
    const auto half = run;
#else
    const hn::Half<D> dh;
    const auto half = hn::Add(hn::LowerHalf(dh, run), hn::UpperHalf(dh, run));
#endif
    hn::Store(hn::Add(hn::Load(dd, sum), hn::PromoteTo(dd, half)), dd, sum);
}

template <class Sum>
double total(const Sum* sums) {
    double all = 0;
    for (std::size_t l = 0; l < hn::Lanes(hn::ScalableTag<Sum>()); ++l) all += static_cast<double>(sums[l]);
    return all;
}

/// Targets [first, last), first a multiple of the block size.
template <class Real, class Sum, bool Potential, bool Softened>
HWY_NOINLINE void sum_chunk(const SimdJob<Real>& job, index_t first, index_t last) {
    using D = hn::ScalableTag<Real>;
    const D d;
    constexpr index_t lanes = HWY_MAX_BYTES / sizeof(Sum), components = Potential ? 4 : 3;
    HWY_ALIGN_MAX Sum sums[chunk_size * components * lanes];
    std::memset(sums, 0, sizeof sums);
    const auto eps2 = hn::Set(d, job.eps2);
    const auto width = static_cast<index_t>(hn::Lanes(d));

    for (index_t start = 0; start < job.sources; start += tile_size<Real>) {
        const Real* const tile = job.tiles + 4 * start;
        const index_t count = (std::min(tile_size<Real>, job.sources - start) + width - 1) / width * width;
        for (index_t i = first; i < last; i += block_size) {
            Target<D> target[block_size];
            for (int k = 0; k < block_size; ++k) {
                const auto zero = hn::Zero(d);
                target[k].x = hn::Set(d, job.x[i + k]), target[k].y = hn::Set(d, job.y[i + k]), target[k].z = hn::Set(d, job.z[i + k]);
                target[k].ax = target[k].ay = target[k].az = target[k].phi = zero;
            }
            const index_t own = i + job.shift - start;
            if (job.shift == Self::none || own + block_size <= 0 || own >= count) {
                pull<Potential, Softened>(d, target, tile, 0, count, eps2);
            } else {
                const index_t from = std::max<index_t>(own, 0) / width * width;
                const index_t to = std::min(count, (own + block_size + width - 1) / width * width);
                pull<Potential, Softened>(d, target, tile, 0, from, eps2);
                pull_but_own<Potential, Softened>(d, target, tile, from, to, own, eps2);
                pull<Potential, Softened>(d, target, tile, to, count, eps2);
            }
            for (int k = 0; k < block_size; ++k) {
                Sum* const sum = sums + (i - first + k) * components * lanes;
                flush(d, target[k].ax, sum);
                flush(d, target[k].ay, sum + lanes);
                flush(d, target[k].az, sum + 2 * lanes);
                if constexpr (Potential) flush(d, target[k].phi, sum + 3 * lanes);
            }
        }
    }

    for (index_t i = first; i < std::min(last, job.targets); ++i) {
        const Sum* const sum = sums + (i - first) * components * lanes;
        if (!job.out.acceleration.empty())
            job.out.acceleration[i] = job.per_acceleration * Vec3<double>{total(sum), total(sum + lanes), total(sum + 2 * lanes)};
        if constexpr (Potential) job.out.potential[i] = job.per_potential * total(sum + 3 * lanes);
    }
}

template <class Real, class Sum>
void choose(const SimdJob<Real>& job, index_t first, index_t last) {
    if (job.potential)
        job.softened ? sum_chunk<Real, Sum, true, true>(job, first, last) : sum_chunk<Real, Sum, true, false>(job, first, last);
    else
        job.softened ? sum_chunk<Real, Sum, false, true>(job, first, last) : sum_chunk<Real, Sum, false, false>(job, first, last);
}

void sum_single(const SimdJob<float>& job, index_t first, index_t last) {
    job.sums_in_double ? choose<float, double>(job, first, last) : choose<float, float>(job, first, last);
}

void sum_double(const SimdJob<double>& job, index_t first, index_t last) { choose<double, double>(job, first, last); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace kasane::gravity::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane::gravity::detail {
namespace {

HWY_EXPORT(sum_single);
HWY_EXPORT(sum_double);

/// The processor is asked once, not at every call of the table's first entry.
void choose_target() {
    if (!hwy::GetChosenTarget().IsInitialized()) hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}
auto kernel(float) { return choose_target(), HWY_DYNAMIC_DISPATCH(sum_single); }
auto kernel(double) { return choose_target(), HWY_DYNAMIC_DISPATCH(sum_double); }

index_t round_up(index_t n, index_t to) { return (n + to - 1) / to * to; }

struct Box {
    Vec3<double> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
};

void enclose(Box& box, View<const Vec3<double>> x, int threads) {
    double x0 = box.low.x, y0 = box.low.y, z0 = box.low.z, x1 = box.high.x, y1 = box.high.y, z1 = box.high.z;
#pragma omp parallel for num_threads(threads) if (x.n > 16384) reduction(min : x0, y0, z0) reduction(max : x1, y1, z1)
    for (index_t i = 0; i < x.n; ++i) {
        x0 = std::min(x0, x[i].x), y0 = std::min(y0, x[i].y), z0 = std::min(z0, x[i].z);
        x1 = std::max(x1, x[i].x), y1 = std::max(y1, x[i].y), z1 = std::max(z1, x[i].z);
    }
    box = {{x0, y0, z0}, {x1, y1, z1}};
}

/// The power of two just above a magnitude; 1 for zero. What is no number (a run that blew up) has an exponent of its own.
double power_above(double magnitude) {
    return magnitude > 0 ? std::ldexp(1.0, std::clamp(std::ilogb(magnitude), -1001, 999) + 1) : 1.0;
}

}  // namespace

template <class Real>
void DirectSimd::run(Cpu on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self,
                     const Field& out) {
    const index_t n = sources.position.n, padded = round_up(n, source_padding);
    const index_t blocks = round_up(targets.n, 4);  // covers every block size
    const int threads = thread_count(on);
    scratch_.reserve_discarding(static_cast<index_t>(memory(targets.n, n, options.precision)));
    Real* const tiles = reinterpret_cast<Real*>(scratch_.data());
    Real* const x = tiles + 4 * round_up(n, tile_size<Real>);
    Real *const y = x + blocks, *const z = y + blocks;

    // Float resolves places best near its origin: the center of mass lies where the particles are dense, whatever the outliers,
    // or between the dense places. (One thread sums, so that the origin's last bit does not depend on the threads.)
    // Double needs no shift, which would cost it digits of close pairs; it is scaled alone.
    constexpr bool shifts = sizeof(Real) == 4;
    double heaviest = 0, total_mass = 0;
    for (index_t j = 0; j < n; ++j) heaviest = std::max(heaviest, sources.mass[j]);
    const double mass = power_above(heaviest);
    Vec3<double> origin;
    for (index_t j = 0; shifts && j < n; ++j) {
        total_mass += sources.mass[j] / mass;
        origin += sources.mass[j] / mass * sources.position[j];
    }
    origin = total_mass > 0 ? (1 / total_mass) * origin : targets[0];
    if (!shifts) origin = {};
    Box box;
    enclose(box, sources.position, threads);
    enclose(box, targets, threads);
    const auto reach = [](const Vec3<double>& a) { return std::max({std::abs(a.x), std::abs(a.y), std::abs(a.z)}); };
    const double length = power_above(std::max({reach(box.low - origin), reach(box.high - origin), options.softening}));
    const auto place = [&](double coordinate, double middle) { return static_cast<Real>((coordinate - middle) / length); };

#pragma omp parallel for schedule(static) num_threads(threads) if (n > 4096)
    for (index_t j = 0; j < padded; ++j) {
        Real* const at = tiles + j / tile_size<Real> * 4 * tile_size<Real> + j % tile_size<Real>;
        const auto position = j < n ? sources.position[j] : origin;
        at[0] = place(position.x, origin.x);
        at[tile_size<Real>] = place(position.y, origin.y);
        at[2 * tile_size<Real>] = place(position.z, origin.z);
        at[3 * tile_size<Real>] = j < n ? static_cast<Real>(sources.mass[j] / mass) : Real(0);
    }
#pragma omp parallel for schedule(static) num_threads(threads) if (blocks > 4096)
    for (index_t i = 0; i < blocks; ++i) {
        const auto position = targets[std::min(i, targets.n - 1)];
        x[i] = place(position.x, origin.x);
        y[i] = place(position.y, origin.y);
        z[i] = place(position.z, origin.z);
    }

    const double eps = options.softening / length;
    SimdJob<Real> job{tiles, n, x, y, z, targets.n, self.shift, static_cast<Real>(eps * eps), !out.potential.empty(),
                      eps * eps >= softened_from<Real>, options.accumulation == Accumulation::double_,
                      options.G * mass / length / length, -options.G * mass / length, out};
    if (shifts) {  // the factors that interact() leaves out
        job.per_acceleration *= job.potential ? 1. / 8 : 3. / 2;
        job.per_potential *= 1. / 2;
    }
    // At least four chunks a thread, that the slowest does not keep the others waiting.
    const index_t chunk = std::clamp(round_up(targets.n / (4 * threads), 4), index_t{4}, chunk_size);
    const auto sum = kernel(Real());
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (targets.n > 4)
    for (index_t first = 0; first < targets.n; first += chunk) sum(job, first, std::min(first + chunk, blocks));
}

void DirectSimd::operator()(Cpu on, const Direct& options, View<const Vec3<double>> targets, const Sources& sources, Self self,
                            const Field& out) {
    if (targets.n == 0) return;
    if (options.precision == Precision::single_)
        run<float>(on, options, targets, sources, self, out);
    else
        run<double>(on, options, targets, sources, self, out);
}

std::uint64_t DirectSimd::memory(index_t targets, index_t sources, Precision precision) {
    const auto bytes = [&](auto real, index_t tile) {
        return sizeof(real) * static_cast<std::uint64_t>(4 * round_up(sources, tile) + 3 * round_up(targets, 4));
    };
    return precision == Precision::single_ ? bytes(float(), tile_size<float>) : bytes(double(), tile_size<double>);
}

}  // namespace kasane::gravity::detail
#endif
