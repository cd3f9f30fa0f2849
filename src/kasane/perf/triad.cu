#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/perf/triad.hpp>

#include <algorithm>
#include <limits>

namespace kasane {
namespace {

constexpr int block = 256;
constexpr int unroll = 4;  // independent loads in flight per thread

__global__ void fill(double* a, double* b, double* c, index_t n) {
    const index_t stride = static_cast<index_t>(gridDim.x) * block;
    for (index_t i = static_cast<index_t>(blockIdx.x) * block + threadIdx.x; i < n; i += stride) a[i] = 0, b[i] = 1, c[i] = 2;
}

/// A block takes unroll * block pairs; the grid covers all of them once.
__global__ void __launch_bounds__(block)
    triad(double2* __restrict__ a, const double2* __restrict__ b, const double2* __restrict__ c, double s, index_t pairs) {
    const index_t first = static_cast<index_t>(blockIdx.x) * block * unroll + threadIdx.x;
    double2 x[unroll], y[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u)
        if (const index_t i = first + u * block; i < pairs) x[u] = b[i], y[u] = c[i];
#pragma unroll
    for (int u = 0; u < unroll; ++u)
        if (const index_t i = first + u * block; i < pairs) a[i] = make_double2(x[u].x + s * y[u].x, x[u].y + s * y[u].y);
}

/// One sum per block into partial.
__global__ void __launch_bounds__(block)
    sum_of_products(const double2* __restrict__ b, const double2* __restrict__ c, index_t pairs, double* partial) {
    const index_t stride = static_cast<index_t>(gridDim.x) * block;
    double sum[unroll] = {};
    index_t i = static_cast<index_t>(blockIdx.x) * block + threadIdx.x;
    for (; i + (unroll - 1) * stride < pairs; i += unroll * stride) {
        double2 x[unroll], y[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) x[u] = b[i + u * stride], y[u] = c[i + u * stride];
#pragma unroll
        for (int u = 0; u < unroll; ++u) sum[u] += x[u].x * y[u].x + x[u].y * y[u].y;
    }
    for (; i < pairs; i += stride) sum[0] += b[i].x * c[i].x + b[i].y * c[i].y;
    __shared__ double mine[block];
    mine[threadIdx.x] = sum[0] + sum[1] + sum[2] + sum[3];
    for (int half = block / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) mine[threadIdx.x] += mine[threadIdx.x + half];
    }
    if (threadIdx.x == 0) partial[blockIdx.x] = mine[0];
}

struct Events {
    cudaEvent_t begin = nullptr, end = nullptr;
    Events() {
        KS_CUDA(cudaEventCreate(&begin));
        KS_CUDA(cudaEventCreate(&end));
    }
    ~Events() {
        static_cast<void>(cudaEventDestroy(begin));
        static_cast<void>(cudaEventDestroy(end));
    }
};

/// Seconds of the fastest of ten launches.
template <class Launch>
double fastest(Cuda on, Launch launch) {
    Events events;
    double best = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < 10; ++pass) {
        KS_CUDA(cudaEventRecord(events.begin, on.stream));
        launch();
        KS_CUDA(cudaGetLastError());
        KS_CUDA(cudaEventRecord(events.end, on.stream));
        KS_CUDA(cudaEventSynchronize(events.end));
        float milliseconds = 0;
        KS_CUDA(cudaEventElapsedTime(&milliseconds, events.begin, events.end));
        best = std::min(best, 1e-3 * milliseconds);
    }
    return best;
}

}  // namespace

MemorySpeed memory_speed(Cuda on, std::uint64_t array_bytes) {
    KS_CUDA(cudaSetDevice(on.device));
    int cache = 0, units = 0;
    KS_CUDA(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, on.device));
    KS_CUDA(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, on.device));
    MemorySpeed speed;
    speed.cache_bytes = static_cast<std::uint64_t>(cache);
    const index_t n = detail::speed_elements(array_bytes, speed.cache_bytes, available_memory(on)), pairs = n / 2;
    speed.array_bytes = static_cast<std::uint64_t>(n) * sizeof(double);
    const auto few = static_cast<unsigned>(units) * 8;
    Buffer<double, Cuda> a(on, n), b(on, n), c(on, n), partial(on, static_cast<index_t>(few));
    const auto *b2 = reinterpret_cast<const double2*>(b.data()), *c2 = reinterpret_cast<const double2*>(c.data());
    fill<<<few, block, 0, on.stream>>>(a.data(), b.data(), c.data(), n);
    const auto blocks = static_cast<unsigned>((pairs + block * unroll - 1) / (block * unroll));
    const double triad_seconds =
        fastest(on, [&] { triad<<<blocks, block, 0, on.stream>>>(reinterpret_cast<double2*>(a.data()), b2, c2, 3, pairs); });
    const double read_seconds = fastest(on, [&] { sum_of_products<<<few, block, 0, on.stream>>>(b2, c2, pairs, partial.data()); });
    double sum = 0, last = 0;
    for (const double s : to_host(partial)) sum += s;
    copy_to_host(on, View<double>{&last, 1}, View<const double>{a.data() + n - 1, 1});
    // Sums of small whole numbers are exact in any order, so that this tests the kernels.
    if (sum != 2 * static_cast<double>(n) || last != 7) throw ComputationError("memory_speed: wrong sums; this device errs");
    speed.triad = 3. * sizeof(double) * static_cast<double>(n) / triad_seconds;
    speed.read = 2. * sizeof(double) * static_cast<double>(n) / read_seconds;
    return speed;
}

}  // namespace kasane
