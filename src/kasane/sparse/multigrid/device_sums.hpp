// Memory of sums over the blocks of a grid whose results stay on the device (device_sums.cuda.hpp). Empty in a build without CUDA.
#pragma once

#include <kasane/core/device/buffer.hpp>

#include <vector>

#if defined(KASANE_CUDA)
namespace kasane::sparse {

struct DeviceSums {
    static constexpr index_t most_blocks = 4096, most_sums = 2;
    double* partial;    ///< [most_sums][most_blocks]
    unsigned* arrived;  ///< 0 before and after
};

/// Owns it, for the sums of one stream.
class DeviceSumMemory {
   public:
    explicit DeviceSumMemory(Cuda on)
        : partial_(on, DeviceSums::most_sums * DeviceSums::most_blocks), arrived_(to_space(on, std::vector<unsigned>(1, 0u))) {}
    DeviceSums view() { return {partial_.data(), arrived_.data()}; }

   private:
    Buffer<double, Cuda> partial_;
    Buffer<unsigned, Cuda> arrived_;
};

}  // namespace kasane::sparse
#endif
