// The memory of sums on a device, between a kernel that adds to it and launch_take(), which reads it and leaves it cleared.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/gravity/direct/launches.cuda.hpp>

namespace kasane::gravity::detail {

class ClearedSums {
   public:
    explicit ClearedSums(Cuda on) : on_(on), memory_(on, 0), fixed_points_(on, fixed_point_bytes()), counter_(on, 1) {
        KS_CUDA(cudaMemsetAsync(fixed_points_.data(), 0, static_cast<std::size_t>(fixed_points_.size()), on.stream));
        KS_CUDA(cudaMemsetAsync(counter_.data(), 0, sizeof(int), on.stream));
    }

    /// Sums of n particles, all zero once the work given to `on` so far is done. Every begin() needs its taken().
    SumsMemory begin(Cuda on, Precision precision, bool binned, index_t n, int components) {
        const auto bytes = sums_bytes(precision, binned, n, components);
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
