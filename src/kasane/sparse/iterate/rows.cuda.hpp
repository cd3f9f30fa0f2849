// Rows on a device: how entries of a row are fetched, and which rows a thread processes.
// Invariants: a thread of the same grid has the same rows of a colour in every phase; the constant matrix bypasses the first-level
// cache and leaves the second-level cache early, so that vectors stay there; vectors are read coherently, because other blocks write them.
#pragma once

#include <kasane/sparse/iterate/phases.body.hpp>
#include <kasane/sparse/format/system.hpp>

#include <cstdint>
#include <type_traits>

namespace kasane::sparse::device {

/// How a kernel processes a row; chosen by measurement.
/// @tparam together_  entries of a row that are fetched before the first is used
/// @tparam tied_      a gather waits for its entry's value as well as for its column: otherwise the compiler loads most values after the
///                    gathers, when it has already waited for the columns
template <int together_, bool tied_>
struct Tune {
    static constexpr int together = together_;
    static constexpr bool tied = tied_;
};

/// Reads data that no kernel writes while it runs. The cache policy is created once per thread and stays in a register.
class Fetch {
   public:
    __device__ Fetch() { asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy_)); }
    __device__ std::int32_t operator()(const std::int32_t* from) const {
        std::int32_t value;
        asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(value) : "l"(from), "l"(policy_));
        return value;
    }
    __device__ float operator()(const float* from) const {
        float value;
        asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(from), "l"(policy_));
        return value;
    }
    __device__ double operator()(const double* from) const {
        double value;
        asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.f64 %0, [%1], %2;" : "=d"(value) : "l"(from), "l"(policy_));
        return value;
    }

   private:
    std::uint64_t policy_ = 0;
};

/// One row's entries: `count` of them, `stride` apart.
template <class T>
struct Line {
    const std::int32_t* column;
    const T* value;
    unsigned stride;
    int count;
};

/// A triangle in the memory of a device; of(segment) gives the rows of one segment.
template <template <class> class Rows, class T>
struct Stored;

template <class T>
struct Stored<CsrRows, T> {
    CsrRows<T> rows{};
    __device__ const Stored& of(int) const { return *this; }
    __device__ Line<T> line(unsigned row) const {
        const index_t begin = rows.offset[row];
        return {rows.column + begin, rows.value + begin, 1, static_cast<int>(rows.offset[row + 1] - begin)};
    }
};
template <class T>
struct Stored<SellRows, T> {
    SellRows<T> rows{};
    double over_chunk = 1;  ///< 1 / chunk: rounds to the right width, and is faster than a division
    __device__ const Stored& of(int) const { return *this; }
    __device__ Line<T> line(unsigned row) const {
        const auto size = static_cast<unsigned>(rows.chunk), chunk = rows.shift >= 0 ? row >> rows.shift : row / size;
        const index_t begin = rows.offset[chunk], entries = rows.offset[chunk + 1] - begin, first = begin + (row - chunk * size);
        const int width =
            rows.shift >= 0 ? static_cast<int>(entries >> rows.shift) : __double2int_rn(static_cast<double>(entries) * over_chunk);
        return {rows.column + first, rows.value + first, size, width};
    }
};
template <class T>
struct Stored<SliceRows, T> {
    SliceRows<T> rows{};
    const Slice* slice = nullptr;  ///< [colors * parts]; none where the triangle is empty
    /// Addresses of the entries of row 0, as if the slice began there.
    struct Part {
        const std::int32_t* column;
        const T* value;
        unsigned stride;
        int width;
        __device__ Line<T> line(unsigned row) const { return {column + row, value + row, stride, width}; }
    };
    __device__ Part of(int segment) const {
        if (!slice) return {};
        const Slice s = slice[segment];
        return {rows.column + (s.offset - s.begin), rows.value + (s.offset - s.begin), static_cast<unsigned>(s.rows), s.width};
    }
};

/// Prevents the compiler from keeping each multiple of a stride in a register long before it is needed.
template <class T>
__device__ const T* opaque(const T* pointer) {
    asm("" : "+l"(pointer));
    return pointer;
}

__device__ inline int bits(double value) { return __double2hiint(value); }
__device__ inline int bits(float value) { return __float_as_int(value); }

/// sum of a_ij g_j over the entries of a row, in their order.   @param zero  0, as a value unknown to the compiler
template <class Tune, class T>
__device__ double line_product(Line<T> line, const double* gathered, const Fetch& fetch, int zero) {
    constexpr int together = Tune::together;
    double sum = 0;
#pragma unroll 1
    for (int left = line.count; left > 0; left -= together) {
        std::int32_t j[together];
        T a[together];
        double g[together];
#pragma unroll
        for (int k = 0; k < together; ++k)
            if (k < left) {
                j[k] = fetch(line.column), a[k] = fetch(line.value);
                line.column = opaque(line.column + line.stride);
                line.value = opaque(line.value + line.stride);
            }
#pragma unroll
        for (int k = 0; k < together; ++k)
            if (k < left) g[k] = gathered[Tune::tied ? j[k] | (bits(a[k]) & zero) : j[k]];
#pragma unroll
        for (int k = 0; k < together; ++k)
            if (k < left) sum += static_cast<double>(a[k]) * g[k];
    }
    return sum;
}

