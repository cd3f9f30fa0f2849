// The CUDA device that a pointer of another library belongs to.
#pragma once

#include <optional>

namespace kasane {

#if defined(KASANE_CUDA)
/// Number of the CUDA device to whose memory the address belongs, managed memory included; empty: host memory, or not allocated by CUDA.
/// @throws ComputationError: a CUDA call fails
std::optional<int> cuda_device_of(const void* address);
#else
/// Without CUDA: empty.
inline std::optional<int> cuda_device_of(const void*) { return std::nullopt; }
#endif

}  // namespace kasane
