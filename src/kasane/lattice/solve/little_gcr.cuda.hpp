// GCR of the little system on a device: an iteration makes its new vector y orthogonal to all earlier ones at once, and the host reads its
// numbers once. All products are computed before the first vector is subtracted (classical Gram and Schmidt), so that y is read once and
// two kernels take the place of one for every vector. GCR computes the rest of the residual with the vector that it has: less orthogonality
// costs iterations, never accuracy. Invariant: sums have one order, which depends on sizes alone.
#pragma once

#include <kasane/core/device/arrival.cuda.hpp>
#include <kasane/lattice/solve/lanes.hpp>

#include <cstdint>

namespace kasane::lattice::coherent {

constexpr int gcr_vectors = 128;  ///< in a launch, at most
constexpr int gcr_threads = 256;

template <class T>
struct VectorList {
    const T* of[gcr_vectors];
};

/// Place of the real part of number `index` of a vector of coefficients; the imaginary part is 8 places later.
__device__ inline index_t place_of_number(index_t index) { return index / 8 * pack_words + index % 8; }

/// Adds `count` numbers of all threads of a block; thread 0 has the sums. @param shared  [gcr_threads / 32][count]
template <int count>
__device__ inline void add_to_first(double (&values)[count], double (*shared)[count]) {
#pragma unroll
    for (int k = 0; k < count; ++k)
        for (int reach = 16; reach > 0; reach /= 2) values[k] += __shfl_down_sync(0xffffffffu, values[k], reach);
    const int warp = static_cast<int>(threadIdx.x) / 32;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
#pragma unroll
        for (int k = 0; k < count; ++k) shared[warp][k] = values[k];
    __syncthreads();
    if (threadIdx.x == 0)
        for (int w = 1; w < gcr_threads / 32; ++w)
#pragma unroll
            for (int k = 0; k < count; ++k) values[k] += shared[w][k];
}

/// Sums of the blocks of (c_l, y), and of |y|^2 as product `count`. @param parts  [count + 1][re, im][blocks]
template <class T>
__global__ void __launch_bounds__(gcr_threads)
    partial_products_with(const __grid_constant__ VectorList<T> c, int count, const T* y, index_t numbers, double* parts) {
    __shared__ double warps[gcr_threads / 32][gcr_vectors + 1][2];
    const index_t index = blockIdx.x * index_t{gcr_threads} + threadIdx.x;
    const index_t at = place_of_number(index < numbers ? index : 0);
    const double re = index < numbers ? y[at] : T(0), im = index < numbers ? y[at + 8] : T(0);
    const int warp = static_cast<int>(threadIdx.x) / 32;
#pragma unroll 4
    for (int l = 0; l <= count; ++l) {
        const double a = l < count ? c.of[l][at] : re, b = l < count ? c.of[l][at + 8] : im;
        double x = a * re + b * im, z = a * im - b * re;
        for (int reach = 16; reach > 0; reach /= 2) {
            x += __shfl_down_sync(0xffffffffu, x, reach);
            z += __shfl_down_sync(0xffffffffu, z, reach);
        }
        if (threadIdx.x % 32 == 0) {
            warps[warp][l][0] = x;
            warps[warp][l][1] = z;
        }
    }
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < 2 * (count + 1); k += gcr_threads) {
        double sum = 0;
        for (int w = 0; w < gcr_threads / 32; ++w) sum += warps[w][k / 2][k % 2];
        parts[k * index_t{gridDim.x} + blockIdx.x] = sum;
    }
}

/// One number of a product, blockIdx.x, from its parts. @param norms2  [count] |c_l|^2; product `count` is not divided
/// @param beta  [count + 1][re, im]
__global__ void __launch_bounds__(gcr_threads)
    add_parts(const double* parts, index_t blocks, int count, const double* norms2, double* beta) {
    __shared__ double shared[gcr_threads / 32][1];
    double sum[1] = {};
    for (index_t b = threadIdx.x; b < blocks; b += gcr_threads) sum[0] += parts[blockIdx.x * blocks + b];
    add_to_first(sum, shared);
    const int l = static_cast<int>(blockIdx.x) / 2;
    if (threadIdx.x == 0) beta[blockIdx.x] = l < count ? sum[0] / norms2[l] : sum[0];
}

/// Numbers of an iteration in addition to the products.
struct GcrNumbers {
    double before, now;  ///< |y|^2 before and after the subtraction
    double alpha[2];     ///< (y, r) / |y|^2, 0 where y lies in the span of the others
};
/// Report to the host, in pinned memory.
struct GcrMail {
    double beta[2 * gcr_vectors];
    GcrNumbers numbers;
    std::uint64_t ticket;  ///< of the iteration; written last
};

