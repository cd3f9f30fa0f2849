// Union-find over all couplings at once: a row points to a smaller row of its component, or to itself.    [after Jaiganesh & Burtscher
// 2018]
#include <kasane/sparse/grid/launch.cuda.hpp>
#include <kasane/sparse/order/components.cuda.hpp>
#include <kasane/sparse/order/entries.cuda.hpp>

#include <cuda/atomic>

namespace kasane::sparse::device {
namespace {

/// Other threads write meanwhile: any value that is read is a row of the component.
__device__ std::int32_t seen(std::int32_t& parent) {
    return ::cuda::atomic_ref<std::int32_t, ::cuda::thread_scope_device>(parent).load(::cuda::memory_order_relaxed);
}

__device__ std::int32_t root_of(std::int32_t* parent, std::int32_t row) {
    std::int32_t up = seen(parent[row]);
    while (up != row) {
        const std::int32_t above = seen(parent[up]);
        if (above != up) parent[row] = above;  // an ancestor stays one, whatever other threads write
        row = up;
        up = above;
    }
    return row;
}

__device__ void join(std::int32_t* parent, std::int32_t a, std::int32_t b) {
    while (true) {
        a = root_of(parent, a), b = root_of(parent, b);
        if (a == b) return;
        const std::int32_t high = a > b ? a : b, low = a > b ? b : a;
        if (atomicCAS(parent + high, high, low) == high) return;
    }
}

/// The smallest neighbour is a good first parent.
__global__ void point_to_first(const CsrView A, std::int32_t* parent) {
    const index_t row = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (row >= A.n) return;
    const index_t first = A.begin(row) < A.end(row) ? A.column(A.begin(row)) : row;
    parent[row] = static_cast<std::int32_t>(first < row ? first : row);
}

__global__ void join_neighbors(const CsrView A, std::int32_t* parent) {
    const index_t base = (blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x) / 32 * 32;
    rows_of_warp(A, base, [&](index_t row, index_t first, index_t last, index_t step, bool) {
        for (index_t e = first; e < last; e += step)
            if (A.column(e) < row) join(parent, static_cast<std::int32_t>(row), static_cast<std::int32_t>(A.column(e)));
    });
}

__global__ void point_to_root(index_t rows, std::int32_t* parent) {
    const index_t row = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
    if (row < rows) parent[row] = root_of(parent, static_cast<std::int32_t>(row));
}

}  // namespace

Buffer<std::int32_t, Cuda> first_of_component(Cuda on, const CsrView& A) {
    KS_CUDA(cudaSetDevice(on.device));
    Buffer<std::int32_t, Cuda> parent(on, A.n);
    constexpr unsigned block = 256;
    const auto grid = static_cast<unsigned>((A.n + block - 1) / block);
    launch(Beside::nothing, grid, block, on.stream, point_to_first, A, parent.data());
    launch(Beside::nothing, grid, block, on.stream, join_neighbors, A, parent.data());
    launch(Beside::nothing, grid, block, on.stream, point_to_root, A.n, parent.data());
    return parent;
}

}  // namespace kasane::sparse::device
