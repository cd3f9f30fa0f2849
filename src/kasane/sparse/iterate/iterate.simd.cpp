// The iterations on the CPU: one parallel region around the whole solve, loops divided by hand into each thread's segments, a barrier
// only where a colour ends or a sum is needed (see cost_of()).                            [HOHNI17, section 6.2, extended to all phases]
// A phase works batch by batch: products of up to `batch` rows into a buffer in the first-level cache, then finish() over the batch;
// both loops are vectors over neighbouring rows, in the instruction set that is chosen at run time.
#include <kasane/perf/simd_targets.hpp>
#include <kasane/sparse/iterate/iterate.hpp>
#include <kasane/sparse/iterate/threads.hpp>

// Without AVX2 there are no gathers: SSE would not be faster than the baseline.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kasane/sparse/iterate/iterate.simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <kasane/sparse/iterate/gather.simd.hpp>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace kasane::sparse {
namespace HWY_NAMESPACE {

constexpr int batch = 128;  ///< rows: 1 KiB of products

/// sum[l] += products of row first + l, l = 0 .. n - 1.
template <class T>
void add_products(const CsrRows<T>& rows, const double* x, index_t first, int n, double* sum) {
    for (int l = 0; l < n; ++l) {
        const index_t begin = rows.offset[first + l], end = rows.offset[first + l + 1];
        double s = 0;
        for (index_t e = begin; e < end; ++e) s += static_cast<double>(rows.value[e]) * x[rows.column[e]];
        sum[l] += s;
    }
}

namespace hn = hwy::HWY_NAMESPACE;

/// How entries are loaded.
template <bool gathers_, bool prefetches_>
struct Loads {
    static constexpr bool gathers = gathers_;        ///< by the processor's instruction; false: a load for each lane
    static constexpr bool prefetches = prefetches_;  ///< entries `ahead` are requested
};

/// Prefetch distance of entries. The prefetchers of Intel processors stop at pages and chunks: two AVX-512 cores, 128^3, two colours,
/// GB/s of the iteration's bytes without 18.1, with 256 entries 19.7, 1024 21.5, 4096 21.3; the triad there 26.
constexpr int ahead = 1024;

inline auto load_values(Doubles d, const double* from) { return hn::LoadU(d, from); }
inline auto load_values(Doubles d, const float* from) { return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Doubles>(), from)); }

/// Where the factors of a vector of neighbouring rows are: at places of their own.
template <class How>
struct AtPlaces {
    const std::int32_t* place;
    index_t stride;
    HWY_INLINE auto load(Doubles d, const double* x, int k) const {
        if constexpr (How::prefetches)
            if (k % 2 == 0) __builtin_prefetch(place + k * stride + ahead);
        return gather<How::gathers>(d, x, place + k * stride);
    }
    AtPlaces from(int lane) const { return {place + lane, stride}; }
    double of_lane(const double* x, int lane, int k) const { return x[place[lane + k * stride]]; }
};

/// ... or side by side, as on a grid.
struct SideBySide {
    const std::int32_t* first;  ///< of each column
    int lane;
    HWY_INLINE auto load(Doubles d, const double* x, int k) const { return hn::LoadU(d, x + first[k] + lane); }
    SideBySide from(int more) const { return {first, lane + more}; }
    double of_lane(const double* x, int more, int k) const { return x[first[k] + lane + more]; }
};

/// One vector of neighbouring rows, `stride` from column to column; with a width known at compile time there is no loop.
template <class How, int fixed_width, class T, class Factors>
HWY_INLINE auto row_products(const T* value, const Factors& factors, index_t stride, int width, const double* x) {
    const Doubles d;
    auto sum = hn::Zero(d);
    const int columns = fixed_width > 0 ? fixed_width : width;
    for (int k = 0; k < columns; ++k) {
        if constexpr (How::prefetches) __builtin_prefetch(value + k * stride + ahead);
        sum = hn::MulAdd(load_values(d, value + k * stride), factors.load(d, x, k), sum);
    }
    return sum;
}

/// n rows whose entries are neighbours.
template <class How, int fixed_width, class T, class Factors>
HWY_INLINE void add_columns_of(const T* value, const Factors& factors, index_t stride, int width, const double* x, int n, double* sum) {
    const Doubles d;
    const int lanes = static_cast<int>(hn::Lanes(d));
    int l = 0;
    for (; l + lanes <= n; l += lanes)
        hn::StoreU(hn::Add(hn::LoadU(d, sum + l), row_products<How, fixed_width>(value + l, factors.from(l), stride, width, x)), d,
                   sum + l);
    for (; l < n; ++l)
        for (int k = 0; k < width; ++k) sum[l] += static_cast<double>(value[l + k * stride]) * factors.of_lane(x, l, k);
}

/// The widths of triangles of a 7-point graph have specialised code; any other uses a loop.
template <class How, class T, class Factors>
HWY_INLINE void add_columns(const T* value, const Factors& factors, index_t stride, int width, const double* x, int n, double* sum) {
    switch (width) {
        case 0: return;
        case 3: return add_columns_of<How, 3>(value, factors, stride, width, x, n, sum);
        case 6: return add_columns_of<How, 6>(value, factors, stride, width, x, n, sum);
        default: add_columns_of<How, 0>(value, factors, stride, width, x, n, sum);
    }
}

