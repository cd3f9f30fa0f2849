// The memory of sums on a device. Kernels add to it; launch_take() reads it and leaves it cleared.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>
#include <kasane/gravity/direct/layout.hpp>

namespace kasane::gravity::detail {

class ClearedSums {
   public:
    explicit ClearedSums(Cuda on) : on_(on), memory_(on, 0), fixed_points_(on, fixed_point_bytes()), counter_(on, 1) {
        KS_CUDA(cudaMemsetAsync(fixed_points_.data(), 0, static_cast<std::size_t>(fixed_points_.size()), on.stream));
        KS_CUDA(cudaMemsetAsync(counter_.data(), 0, sizeof(int), on.stream));
    }

    /// Sums of n particles; they are zero for work that is launched on `on` afterwards. Call taken() after launch_take().
    SumsMemory begin(Cuda on, Precision precision, bool binned, index_t n, int components) {
        const auto bytes = DirectLayout{precision}.sums_bytes(n, components, binned);
        const bool grows = bytes > memory_.size();
        if (grows) memory_ = Buffer<std::byte, Cuda>(on_, bytes);
        const auto all = static_cast<std::size_t>(memory_.size());
        if (all > 0 && (grows || !clear_)) KS_CUDA(cudaMemsetAsync(memory_.data(), 0, all, on.stream));
        clear_ = false;
        return {memory_.data(), n, binned, fixed_points_.data(), counter_.data()};
    }
    void taken() { clear_ = true; }

   private:
    Cuda on_;
    Buffer<std::byte, Cuda> memory_, fixed_points_;
    Buffer<int, Cuda> counter_;
    bool clear_ = false;
};

}  // namespace kasane::gravity::detail
