// Orthonormal near-null vectors in every block of the lattice and chirality on a device, by Cholesky's factor of the Gram matrix
// (CholeskyQR, [Yamamoto et al. 2015]): G = X^+ X = R^+ R, X := X R^-1, three times. G and R are in double, so that one pass distinguishes
// all vectors that single precision distinguishes; the later passes remove the errors of rounding. A pivot that rounding has made too
// small, of a vector in the span of those before it, is replaced [Fukaya et al. 2020]; the later passes orthogonalise the rest of that
// vector. On 24^3 x 48 with 24 vectors and blocks of 4^4 it takes 18 ms on an H200, Gram and Schmidt's method, vector by vector, 220 ms.
// Invariant: sums have one order, which depends on the layout alone.
#pragma once

#include <kasane/lattice/solve/four.cuda.hpp>
#include <kasane/lattice/solve/lanes.hpp>
#include <kasane/lattice/solve/little_operator.hpp>

namespace kasane::lattice::coherent {

constexpr int qr_threads = 192;  ///< 32 for a pair of packs of the Gram matrix: all of 24 vectors at once
constexpr int qr_passes = 3;
constexpr int qr_staged = 16;                ///< rows in shared memory at a time
constexpr double qr_smallest_pivot = 1e-14;  ///< of a unit vector: the square of what double precision distinguishes in G

/// Memory of the orthonormalisation. Index of the arrays: block of the lattice and chirality.
template <class T>
struct QrWork {
    T *even, *odd;  ///< the basis
    BlockLayout layout;
    Cx<double>* gram;  ///< [8 packs][8 packs] G and R above the diagonal and on it, R^-1 below: (j, i) has element (i, j)
    double* scale;     ///< [8 packs] 1 / |x|, 0 of vectors without one
    double* left;      ///< [8 packs] what the passes so far have left of a unit vector, squared
    T* factor;         ///< [pack][8 packs][re, im][8] columns of diag(scale) R^-1
    T* kept;           ///< the smallest of `left`

