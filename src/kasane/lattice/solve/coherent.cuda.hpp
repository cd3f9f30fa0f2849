// Kernels of inexact deflation with several threads for the work of one thread of the plain bodies: a block and some packs
// (restrict_fields), a place (prolong_field), a row of the little operator or of the deflation (multiply, add_vectors), a block (invert), a
// vector of the deflation. Others: block_qr.cuda.hpp, couplings.cuda.hpp, little_gcr.cuda.hpp. Invariant: sums have one order, which
// depends on the layout alone.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/lattice/solve/four.cuda.hpp>
#include <kasane/lattice/solve/lanes.hpp>
#include <kasane/lattice/solve/little_operator.hpp>

#include <cstdint>
#include <type_traits>

namespace kasane::lattice::coherent {

constexpr int warp = 32;

constexpr int restrict_threads = 256;
constexpr int restrict_packs = 4;    ///< of a block of threads, at most
constexpr int restrict_sites = 128;  ///< whose spinors are in shared memory at a time

/// Restricts, with the threads of a block for one block of the lattice and some packs: blockIdx.x, blockIdx.y. A thread has one vector and
/// a part of the sites at equal distances.
template <class Sites, class T>
__global__ void __launch_bounds__(restrict_threads)
    restrict_fields(Sites from, const std::uint32_t* places, BlockLayout layout, const T* data, bool add, T* c) {
    __shared__ T spinors[restrict_sites][24];
    __shared__ T sums[restrict_threads][4];
    const int thread = static_cast<int>(threadIdx.x), first_pack = static_cast<int>(blockIdx.y) * restrict_packs;
    const int packs = min(restrict_packs, layout.packs - first_pack), vectors = 8 * packs, groups = restrict_threads / vectors;
    const int group = thread / vectors, p = first_pack + thread % vectors / 8, l = thread % 8;
    const index_t block = blockIdx.x, row_words = index_t{pack_words} * layout.packs;
    T sum[4] = {};  // of two chiralities real and imaginary parts
    for (index_t first = 0; first < layout.half(); first += restrict_sites) {
        const int now = static_cast<int>(min(index_t{restrict_sites}, layout.half() - first));
        __syncthreads();
        if (thread < now) {
            const auto psi = from.load(places[block * layout.half() + first + thread]);
#pragma unroll
            for (int r = 0; r < 12; ++r) {
                spinors[thread][2 * r] = static_cast<T>(psi.s[r / 3].c[r % 3].re);
                spinors[thread][2 * r + 1] = static_cast<T>(psi.s[r / 3].c[r % 3].im);
            }
        }
        __syncthreads();
        for (int i = group; i < now && group < groups; i += groups) {
            const T* row = data + (block * layout.half() + first + i) * layout.site_words() + p * pack_words + l;
#pragma unroll
            for (int r = 0; r < 12; ++r, row += row_words) {
                const T re = spinors[i][2 * r], im = spinors[i][2 * r + 1], a = row[0], b = row[8];
                sum[r / 6 * 2] += a * re + b * im;
                sum[r / 6 * 2 + 1] += a * im - b * re;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) sums[thread][k] = sum[k];
    __syncthreads();
    if (group != 0) return;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        T all = 0;
        for (int g = 0; g < groups; ++g) all += sums[g * vectors + thread][k];
        T* const to = c + ((2 * block + k / 2) * layout.packs + p) * pack_words + l + k % 2 * 8;
        *to = (add ? *to : T(0)) + all;
    }
}

/// Prolong, with eight threads for a place: one for each vector of a pack. Index: 8 place + vector.
template <class Sites, class T>
__global__ void prolong_field(Sites to, index_t places, const std::uint32_t* slots, BlockLayout layout, const T* data, const T* c) {
    const index_t index = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x, l = index % 8;
    const index_t place = min(index / 8, places - 1), slot = slots[place], block = slot / layout.half();
    const index_t row_words = index_t{pack_words} * layout.packs;
    T re[12] = {}, im[12] = {};
    for (int p = 0; p < layout.packs; ++p) {
        const T* row = data + slot * layout.site_words() + p * pack_words + l;
        const T* from = c + (2 * block * layout.packs + p) * pack_words + l;
        const T x[2] = {from[0], from[row_words]}, y[2] = {from[8], from[row_words + 8]};
#pragma unroll
        for (int r = 0; r < 12; ++r, row += row_words) {
            const T a = row[0], b = row[8];
            re[r] += a * x[r / 6] - b * y[r / 6];
            im[r] += a * y[r / 6] + b * x[r / 6];
        }
    }
    std::remove_cvref_t<decltype(to.load(place))> psi;
    using Real = std::remove_cvref_t<decltype(psi.s[0].c[0].re)>;
#pragma unroll
    for (int r = 0; r < 12; ++r) {
        for (int reach = 4; reach > 0; reach /= 2) {
            re[r] += __shfl_xor_sync(0xffffffffu, re[r], reach);
            im[r] += __shfl_xor_sync(0xffffffffu, im[r], reach);
        }
        psi.s[r / 3].c[r % 3] = {static_cast<Real>(re[r]), static_cast<Real>(im[r])};
    }
    if (l == 0 && index < 8 * places) to.store(place, psi);
}

/// Multiply, with four threads for a row: each has four columns of every second pack, and of couplings in 16 bits every fourth pack. Index:
/// 4 (block rows + row) + thread of the row. Couplings of 24 vectors on 24^3 x 48, blocks of 4^4, one H200: 115 us in single precision, 62
/// in 16 bits; 84 with four columns of 16 bits at once, 71, 63 and 61 with one and two threads, and with two for half of the directions.
/// @tparam H  of couplings to neighbours: T or Half
template <class T, class H>
__global__ void multiply(BlockLayout layout, const T* own, const H* hop, const T* added, const T* in, T* out) {
    const index_t thread = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x, index = thread / 4;
    const int q = static_cast<int>(thread % 4);
    const bool inside = index < layout.blocks() * layout.rows();
    const index_t block = inside ? index / layout.rows() : 0, row = inside ? index % layout.rows() : 0;
    T re = 0, im = 0;
    const auto add = [&]<class M>(const M* matrix, index_t there) {
        constexpr int columns = read_at_once<M>, in_pack = 8 / columns, packs_at_once = 4 / in_pack;
        const int column = q % in_pack * columns;
        const T* const from = in + there * layout.block_words() + column;
        matrix += column;
#pragma unroll 3
        for (int p = q / in_pack; p < 2 * layout.packs; p += packs_at_once) {
            T a[columns], b[columns];
            read_numbers(matrix + p * pack_words, a);
            read_numbers(matrix + p * pack_words + 8, b);
#pragma unroll
            for (int first = 0; first < columns; first += 4) {
                const auto x = load_four(from + p * pack_words + first), y = load_four(from + p * pack_words + 8 + first);
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    re += a[first + k] * x.v[k] - b[first + k] * y.v[k];
                    im += a[first + k] * y.v[k] + b[first + k] * x.v[k];
                }
            }
        }
    };
    const index_t matrix_words = layout.rows() * 2 * layout.packs * pack_words, row_at = row * 2 * layout.packs * pack_words;
    if (own) add(own + block * matrix_words + row_at, block);
    if (hop) {
        const Site here = layout.grid.site(block);
        for (int d = 0; d < 8; ++d)
            add(hop + (8 * block + d) * matrix_words + row_at,
                layout.grid.lexicographic(layout.grid.shifted(here, d / 2, d % 2 == 0 ? 1 : -1)));
    }
    for (int reach = 2; reach > 0; reach /= 2) {
        re += __shfl_xor_sync(0xffffffffu, re, reach);
        im += __shfl_xor_sync(0xffffffffu, im, reach);
    }
    if (!inside || q != 0) return;
    const index_t at = block * layout.block_words() + row / 8 * pack_words + row % 8;
    out[at] = (added ? added[at] : T(0)) + re;
    out[at + 8] = (added ? added[at + 8] : T(0)) + im;
}

/// Numbers [first, end) as Half, at the beginning of `to`.
struct Narrow {
    const float* from;
    Half* to;
    index_t first;
    __device__ void operator()(index_t i) const { to[first + i] = to_half(from[first + i]); }
};
struct CopyHalf {
    const Half* from;
    Half* to;
    __device__ void operator()(index_t i) const { to[i] = from[i]; }
};

constexpr int invert_threads = 256;

/// Invert, with the threads of a block for one block of the lattice.
template <class T>
__global__ void invert(BlockLayout layout, const T* own, T* inverse, Cx<double>* scratch, int* pivots, int* singular) {
    const int n = 2 * layout.count, thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    const index_t block = blockIdx.x, matrix_words = layout.rows() * 2 * layout.packs * pack_words;
    auto* const m = scratch + block * n * n;
    int* const pivot = pivots + block * n;
    const auto row_of = [&](int i) { return i < layout.count ? index_t{i} : layout.rows() / 2 + i - layout.count; };
    const auto place = [&](int i, int j) {
        const index_t column = row_of(j);
        return block * matrix_words + (row_of(i) * 2 * layout.packs + column / 8) * pack_words + column % 8;
    };
    const auto product = [](const Cx<double>& a, const Cx<double>& b) {
        return Cx<double>{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    };
    __shared__ int best;
    __shared__ Cx<double> reciprocal;
    for (int e = thread; e < n * n; e += threads) {
        const T* from = own + place(e / n, e % n);
        m[e] = {static_cast<double>(from[0]), static_cast<double>(from[8])};
    }
    if (thread == 0) singular[block] = 0;
    __syncthreads();
    for (int c = 0; c < n; ++c) {
        if (thread == 0) {
            best = c;
            double largest = 0;
            for (int i = c; i < n; ++i) {
                const auto z = m[i * n + c];
                const double size = z.re * z.re + z.im * z.im;
                if (size > largest) largest = size, best = i;
            }
            const auto p = m[best * n + c];
            const double size = 1 / (p.re * p.re + p.im * p.im);
            reciprocal = {p.re * size, -p.im * size};
            pivot[c] = best;
            if (!(largest > 1e-24)) singular[block] = 1, best = -1;
        }
        __syncthreads();
        if (best < 0) return;
        for (int j = thread; j < n; j += threads) {  // the rows' exchange, and the row of the pivot divided by it
            const auto z = m[best * n + j];
            if (best != c) m[best * n + j] = m[c * n + j];
            m[c * n + j] = product(reciprocal, j == c ? Cx<double>{1, 0} : z);
        }
        __syncthreads();
        // A thread has the elements of one row at a time, so that the row's factor is read before it changes.
        for (int i = thread / warp; i < n; i += threads / warp) {
            const auto factor = m[i * n + c];
            __syncwarp();
            for (int j = thread % warp; j < n && i != c; j += warp) {
                const auto old = j == c ? Cx<double>{0, 0} : m[i * n + j];
                const auto z = product(factor, m[c * n + j]);
                m[i * n + j] = {old.re - z.re, old.im - z.im};
            }
            __syncwarp();
        }
        __syncthreads();
    }
    for (int c = n - 1; c >= 0; --c)  // the rows' exchanges are the columns' exchanges of the inverse, in reverse
        for (int i = thread; i < n && pivot[c] != c; i += threads) {
            const auto z = m[i * n + c];
            m[i * n + c] = m[i * n + pivot[c]];
            m[i * n + pivot[c]] = z;
        }
    __syncthreads();
    for (index_t e = thread; e < matrix_words; e += threads) inverse[block * matrix_words + e] = 0;
    __syncthreads();
    for (int e = thread; e < n * n; e += threads) {
        T* to = inverse + place(e / n, e % n);
        to[0] = static_cast<T>(m[e].re);
        to[8] = static_cast<T>(m[e].im);
    }
}

constexpr int product_rows = 256, product_threads = 128;  ///< rows of a part; eight threads for a row

/// C^+ v of one part of the rows and eight vectors: blockIdx.x, blockIdx.y. @param parts  [pack][part][re, im][8]
template <class T>
__global__ void partial_products(const T* vectors, const T* v, index_t rows, double* parts) {
    __shared__ double shared[product_threads / 8][16];
    const int l = static_cast<int>(threadIdx.x) % 8, group = static_cast<int>(threadIdx.x) / 8;
    const index_t first = blockIdx.x * index_t{product_rows}, end = first + product_rows < rows ? first + product_rows : rows;
    double re = 0, im = 0;
    for (index_t row = first + group; row < end; row += product_threads / 8) {
        const T* a = vectors + (blockIdx.y * rows + row) * pack_words + l;
        const T* at = v + row / 8 * pack_words + row % 8;
        re += static_cast<double>(a[0]) * at[0] + static_cast<double>(a[8]) * at[8];
        im += static_cast<double>(a[0]) * at[8] - static_cast<double>(a[8]) * at[0];
    }
    shared[group][l] = re;
    shared[group][l + 8] = im;
    __syncthreads();
    if (threadIdx.x >= 16) return;
    double sum = 0;
    for (int g = 0; g < product_threads / 8; ++g) sum += shared[g][threadIdx.x];
    parts[(blockIdx.y * static_cast<index_t>(gridDim.x) + blockIdx.x) * 16 + threadIdx.x] = sum;
}

constexpr int add_products_threads = 512;  ///< 32 for each of 16 numbers

/// The sums of the parts of eight vectors, blockIdx.x, as factors of add_vectors.
template <class T>
__global__ void __launch_bounds__(add_products_threads) add_products(const double* parts, index_t count, int sign, T* factors) {
    __shared__ double shared[add_products_threads / 16][16];
    const int number = static_cast<int>(threadIdx.x) % 16, share = static_cast<int>(threadIdx.x) / 16;
    double sum = 0;
    for (index_t part = share; part < count; part += add_products_threads / 16) sum += parts[(blockIdx.x * count + part) * 16 + number];
    shared[share][number] = sum;
    __syncthreads();
    if (share != 0) return;
    for (int s = 1; s < add_products_threads / 16; ++s) sum += shared[s][number];
    factors[blockIdx.x * 16 + number] = static_cast<T>(sign) * static_cast<T>(sum);
}

/// AddVectors, with two threads for a row; each has four vectors of a pack. Index: 2 row + thread of the row.
template <class T>
__global__ void add_vectors(const T* vectors, const T* factors, index_t rows, int packs, T* v) {
    const index_t thread = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x, row = min(thread / 2, rows - 1);
    const int first = static_cast<int>(thread % 2) * 4;
    T re = 0, im = 0;
#pragma unroll 4
    for (int p = 0; p < packs; ++p) {
        const T *from = vectors + (p * rows + row) * pack_words + first, *factor = factors + p * pack_words + first;
        const auto a = load_four(from), b = load_four(from + 8), x = load_four(factor), y = load_four(factor + 8);
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            re += a.v[k] * x.v[k] - b.v[k] * y.v[k];
            im += a.v[k] * y.v[k] + b.v[k] * x.v[k];
        }
    }
    re += __shfl_xor_sync(0xffffffffu, re, 1);
    im += __shfl_xor_sync(0xffffffffu, im, 1);
    if (thread >= 2 * rows || first != 0) return;
    T* const at = v + row / 8 * pack_words + row % 8;
    at[0] += re;
    at[8] += im;
}

}  // namespace kasane::lattice::coherent
