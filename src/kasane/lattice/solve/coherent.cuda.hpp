// Kernels of inexact deflation with several threads for what the plain bodies compute in one: a part of a block's couplings, a block and
// chirality (orthonormalise), a block (restrict_fields, invert), a row of the little operator, a vector of the deflation. 12^4, blocks of
// 4^4, 16 vectors, one H200, by a profiler: the plain bodies took 35 ms, 476 ms, 1.6 ms, 17 ms, 58 us and, for eight vectors, 25 us.
// Invariant: sums have one order, which depends on the layout alone.
#pragma once

#include <kasane/core/device/arrival.cuda.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/solve/lanes.hpp>
#include <kasane/lattice/solve/little_operator.hpp>

#include <cstdint>

namespace kasane::lattice::coherent {

constexpr int warp = 32;

/// Adds `count` numbers of all threads of a block; every thread gets the sums. @param shared  [threads / 32][count]
template <int count, class T>
__device__ void add_in_block(T (&values)[count], T* shared) {
#pragma unroll
    for (int k = 0; k < count; ++k)
        for (int reach = warp / 2; reach > 0; reach /= 2) values[k] += __shfl_down_sync(0xffffffffu, values[k], reach);
    const int here = static_cast<int>(threadIdx.x) / warp, warps = static_cast<int>(blockDim.x) / warp;
    __syncthreads();  // the sums before have been read
    if (threadIdx.x % warp == 0)
#pragma unroll
        for (int k = 0; k < count; ++k) shared[here * count + k] = values[k];
    __syncthreads();
#pragma unroll
    for (int k = 0; k < count; ++k) {
        T sum = 0;
        for (int w = 0; w < warps; ++w) sum += shared[w * count + k];
        values[k] = sum;
    }
}

constexpr int orthonormalise_threads = 256;

/// Orthonormalise, with the threads of a block for one block of the lattice and chirality; they share its rows.
template <class T>
class Rows {
   public:
    __device__ Rows(T* even, T* odd, const BlockLayout& layout, index_t which)
        : even_(even), odd_(odd), layout_(layout), which_(which), row_words_(index_t{pack_words} * layout.packs) {}
    template <class F>
    __device__ void each(const F& f) const {
        const index_t of_parity = 6 * layout_.half();
        for (index_t r = threadIdx.x; r < 2 * of_parity; r += blockDim.x) {
            const index_t within = r % of_parity;
            f((r < of_parity ? even_ : odd_) + (which_ / 2 * layout_.half() + within / 6) * layout_.site_words() +
              (which_ % 2 * 6 + within % 6) * row_words_);
        }
    }

