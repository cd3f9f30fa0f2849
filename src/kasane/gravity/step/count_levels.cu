// Histogram of levels on CUDA: one per block in shared memory, then one atomic addition per level and block.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/step/motion.hpp>

namespace kasane::gravity {
namespace {

constexpr int threads = 256;

__global__ void count(View<const std::uint8_t> level, View<StepReport::Word> total) {
    __shared__ std::uint32_t own[32];
    if (threadIdx.x < 32) own[threadIdx.x] = 0;
    __syncthreads();
    const index_t stride = gridDim.x * static_cast<index_t>(threads);
    // Neighbouring particles are often on one level: a thread counts runs of equal levels and adds each run once to shared memory.
    int run_level = 0;
    std::uint32_t run = 0;
    for (index_t i = blockIdx.x * static_cast<index_t>(threads) + threadIdx.x; i < level.n; i += stride) {
        if (level[i] != run_level) {
            if (run > 0) atomicAdd(&own[run_level & 31], run);
            run_level = level[i];
            run = 0;
        }
        ++run;
    }
    if (run > 0) atomicAdd(&own[run_level & 31], run);
    __syncthreads();
    if (threadIdx.x < total.n && own[threadIdx.x] > 0) atomicAdd(&total[threadIdx.x], StepReport::Word{own[threadIdx.x]});
}

}  // namespace

void count_levels(Cuda on, View<const std::uint8_t> level, View<StepReport::Word> total) {
    static_assert(most_levels <= 32);
    KS_CUDA(cudaSetDevice(on.device));
    KS_CUDA(cudaMemsetAsync(total.ptr, 0, static_cast<std::size_t>(total.n) * sizeof(StepReport::Word), on.stream));
    if (level.n == 0) return;
    const index_t blocks = (level.n + threads - 1) / threads;
    count<<<static_cast<unsigned>(blocks < 1024 ? blocks : 1024), threads, 0, on.stream>>>(level, total);
    KS_CUDA(cudaGetLastError());
}

}  // namespace kasane::gravity
