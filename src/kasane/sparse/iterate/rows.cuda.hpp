// Rows on a device: how the entries of a row are fetched, and which rows a thread has.
// Invariants: a thread of the same grid has the same rows of a colour in every phase; the matrix, which changes never, passes by the first
// cache and leaves the second one early, so that vectors stay there; vectors are read coherently, as other blocks have written them.
#pragma once

#include <kasane/sparse/iterate/phases.body.hpp>
#include <kasane/sparse/system.hpp>

#include <cstdint>
#include <type_traits>

namespace kasane::sparse::device {

/// How the matrix passes through the caches.
enum class Stream { plain, evict_first };

/// Reads what no kernel writes while it runs. A policy is made once per thread: it lies in a register.
template <Stream how>
class Fetch {
   public:
    __device__ Fetch() {
        if constexpr (how == Stream::evict_first)
            asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy_));
    }
    __device__ std::int32_t operator()(const std::int32_t* from) const {
        if constexpr (how == Stream::plain) return __ldg(from);
        std::int32_t value;
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(value) : "l"(from), "l"(policy_));
        return value;
    }
    __device__ float operator()(const float* from) const {
        if constexpr (how == Stream::plain) return __ldg(from);
        float value;
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(from), "l"(policy_));
        return value;
    }
    __device__ double operator()(const double* from) const {
        if constexpr (how == Stream::plain) return __ldg(from);
        double value;
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(value) : "l"(from), "l"(policy_));
        return value;
    }

   private:
    std::uint64_t policy_ = 0;
};

/// A triangle in the memory of a device, with its slices there too where it has any.
template <template <class> class Rows, class T>
struct Stored {
    Rows<T> rows{};
    const Slice* slice = nullptr;  ///< [colors * parts] of SliceRows
    __device__ Rows<T> of(int segment) const {
        Rows<T> mine = rows;
        if constexpr (std::is_same_v<Rows<T>, SliceRows<T>>) mine.slice = slice[segment];
        return mine;
    }
};

/// Entries of a row that are fetched together before the first is used.
inline constexpr int together = 6;

/// sum of a_ij g_j over the entries of a row, in their order.
template <class Rows, class Fetch>
__device__ double row_product(const Rows& rows, index_t row, const double* gathered, const Fetch& fetch) {
    const Entries entries = rows.entries(row);
    const auto* column = rows.column + entries.first;
    const auto* value = rows.value + entries.first;
    double sum = 0;
#pragma unroll 1
    for (int left = entries.count; left > 0; left -= together) {
        std::int32_t j[together];
        double a[together], g[together];
#pragma unroll
        for (int k = 0; k < together; ++k)
            if (k < left) j[k] = fetch(column + k * entries.stride), a[k] = fetch(value + k * entries.stride);
#pragma unroll
        for (int k = 0; k < together; ++k)
            if (k < left) g[k] = gathered[j[k]];
#pragma unroll
        for (int k = 0; k < together; ++k)
            if (k < left) sum += a[k] * g[k];
        column += together * entries.stride;
        value += together * entries.stride;
    }
    return sum;
}

/// Brings a row's entries into the second cache. One lane asks for each line of 128 bytes.
template <class Rows>
__device__ void prefetch_row(const Rows& rows, index_t row) {
    const Entries entries = rows.entries(row);
    const auto ask = [](const auto* at) {
        if ((reinterpret_cast<std::uintptr_t>(at) & 127) < sizeof(*at)) asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
    };
    for (int k = 0; k < entries.count && k < together; ++k) {
        ask(rows.column + entries.first + k * entries.stride);
        ask(rows.value + entries.first + k * entries.stride);
    }
}

/// Everything that a kernel of the iteration is told: a system's arrays, its rows' division, and where scalars and sums lie.
template <template <class> class Rows, class F>
struct Job {
    Vectors v{};
    Stored<Rows, double> lower{}, upper{};
    Stored<Rows, F> factor_lower{}, factor_upper{};
    bool factored = true;              ///< false: the factor is the identity
    const Segment* segment = nullptr;  ///< [colors * parts]
    int colors = 0, parts = 1, steps = 1, chunk = 1;
    int prefetch = 0;                  ///< rows of each thread that are fetched while it waits at a barrier
};

/// The rows of one thread in the grid that the kernel was started with.
template <template <class> class Rows, class F, Stream how>
class RowLoop {
   public:
    __device__ explicit RowLoop(const Job<Rows, F>& job) : job_(job) {
        const bool together = job.parts == 1;  // all blocks share each segment
        first_ = (together ? blockIdx.x * blockDim.x : 0) + threadIdx.x;
        stride_ = together ? gridDim.x * blockDim.x : blockDim.x;
        first_part_ = together ? 0 : static_cast<int>(blockIdx.x);
        part_stride_ = together ? 1 : static_cast<int>(gridDim.x);
    }