   private:
    T *even_, *odd_;
    const BlockLayout& layout_;
    index_t which_, row_words_;
};

/// @param kept  [block][chirality] the smallest squared norm that was left of a unit vector
template <class T>
__global__ void orthonormalise(T* even, T* odd, BlockLayout layout, T* kept) {
    __shared__ T shared[orthonormalise_threads / warp * 16];
    const Rows<T> rows(even, odd, layout, blockIdx.x);
    for (int p = 0; p < layout.packs; ++p) {
        T norm2[8] = {};
        rows.each([&](const T* row) {
            for (int l = 0; l < 8; ++l) {
                const T re = row[p * pack_words + l], im = row[p * pack_words + 8 + l];
                norm2[l] += re * re + im * im;
            }
        });
        add_in_block(norm2, shared);
        for (T& x : norm2) x = x > 0 ? T(1) / static_cast<T>(sqrt(x)) : T(0);
        rows.each([&](T* row) {
            for (int l = 0; l < 8; ++l) {
                row[p * pack_words + l] *= norm2[l];
                row[p * pack_words + 8 + l] *= norm2[l];
            }
        });
    }
    T least = 1;
    for (int pass = 0; pass < 2; ++pass)
        for (int k = 0; k < layout.count; ++k) {  // take vector k out of the later ones, and normalise it
            const int own = k / 8 * pack_words + k % 8;
            T norm2 = 0;
            for (int p = k / 8; p < layout.packs; ++p) {
                T c[16] = {};  // real, then imaginary parts of (phi_k, phi_j)
                rows.each([&](const T* row) {
                    const T re = row[own], im = row[own + 8];
                    for (int l = 0; l < 8; ++l) {
                        const T x = row[p * pack_words + l], y = row[p * pack_words + 8 + l];
                        c[l] += re * x + im * y;
                        c[l + 8] += re * y - im * x;
                    }
                });
                add_in_block(c, shared);
                if (p == k / 8)
                    for (int l = 0; l < 8; ++l) norm2 = l == k % 8 ? c[l] : norm2;
                const T scale = norm2 > 0 ? -1 / norm2 : T(0);
                for (int l = 0; l < 8; ++l) {
                    const bool later = 8 * p + l > k;
                    c[l] = later ? c[l] * scale : T(0);
                    c[l + 8] = later ? c[l + 8] * scale : T(0);
                }
                rows.each([&](T* row) {
                    const T re = row[own], im = row[own + 8];
                    for (int l = 0; l < 8; ++l) {
                        row[p * pack_words + l] += re * c[l] - im * c[l + 8];
                        row[p * pack_words + 8 + l] += re * c[l + 8] + im * c[l];
                    }
                });
            }
            const T scale = norm2 > 0 ? T(1) / static_cast<T>(sqrt(norm2)) : T(0);
            rows.each([&](T* row) {
                row[own] *= scale;
                row[own + 8] *= scale;
            });
            if (pass == 0 && !(norm2 >= least)) least = norm2;
        }
    if (threadIdx.x == 0) kept[blockIdx.x] = least;
}

constexpr int restrict_threads = 64;

/// Restrict, with the threads of a block for one block of the lattice and pack; they share its sites.
template <class Sites, class T>
__global__ void restrict_fields(Sites from, const std::uint32_t* places, BlockLayout layout, const T* data, bool add, T* c) {
    __shared__ T shared[restrict_threads / warp * 32];
    const index_t block = blockIdx.x / layout.packs, p = blockIdx.x % layout.packs, row_words = index_t{pack_words} * layout.packs;
    T sum[32] = {};  // of two chiralities real, then imaginary parts
    for (index_t i = threadIdx.x; i < layout.half(); i += blockDim.x) {
        const index_t slot = block * layout.half() + i;
        const auto psi = from.load(places[slot]);
        const T* row = data + slot * layout.site_words() + p * pack_words;
#pragma unroll
        for (int r = 0; r < 12; ++r, row += row_words) {
            const auto& z = psi.s[r / 3].c[r % 3];
            const T re = static_cast<T>(z.re), im = static_cast<T>(z.im);
            T* const to = sum + r / 6 * 16;
            for (int l = 0; l < 8; ++l) {
                to[l] += row[l] * re + row[l + 8] * im;
                to[l + 8] += row[l] * im - row[l + 8] * re;
            }
        }
    }
    add_in_block(sum, shared);
#pragma unroll
    for (int k = 0; k < 32; ++k)
        if (k == static_cast<int>(threadIdx.x)) {
            T* const to = c + ((2 * block + k / 16) * layout.packs + p) * pack_words + k % 16;
            *to = (add ? *to : T(0)) + sum[k];
        }
}

/// Multiply, with eight threads for a row, one for each number of a pack. Index: 8 (block rows + row) + number.
template <class T>
__global__ void multiply(BlockLayout layout, const T* own, const T* hop, const T* added, const T* in, T* out) {
    const index_t thread = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x, index = thread / 8, l = thread % 8;
    const bool inside = index < layout.blocks() * layout.rows();
    const index_t block = inside ? index / layout.rows() : 0, row = inside ? index % layout.rows() : 0;
    T re = 0, im = 0;
    const auto add = [&](const T* matrix, index_t there) {
        const T* from = in + there * layout.block_words() + l;
        for (int cp = 0; cp < 2 * layout.packs; ++cp) {
            const T a = matrix[cp * pack_words + l], b = matrix[cp * pack_words + 8 + l];
            const T x = from[cp * pack_words], y = from[cp * pack_words + 8];
            re = re + a * x - b * y;
            im = im + a * y + b * x;
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
    const auto add_lanes = [&](int reach) {
        re += __shfl_xor_sync(0xffffffffu, re, reach);
        im += __shfl_xor_sync(0xffffffffu, im, reach);
    };
    add_lanes(4), add_lanes(1), add_lanes(2);
    if (!inside || l != 0) return;
    const index_t at = block * layout.block_words() + row / 8 * pack_words + row % 8;
    out[at] = (added ? added[at] : T(0)) + re;
    out[at + 8] = (added ? added[at + 8] : T(0)) + im;
}

constexpr int couplings_threads = 256;

/// Couplings, with the threads of a block for one index: some compute the columns of a site each, then all multiply them by rows.
/// @tparam Body  Couplings<T>
template <class T, class Body>
__global__ void couplings(Body body) {
    constexpr int sites = 64 / sizeof(T);  // at a time: 24 KiB of columns
    __shared__ T columns[sites][2][12][pack_words];
    __shared__ const T* rows[sites];  // null: the part has nothing on this site
    const int thread = static_cast<int>(threadIdx.x);
    const auto& layout = body.layout;
    const auto at = body.place(blockIdx.x);
    const index_t row_words = index_t{pack_words} * layout.packs, half = layout.half();
    const auto element = [&](int from, int k, int to, int lane) {
        const index_t row = from * index_t{8} * layout.packs + k;
        return at.out + ((at.matrix * layout.rows() + row) * 2 * layout.packs + to * layout.packs + at.pack) * pack_words + lane;
    };
    // Vectors beyond the last one have rows and columns of zeros.
    for (index_t e = thread; e < layout.rows() * 2 * pack_words; e += couplings_threads) {
        const int k = static_cast<int>(e / (4 * pack_words));
        *element(static_cast<int>(e / (2 * pack_words) % 2), k, static_cast<int>(e / pack_words % 2), static_cast<int>(e % pack_words)) = 0;
    }
    for (index_t first = 0; first < 2 * half; first += sites) {
        __syncthreads();
        if (thread < sites) {
            const index_t n = first + thread, slot = at.block * half + n % half;
            const int parity = static_cast<int>(n / half);
            Spinor<Lanes<T>> made[2];
            const bool any = n < 2 * half && body.compute(static_cast<Parity>(parity), slot, at.part, at.pack, made);
            rows[thread] = any ? body.basis[parity] + slot * layout.site_words() : nullptr;
            for (int to = 0; any && to < 2; ++to)
                for (int r = 0; r < 12; ++r) store_pack(columns[thread][to][r], made[to].s[r / 3].c[r % 3]);
        }
        __syncthreads();
        for (int item = thread; item < 32 * layout.count; item += couplings_threads) {
            const int lane = item % 8, to = item / 8 % 2, from = item / 16 % 2, k = item / 32;
            T re = 0, im = 0;
            for (int s = 0; s < sites; ++s) {
                if (!rows[s]) continue;
                const T* row = rows[s] + k / 8 * pack_words + k % 8 + from * 6 * row_words;
                for (int r = 0; r < 6; ++r, row += row_words) {
                    const T a = row[0], b = row[8], x = columns[s][to][6 * from + r][lane], y = columns[s][to][6 * from + r][lane + 8];
                    re += a * x + b * y;
                    im += a * y - b * x;
                }
            }
            T* const sum = element(from, k, to, lane);
            sum[0] += re;
            sum[8] += im;
        }
    }
}

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

/// The sums of the parts of eight vectors, blockIdx.x, as factors of AddVectors. 16 threads.
template <class T>
__global__ void add_products(const double* parts, index_t count, int sign, T* factors) {
    double sum = 0;
    for (index_t part = 0; part < count; ++part) sum += parts[(blockIdx.x * count + part) * 16 + threadIdx.x];
    factors[blockIdx.x * 16 + threadIdx.x] = static_cast<T>(sign) * static_cast<T>(sum);
}

constexpr int orthogonalise_threads = 128;

/// y -= beta `last`, where there is one; then {next.y / next_norm2, |y|^2}. The last block of threads that is ready adds those of all.
/// @param sums  [blocks][3]   @param arrived  0, and 0 again behind   @param result  [3]
template <class T>
__global__ void orthogonalise(const T* last, const double* beta, const T* next, double next_norm2, T* y, index_t packs, Terms<3>* sums,
                              std::uint32_t* arrived, double* result) {
    __shared__ Terms<3> shared[orthogonalise_threads];
    __shared__ bool adds;
    const int thread = static_cast<int>(threadIdx.x);
    const index_t pack = blockIdx.x * index_t{orthogonalise_threads} + thread;
    Terms<3> own{};
    if (pack < packs) {
        T* const to = y + pack * pack_words;
        const T a = last ? static_cast<T>(-beta[0]) : T(0), b = last ? static_cast<T>(-beta[1]) : T(0);
        for (int l = 0; l < 8; ++l) {
            T re = to[l], im = to[l + 8];
            if (last) {
                const T x = last[pack * pack_words + l], z = last[pack * pack_words + l + 8];
                re += a * x - b * z;
                im += a * z + b * x;
                to[l] = re;
                to[l + 8] = im;
            }
            const double p = next ? next[pack * pack_words + l] : T(0), q = next ? next[pack * pack_words + l + 8] : T(0), c = re, d = im;
            own[0] += p * c + q * d;
            own[1] += p * d - q * c;
            own[2] += c * c + d * d;
        }
    }
    const auto add_threads = [&] {
        for (int reach = orthogonalise_threads / 2; reach > 0; reach /= 2) {
            __syncthreads();
            if (thread < reach) shared[thread] += shared[thread + reach];
        }
    };
    shared[thread] = own;
    add_threads();
    if (thread == 0) {
        sums[blockIdx.x] = shared[0];
        adds = count_arrival(*arrived) == gridDim.x - 1;
    }
    __syncthreads();
    if (!adds) return;
    own = Terms<3>{};
    for (index_t block = thread; block < gridDim.x; block += orthogonalise_threads) own += sums[block];
    shared[thread] = own;
    add_threads();
    if (thread != 0) return;
    result[0] = shared[0][0] / next_norm2;
    result[1] = shared[0][1] / next_norm2;
    result[2] = shared[0][2];
    *arrived = 0;
}

}  // namespace kasane::lattice::coherent
