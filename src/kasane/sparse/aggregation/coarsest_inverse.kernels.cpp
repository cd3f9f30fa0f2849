#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/aggregation/coarsest_inverse.hpp>
#include <kasane/sparse/aggregation/dense_inverse.hpp>

#include <utility>
#include <vector>

namespace kasane::sparse {
namespace {

template <Space S>
Buffer<float, S> inverse_by_host(S on, const Rows<float, S>& A) {
    const auto n = static_cast<std::size_t>(A.rows);
    const auto begin = to_host(A.begin);
    const auto column = to_host(A.column);
    const auto value = to_host(A.value);
    std::vector<double> dense(n * n, 0.);
    for (std::size_t row = 0; row < n; ++row)
        for (std::uint32_t e = begin[row]; e < begin[row + 1]; ++e)
            dense[row * n + static_cast<std::size_t>(column[e])] = static_cast<double>(value[e]);
    const auto inverse = dense_inverse(std::move(dense), static_cast<int>(n));
    return to_space(on, std::vector<float>(inverse.begin(), inverse.end()));
}

Buffer<float, Cpu> inverse_on(Cpu on, const Rows<float, Cpu>& A) { return inverse_by_host(on, A); }

#if defined(__CUDACC__)
constexpr int inverting_threads = 1024;

/// Doubles of shared memory: the matrix, a column and a row of it, and its diagonal.
std::size_t shared_bytes(index_t n) { return sizeof(double) * static_cast<std::size_t>(n * n + 3 * n); }

/// Gauss and Jordan's elimination in place without exchanges: the matrix is positive semi-definite.
__global__ void __launch_bounds__(inverting_threads) invert(RowsView<float> A, float* inverse) {
    extern __shared__ double shared_of_inverse[];
    double* const a = shared_of_inverse;
    const auto n = static_cast<int>(A.rows);
    double *const column = a + n * n, *const row = column + n, *const diagonal = row + n;
    const auto thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
    constexpr int warps = inverting_threads / 32;
    constexpr double least_pivot = 1e-6;  // as dense_inverse()
    for (int i = thread; i < n * n; i += inverting_threads) a[i] = 0;
    __syncthreads();
    for (int i = warp; i < n; i += warps)
        for (std::uint32_t e = A.begin[i] + static_cast<std::uint32_t>(lane); e < A.begin[i + 1]; e += 32)
            a[i * n + A.column[e]] = static_cast<double>(A.value[e]);
    __syncthreads();
    for (int i = thread; i < n; i += inverting_threads) diagonal[i] = a[i * n + i];
    for (int k = 0; k < n; ++k) {
        __syncthreads();
        const double pivot = a[k * n + k];
        const bool null = !(pivot > least_pivot * diagonal[k]);
        for (int i = thread; i < n; i += inverting_threads) {
            column[i] = null ? 0 : a[i * n + k];
            row[i] = null ? 0 : i == k ? 1 / pivot : a[k * n + i] / pivot;
        }
        __syncthreads();
        for (int i = warp; i < n; i += warps)
            for (int j = lane; j < n; j += 32) {
                double& entry = a[i * n + j];
                if (i == k)
                    entry = row[j];
                else
                    entry = j == k ? -column[i] * row[k] : entry - column[i] * row[j];
            }
    }
    __syncthreads();
    for (int i = warp; i < n; i += warps)
        for (int j = lane; j < n; j += 32) inverse[i * n + j] = static_cast<float>(i < j ? a[j * n + i] : a[i * n + j]);
}

Buffer<float, Cuda> inverse_on(Cuda on, const Rows<float, Cuda>& A) {
    int most = 0;
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, on.device));
    const std::size_t bytes = shared_bytes(A.rows);
    if (bytes > static_cast<std::size_t>(most)) return inverse_by_host(on, A);
    Buffer<float, Cuda> inverse(on, A.rows * A.rows);
    KS_CUDA(cudaFuncSetAttribute(invert, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
    invert<<<1, inverting_threads, bytes, on.stream>>>(A.view(), inverse.data());
    KS_CUDA(cudaGetLastError());
    return inverse;
}
#endif

}  // namespace

template <Space S>
Buffer<float, S> coarsest_inverse(S on, const Rows<float, S>& A) {
    return inverse_on(on, A);
}

template Buffer<float, KS_SPACE> coarsest_inverse(KS_SPACE, const Rows<float, KS_SPACE>&);

}  // namespace kasane::sparse