    /// Phases on this thread's rows of a colour, one phase after the other in each block of rows.
    template <class... Phase>
    __device__ void rows(int color, Sums& sums, const Phase&... phase) const {
        for (int part = first_part_; part < job_.parts; part += part_stride_)
            segment(color * job_.parts + part, first_, sums, phase...);
    }
    /// The same for all colours; without a barrier between them, threads that had no row of one colour begin with the next.
    template <class Phase>
    __device__ void all(Sums& sums, const Phase& phase) const {
        unsigned taken = 0;
        for (int color = 0; color < job_.colors; ++color) {
            if (job_.parts > 1) {
                rows(color, sums, phase);
                continue;
            }
            unsigned first = first_ + stride_ - taken;
            if (first >= stride_) first -= stride_;
            const unsigned lanes = segment(color, first, sums, phase);
            taken = (taken + lanes) % stride_ & ~31u;
        }
    }
    /// Brings this thread's first rows into the second cache.
    __device__ void prefetch(Operand operand, int color) const {
        if (job_.prefetch == 0 || operand == Operand::nothing || color < 0) return;
        if ((operand == Operand::factor_lower || operand == Operand::factor_upper) && !job_.factored) return;
        const int part = color * job_.parts + first_part_;
        if (first_part_ >= job_.parts) return;
        switch (operand) {
            case Operand::factor_lower: return prefetch_rows(job_.factor_lower.of(part), job_.segment[part]);
            case Operand::factor_upper: return prefetch_rows(job_.factor_upper.of(part), job_.segment[part]);
            case Operand::lower: return prefetch_rows(job_.lower.of(part), job_.segment[part]);
            default: return prefetch_rows(job_.upper.of(part), job_.segment[part]);
        }
    }

   private:
    template <Operand operand>
    __device__ auto product_of(int s) const {
        if constexpr (operand == Operand::nothing) {
            return [](index_t, const double*) { return 0.; };
        } else if constexpr (operand == Operand::whole) {
            return [this, lower = job_.lower.of(s), upper = job_.upper.of(s)](index_t row, const double* gathered) {
                return row_product(lower, row, gathered, fetch_) + row_product(upper, row, gathered, fetch_);
            };
        } else if constexpr (operand == Operand::factor_lower || operand == Operand::factor_upper) {
            const auto& factor = operand == Operand::factor_lower ? job_.factor_lower : job_.factor_upper;
            return [this, rows = factor.of(s), factored = job_.factored](index_t row, const double* gathered) {
                return factored ? row_product(rows, row, gathered, fetch_) : 0.;
            };
        } else {
            const auto& triangle = operand == Operand::lower ? job_.lower : job_.upper;
            return [this, rows = triangle.of(s)](index_t row, const double* gathered) { return row_product(rows, row, gathered, fetch_); };
        }
    }

    /// Returns how many lanes (rows, or blocks of rows) the segment has.
    template <class... Phase>
    __device__ unsigned segment(int s, unsigned first, Sums& sums, const Phase&... phase) const {
        const Segment segment = job_.segment[s];
        const auto begin = static_cast<unsigned>(segment.begin), rows = static_cast<unsigned>(segment.end) - begin;
        if (job_.steps == 1) {
            with_products(
                [&](const auto&... product) {
#pragma unroll 1
                    for (unsigned lane = first; lane < rows; lane += stride_) {
                        const index_t row = begin + lane;
                        (phase.finish(row, product(row, phase.gathered()), sums), ...);
                    }
                },
                product_of<Phase::operand>(s)...);
            return rows;
        }
        const auto steps = static_cast<unsigned>(job_.steps), chunk = static_cast<unsigned>(job_.chunk), lanes = rows / steps;
        const auto block = [&](const auto& one, const auto& product, unsigned first_row) {
            constexpr bool descending = std::remove_cvref_t<decltype(one)>::operand == Operand::upper ||
                                        std::remove_cvref_t<decltype(one)>::operand == Operand::factor_upper;
#pragma unroll 1
            for (unsigned k = 0; k < steps; ++k) {
                const index_t row = first_row + (descending ? steps - 1 - k : k) * chunk;
                one.finish(row, product(row, one.gathered()), sums);
            }
        };
        with_products(
            [&](const auto&... product) {
#pragma unroll 1
                for (unsigned lane = first; lane < lanes; lane += stride_) {
                    const unsigned first_row = begin + lane / chunk * chunk * steps + lane % chunk;
                    (block(phase, product, first_row), ...);
                }
            },
            product_of<Phase::operand>(s)...);
        return lanes;
    }
    template <class Body, class... Product>
    static __device__ void with_products(const Body& body, const Product&... product) {
        body(product...);
    }

    template <class R>
    __device__ void prefetch_rows(const R& rows, const Segment& segment) const {
        const auto begin = static_cast<unsigned>(segment.begin), count = static_cast<unsigned>(segment.end) - begin;
        unsigned lane = first_;
        for (int k = 0; k < job_.prefetch && lane < count; ++k, lane += stride_) prefetch_row(rows, begin + lane);
    }

    const Job<Rows, F>& job_;
    Fetch<how> fetch_;
    unsigned first_, stride_;
    int first_part_, part_stride_;
};

}  // namespace kasane::sparse::device