/// y -= sum beta_l c_l. The last block that is ready adds |y|^2 and (y, r) of all. @param parts  [3][blocks]
/// @param norm2  of y, for later iterations   @param arrived  0 before and after the call   @param mail  gets beta, the numbers and the
/// ticket
template <class T>
__global__ void __launch_bounds__(gcr_threads)
    subtract_all(const __grid_constant__ VectorList<T> c, int count, const double* beta, const T* r, T* y, index_t numbers, double* parts,
                 std::uint32_t* arrived, double* norm2, GcrNumbers* out, GcrMail* mail, std::uint64_t ticket) {
    __shared__ T factors[gcr_vectors][2];
    __shared__ double shared[gcr_threads / 32][3];
    __shared__ bool adds;
    for (int k = static_cast<int>(threadIdx.x); k < 2 * count; k += gcr_threads) factors[k / 2][k % 2] = static_cast<T>(beta[k]);
    __syncthreads();
    const index_t index = blockIdx.x * index_t{gcr_threads} + threadIdx.x;
    double sums[3] = {};
    if (index < numbers) {
        const index_t at = place_of_number(index);
        T re = y[at], im = y[at + 8];
#pragma unroll 8
        for (int l = 0; l < count; ++l) {
            const T a = factors[l][0], b = factors[l][1], x = c.of[l][at], z = c.of[l][at + 8];
            re -= a * x - b * z;
            im -= a * z + b * x;
        }
        y[at] = re;
        y[at + 8] = im;
        const double p = re, q = im, u = r[at], v = r[at + 8];
        sums[0] = p * p + q * q;
        sums[1] = p * u + q * v;
        sums[2] = p * v - q * u;
    }
    add_to_first(sums, shared);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; ++k) parts[k * index_t{gridDim.x} + blockIdx.x] = sums[k];
        adds = count_arrival(*arrived) == gridDim.x - 1;
    }
    __syncthreads();
    if (!adds) return;
    for (int k = 0; k < 3; ++k) {
        sums[k] = 0;
        for (index_t b = threadIdx.x; b < gridDim.x; b += gcr_threads) sums[k] += __ldcg(parts + k * index_t{gridDim.x} + b);
    }
    add_to_first(sums, shared);
    for (int k = static_cast<int>(threadIdx.x); k < 2 * count; k += gcr_threads) static_cast<volatile double*>(mail->beta)[k] = beta[k];
    __syncthreads();
    if (threadIdx.x != 0) return;
    const double before = beta[2 * count];
    const bool usable = sums[0] > 1e-28 * before;
    const GcrNumbers found{before, sums[0], {usable ? sums[1] / sums[0] : 0, usable ? sums[2] / sums[0] : 0}};
    *norm2 = usable ? sums[0] : 1;
    *out = mail->numbers = found;
    *arrived = 0;
    __threadfence_system();
    *const_cast<volatile std::uint64_t*>(&mail->ticket) = ticket;
}

/// r -= alpha y
template <class T>
struct TakeOut {
    const T* y;
    const GcrNumbers* numbers;
    T* r;
    KS_FN void operator()(index_t index) const {
        const index_t at = index / 8 * pack_words + index % 8;
        const T a = static_cast<T>(numbers->alpha[0]), b = static_cast<T>(numbers->alpha[1]), x = y[at], z = y[at + 8];
        r[at] -= a * x - b * z;
        r[at + 8] -= a * z + b * x;
    }
};

template <class T>
struct FactorList {
    T of[gcr_vectors][2];
};

/// x += sum of factors times vectors
template <class T>
__global__ void __launch_bounds__(gcr_threads)
    add_all(const __grid_constant__ VectorList<T> z, const __grid_constant__ FactorList<T> factors, int count, T* x, index_t numbers) {
    const index_t index = blockIdx.x * index_t{gcr_threads} + threadIdx.x;
    if (index >= numbers) return;
    const index_t at = place_of_number(index);
    T re = x[at], im = x[at + 8];
#pragma unroll 8
    for (int l = 0; l < count; ++l) {
        const T a = factors.of[l][0], b = factors.of[l][1], u = z.of[l][at], v = z.of[l][at + 8];
        re += a * u - b * v;
        im += a * v + b * u;
    }
    x[at] = re;
    x[at + 8] = im;
}

}  // namespace kasane::lattice::coherent