/// Prefetches a row's entries into the second-level cache. One lane per line of 128 bytes does it.
template <class T>
__device__ void prefetch_line(const Line<T>& line) {
    const auto ask = [](const auto* at) {
        if ((reinterpret_cast<std::uintptr_t>(at) & 127) < sizeof(*at)) asm volatile("prefetch.global.L2 [%0];" ::"l"(at));
    };
#pragma unroll 1
    for (int k = 0; k < line.count; ++k) {
        ask(line.column + static_cast<index_t>(k) * line.stride);
        ask(line.value + static_cast<index_t>(k) * line.stride);
    }
}

/// The arguments of a kernel of the iteration: the system's arrays and how its rows are divided.
template <template <class> class Rows, class F>
struct Job {
    Vectors v{};
    Stored<Rows, double> lower{}, upper{};
    Stored<Rows, F> factor_lower{}, factor_upper{};
    bool factored = true;              ///< false: the factor is the identity
    const Segment* segment = nullptr;  ///< [colors * parts]
    int colors = 0, parts = 1, steps = 1, chunk = 1;
    bool spread = false;  ///< neighbouring warps' rows are those of different blocks; needs parts = 1
    int zero = 0;         ///< see Tune::tied
    int prefetch = 0;     ///< rows of each thread that are fetched while it waits at a barrier
};

/// The rows of one thread in the present grid.
template <template <class> class Rows, class F, class Tune>
class RowLoop {
   public:
    __device__ explicit RowLoop(const Job<Rows, F>& job) : job_(job) {
        const bool together = job.parts == 1;  // all blocks share each segment
        if (job.spread)
            first_ = (threadIdx.x / 32 * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32;
        else
            first_ = (together ? blockIdx.x * blockDim.x : 0) + threadIdx.x;
        stride_ = together ? gridDim.x * blockDim.x : blockDim.x;
        first_part_ = together ? 0 : static_cast<int>(blockIdx.x);
        part_stride_ = together ? 1 : static_cast<int>(gridDim.x);
    }

    /// Executes phases on this thread's rows of a colour, one phase after the other in each block of rows.
    template <class... Phase>
    __device__ void rows(int color, Sums& sums, const Phase&... phase) const {
        for (int part = first_part_; part < job_.parts; part += part_stride_) segment(color * job_.parts + part, first_, sums, phase...);
    }
    /// Does the same for all colours; without a barrier between them, threads without a row of one colour begin with the next.
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
    /// Prefetches this thread's first rows into the second-level cache.
    __device__ void prefetch(Operand operand, int color) const {
        if (job_.prefetch == 0 || operand == Operand::nothing || color < 0 || color >= job_.colors) return;
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
            return [](unsigned, const double*) { return 0.; };
        } else if constexpr (operand == Operand::whole) {
            return [this, lower = job_.lower.of(s), upper = job_.upper.of(s)](unsigned row, const double* gathered) {
                return line_product<Tune>(lower.line(row), gathered, fetch_, job_.zero) +
                       line_product<Tune>(upper.line(row), gathered, fetch_, job_.zero);
            };
        } else if constexpr (operand == Operand::factor_lower || operand == Operand::factor_upper) {
            const auto& factor = operand == Operand::factor_lower ? job_.factor_lower : job_.factor_upper;
            return [this, rows = factor.of(s), factored = job_.factored](unsigned row, const double* gathered) {
                return factored ? line_product<Tune>(rows.line(row), gathered, fetch_, job_.zero) : 0.;
            };
        } else {
            const auto& triangle = operand == Operand::lower ? job_.lower : job_.upper;
            return [this, rows = triangle.of(s)](unsigned row, const double* gathered) {
                return line_product<Tune>(rows.line(row), gathered, fetch_, job_.zero);
            };
        }
    }

    /// Returns the number of lanes (rows, or blocks of rows) of the segment.
    template <class... Phase>
    __device__ unsigned segment(int s, unsigned first, Sums& sums, const Phase&... phase) const {
        const Segment segment = job_.segment[s];
        const auto begin = static_cast<unsigned>(segment.begin), rows = static_cast<unsigned>(segment.end) - begin;
        const auto steps = static_cast<unsigned>(job_.steps), chunk = static_cast<unsigned>(job_.chunk);
        const unsigned lanes = steps == 1 ? rows : rows / steps;
        const auto block = [&](const auto& one, const auto& product, unsigned first_row) {
            constexpr bool downwards = descending(std::remove_cvref_t<decltype(one)>::operand);
#pragma unroll 1
            for (unsigned k = 0; k < steps; ++k) {
                const unsigned row = first_row + (downwards ? steps - 1 - k : k) * chunk;
                one.finish(row, product(row, one.gathered()), sums);
            }
        };
        const auto all_lanes = [&](const auto&... product) {
#pragma unroll 1
            for (unsigned lane = first; lane < lanes; lane += stride_) {
                const unsigned first_row = begin + (steps == 1 ? lane : lane / chunk * chunk * steps + lane % chunk);
                (block(phase, product, first_row), ...);
            }
        };
        all_lanes(product_of<Phase::operand>(s)...);
        return lanes;
    }

    template <class R>
    __device__ void prefetch_rows(const R& rows, const Segment& segment) const {
        const auto begin = static_cast<unsigned>(segment.begin), count = static_cast<unsigned>(segment.end) - begin;
        unsigned lane = first_;
        for (int k = 0; k < job_.prefetch && lane < count; ++k, lane += stride_) prefetch_line(rows.line(begin + lane));
    }

    const Job<Rows, F>& job_;
    Fetch fetch_;
    unsigned first_, stride_;
    int first_part_, part_stride_;
};

}  // namespace kasane::sparse::device
