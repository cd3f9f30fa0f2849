#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/device_pointer.hpp>
#include <kasane/core/device/space_cuda.hpp>

namespace kasane {

std::optional<int> cuda_device_of(const void* address) {
    if (cuda::device_count() == 0) return std::nullopt;
    cudaPointerAttributes facts{};
    const auto status = cudaPointerGetAttributes(&facts, address);
    if (status == cudaErrorInvalidValue) {  // some versions of CUDA report host memory so
        static_cast<void>(cudaGetLastError());
        return std::nullopt;
    }
    KS_CUDA(status);
    if (facts.type != cudaMemoryTypeDevice && facts.type != cudaMemoryTypeManaged) return std::nullopt;
    return facts.device;
}

}  // namespace kasane