    KS_FN int size() const { return 8 * layout.packs; }
    static index_t vectors_of_all(const BlockLayout& l) { return 2 * l.blocks() * 8 * l.packs; }
};

/// The rows of a block and chirality: row r is [pack][re, im][8].
template <class T>
struct QrRows {
    T *even, *odd;
    index_t of_parity, row_words, site_words;
    __device__ QrRows(const QrWork<T>& work, index_t which)
        : of_parity(6 * work.layout.half()), row_words(index_t{pack_words} * work.layout.packs), site_words(work.layout.site_words()) {
        const index_t first = which / 2 * work.layout.half() * site_words + which % 2 * 6 * row_words;
        even = work.even + first;
        odd = work.odd + first;
    }
    __device__ index_t count() const { return 2 * of_parity; }
    __device__ T* at(index_t r) const {
        const index_t within = r < of_parity ? r : r - of_parity;
        return (r < of_parity ? even : odd) + within / 6 * site_words + within % 6 * row_words;
    }
};

/// G of one block and chirality. A thread computes two elements, of one vector i and two vectors j.
template <class T>
__device__ void gram_matrix(const QrRows<T>& rows, int packs, Cx<double>* gram) {
    extern __shared__ double stage[];  // [qr_staged][packs][re, im][8]
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, pairs = packs * (packs + 1) / 2, n = 8 * packs;
    const int words = packs * pack_words;
    for (int first_pair = 0; first_pair < pairs; first_pair += qr_threads / 32) {
        int p = 0, q = first_pair + thread / 32;  // pack p <= pack q
        const bool computes = q < pairs;
        while (computes && q >= packs - p) q -= packs - p, ++p;
        q += p;
        const int i = p * pack_words + lane / 4, j = q * pack_words + lane % 4 * 2;
        double re[2] = {}, im[2] = {};
        for (index_t first = 0; first < rows.count(); first += qr_staged) {
            __syncthreads();
            for (int e = thread; e < qr_staged * words; e += qr_threads) {
                const index_t r = first + e / words;
                stage[e] = r < rows.count() ? static_cast<double>(rows.at(r)[e % words]) : 0.;
            }
            __syncthreads();
            if (computes)
#pragma unroll 4
                for (int s = 0; s < qr_staged; ++s) {
                    const double* row = stage + s * words;
                    const double a = row[i], b = row[i + 8];
#pragma unroll
                    for (int k = 0; k < 2; ++k) {
                        const double x = row[j + k], y = row[j + k + 8];
                        re[k] += a * x + b * y;
                        im[k] += a * y - b * x;
                    }
                }
        }
        if (computes)
            for (int k = 0; k < 2; ++k) gram[(8 * p + lane / 4) * n + 8 * q + lane % 4 * 2 + k] = {re[k], im[k]};
    }
    __syncthreads();
}

/// R of diag(scale) G diag(scale) in place of G, and what is left of each vector. @param first  of the passes: `left` begins
__device__ inline void factorise_gram(int count, int n, bool first, Cx<double>* gram, double* scale, double* left) {
    const int thread = static_cast<int>(threadIdx.x);
    for (int k = thread; k < count; k += qr_threads) {
        const double norm2 = gram[k * n + k].re;
        const bool usable = norm2 > 0 && norm2 < 1e300;
        scale[k] = usable ? 1 / sqrt(norm2) : 0;
        left[k] = first ? double(usable) : left[k] * (usable ? norm2 : 0);
    }
    __syncthreads();
    for (int e = thread; e < count * count; e += qr_threads) {
        const int i = e / count, j = e % count;
        if (i > j) continue;
        auto& z = gram[i * n + j];
        const double s = scale[i] * scale[j];
        z = s > 0 ? Cx<double>{s * z.re, s * z.im} : Cx<double>{i == j ? 1. : 0., 0.};
    }
    __syncthreads();
    for (int k = 0; k < count; ++k) {
        const double pivot = fmax(gram[k * n + k].re, qr_smallest_pivot), root = sqrt(pivot);
        __syncthreads();
        if (thread == 0) left[k] *= fmin(pivot, 1.);
        for (int j = k + thread; j < count; j += qr_threads) {
            auto& z = gram[k * n + j];
            z = j == k ? Cx<double>{root, 0} : Cx<double>{z.re / root, z.im / root};
        }
        __syncthreads();
        const int later = count - k - 1;
        for (int e = thread; e < later * later; e += qr_threads) {
            const int i = k + 1 + e / later, j = k + 1 + e % later;
            if (i > j) continue;
            const auto a = gram[k * n + i], b = gram[k * n + j];
            auto& z = gram[i * n + j];
            z = {z.re - (a.re * b.re + a.im * b.im), z.im - (a.re * b.im - a.im * b.re)};
        }
        __syncthreads();
    }
}

/// diag(scale) R^-1, a thread for a column. @param factor  columns beyond `count` and elements below the diagonal are zero
template <class T>
__device__ void invert_factor(int count, int n, Cx<double>* gram, const double* scale, T* factor) {
    for (int j = static_cast<int>(threadIdx.x); j < n; j += qr_threads) {
        T* const to = factor + j / 8 * n * pack_words + j % 8;
        for (int i = n - 1; i >= 0; --i) {
            Cx<double> z{0, 0};
            if (j < count && i <= j) {
                if (i == j) z.re = 1;
                for (int l = i + 1; l <= j; ++l) {
                    const auto a = gram[i * n + l], b = l == j ? Cx<double>{1 / gram[j * n + j].re, 0} : gram[j * n + l];
                    z = {z.re - (a.re * b.re - a.im * b.im), z.im - (a.re * b.im + a.im * b.re)};
                }
                const double diagonal = gram[i * n + i].re;
                z = {z.re / diagonal, z.im / diagonal};
                if (i < j) gram[j * n + i] = z;
                z = {scale[i] * z.re, scale[i] * z.im};
            }
            to[i * pack_words] = static_cast<T>(z.re);
            to[i * pack_words + 8] = static_cast<T>(z.im);
        }
    }
    __syncthreads();
}

/// X := X diag(scale) R^-1. Eight threads have some rows at a time, and the columns of a pack, from the last one down: what they overwrite
/// no pack before it needs.
template <class T>
__device__ void multiply_by_factor(const QrRows<T>& rows, int packs, const T* factor) {
    constexpr int together = 16 / sizeof(T), groups = qr_threads / 8;
    const int l = static_cast<int>(threadIdx.x) % 8, group = static_cast<int>(threadIdx.x) / 8, n = 8 * packs;
    for (index_t first = 0; first < rows.count(); first += together * groups) {
        T* row[together];  // beyond the last one: that again, which is not written
#pragma unroll
        for (int s = 0; s < together; ++s) row[s] = rows.at(min(first + s * groups + group, rows.count() - 1));
        for (int pack = packs - 1; pack >= 0; --pack) {
            T re[together] = {}, im[together] = {};
            const T* column = factor + static_cast<index_t>(pack) * n * pack_words + l;
            for (int four = 0; four < 2 * pack + 2; ++four, column += 4 * pack_words) {
                Four<T> x[together], y[together];
#pragma unroll
                for (int s = 0; s < together; ++s) {
                    const T* from = row[s] + four / 2 * pack_words + four % 2 * 4;
                    x[s] = load_four(from);
                    y[s] = load_four(from + 8);
                }
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const T t = column[i * pack_words], u = column[i * pack_words + 8];
#pragma unroll
                    for (int s = 0; s < together; ++s) {
                        re[s] += x[s].v[i] * t - y[s].v[i] * u;
                        im[s] += x[s].v[i] * u + y[s].v[i] * t;
                    }
                }
            }
            __syncwarp();
#pragma unroll
            for (int s = 0; s < together; ++s)
                if (first + s * groups + group < rows.count()) {
                    row[s][pack * pack_words + l] = re[s];
                    row[s][pack * pack_words + l + 8] = im[s];
                }
            __syncwarp();
        }
    }
}

/// One block of the lattice and chirality: blockIdx.x. Shared memory: qr_shared_bytes().
template <class T>
__global__ void __launch_bounds__(qr_threads) orthonormalise(QrWork<T> work) {
    const index_t which = blockIdx.x;
    const int n = work.size(), packs = work.layout.packs, count = work.layout.count;
    const QrRows<T> rows(work, which);
    auto* const gram = work.gram + which * n * n;
    double *const scale = work.scale + which * n, *const left = work.left + which * n;
    T* const factor = work.factor + which * 2 * n * n;
    for (int pass = 0; pass < qr_passes; ++pass) {
        gram_matrix(rows, packs, gram);
        factorise_gram(count, n, pass == 0, gram, scale, left);
        invert_factor(count, n, gram, scale, factor);
        multiply_by_factor(rows, packs, factor);
        __syncthreads();
    }
    if (threadIdx.x != 0) return;
    double least = 1;
    for (int k = 0; k < count; ++k) least = fmin(least, left[k]);
    work.kept[which] = static_cast<T>(least);
}

/// Bytes of shared memory of a block of threads, for the rows whose products are computed at a time.
inline std::size_t qr_shared_bytes(const BlockLayout& layout) {
    return qr_staged * sizeof(double) * pack_words * static_cast<std::size_t>(layout.packs);
}

}  // namespace kasane::lattice::coherent