template <class How, class T>
void add_products(const SellRows<T>& rows, const double* x, index_t first, int n, double* sum) {
    for (int l = 0; l < n;) {
        const index_t chunk = rows.chunk_of(first + l), lane = first + l - chunk * rows.chunk;
        const int here = static_cast<int>(std::min<index_t>(rows.chunk - lane, n - l));
        const index_t begin = rows.offset[chunk];
        const int width = rows.width(chunk);
        const auto* const value = rows.value + begin + lane;
        const auto* const columns = rows.first ? rows.first + rows.over_chunk(begin) : nullptr;
        if (width == 0) {
            l += here;
            continue;
        }
        if (columns && *columns >= 0) {
            add_columns<How>(value, SideBySide{columns, static_cast<int>(lane)}, rows.chunk, width, x, here, sum + l);
        } else {
            const auto* const column = columns ? rows.apart + index_t{-1 - *columns} * rows.chunk : rows.column + begin;
            add_columns<How>(value, AtPlaces<How>{column + lane, rows.chunk}, rows.chunk, width, x, here, sum + l);
        }
        l += here;
    }
}

template <class How, class T>
void add_products(const SliceRows<T>& rows, const double* x, index_t first, int n, double* sum) {
    const index_t at = rows.slice.offset + (first - rows.slice.begin);
    add_columns<How>(rows.value + at, AtPlaces<How>{rows.column + at, rows.slice.rows}, rows.slice.rows, rows.slice.width, x, n, sum);
}

template <class How, class T>
void add_products(const Triangle<Cpu, T>& t, std::size_t segment, const double* x, index_t first, int n, double* sum) {
    if (t.kind == FormatKind::csr)
        add_products(t.csr(), x, first, n, sum);
    else if (t.kind == FormatKind::sell)
        add_products<How>(t.sell(), x, first, n, sum);
    else
        add_products<How>(t.slices(segment), x, first, n, sum);
}

template <class How, class Phase>
void do_rows(const System<Cpu>& system, const Phase& phase, std::size_t segment, index_t first, int n, Sums& sums) {
    alignas(64) double product[batch];
    std::fill(product, product + n, 0.);
    const double* const x = phase.gathered();
    const bool own = system.factor == FactorKind::own_values;
    if constexpr (Phase::operand == Operand::lower || Phase::operand == Operand::whole)
        add_products<How>(system.lower, segment, x, first, n, product);
    if constexpr (Phase::operand == Operand::upper || Phase::operand == Operand::whole)
        add_products<How>(system.upper, segment, x, first, n, product);
    if constexpr (Phase::operand == Operand::factor_lower)
        if (system.factor != FactorKind::identity) {
            if (system.single_factor)
                add_products<How>(system.factor_lower_f, segment, x, first, n, product);
            else
                add_products<How>(own ? system.factor_lower : system.lower, segment, x, first, n, product);
        }
    if constexpr (Phase::operand == Operand::factor_upper)
        if (system.factor != FactorKind::identity) {
            if (system.single_factor)
                add_products<How>(system.factor_upper_f, segment, x, first, n, product);
            else
                add_products<How>(own ? system.factor_upper : system.upper, segment, x, first, n, product);
        }
    const Phase local = phase;  // addresses in registers: behind a reference GCC stores by scatter instructions
    double a = 0, b = 0;
#pragma omp simd reduction(+ : a, b)
    for (int l = 0; l < n; ++l) {
        Sums own_row;
        local.finish(first + l, product[l], own_row);
        a += own_row.a;
        b += own_row.b;
    }
    sums.a += a;
    sums.b += b;
}

/// Processes a segment, its steps in ascending or descending order; with steps, chunks of a group depend on each other.
template <class How, class Phase>
void do_segment(const System<Cpu>& system, const Phase& phase, std::size_t segment, Sums& sums) {
    constexpr bool up = !descending(Phase::operand);
    const Layout<Cpu>& layout = system.layout;
    const Segment rows = layout.segment[segment];
    if (layout.steps == 1) {
        for (index_t first = rows.begin; first < rows.end; first += batch)
            do_rows<How>(system, phase, segment, first, static_cast<int>(std::min<index_t>(batch, rows.end - first)), sums);
        return;
    }
    const int chunk = layout.shape.chunk;
    for (index_t group = rows.begin; group < rows.end; group += static_cast<index_t>(chunk) * layout.steps)
        for (int j = 0; j < layout.steps; ++j) {
            const index_t step = group + static_cast<index_t>(up ? j : layout.steps - 1 - j) * chunk;
            for (int l = 0; l < chunk; l += batch) do_rows<How>(system, phase, segment, step + l, std::min(batch, chunk - l), sums);
        }
}

template <class How>
struct Work {
    const System<Cpu>& system;
    template <class Phase>
    void operator()(const Phase& phase, std::size_t segment, Sums& sums) const {
        do_segment<How>(system, phase, segment, sums);
    }
};

IterationLog iterate_here(const System<Cpu>& system, IterationVectors<Cpu>& v, const IterationTask& task) {
    if (task.gather_instruction) return run_on_threads(system, v, task, Work<Loads<true, true>>{system});
    if (task.prefetches) return run_on_threads(system, v, task, Work<Loads<false, true>>{system});
    return run_on_threads(system, v, task, Work<Loads<false, false>>{system});
}

}  // namespace HWY_NAMESPACE
}  // namespace kasane::sparse
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kasane::sparse {

HWY_EXPORT(iterate_here);

template <>
IterationLog iterate(const System<Cpu>& system, IterationVectors<Cpu>& v, const IterationTask& task) {
    return HWY_DYNAMIC_DISPATCH(iterate_here)(system, v, task);
}

}  // namespace kasane::sparse
#endif
