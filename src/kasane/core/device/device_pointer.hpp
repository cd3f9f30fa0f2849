// The CUDA device that a pointer of another library belongs to.
#pragma once

#include <optional>

namespace kasane {

#if defined(KASANE_CUDA)
/// Number of the CUDA device whose memory this address is in, managed memory included; empty: memory of the host, or unknown to CUDA.
std::optional<int> cuda_device_of(const void* address);
#else
/// Without CUDA no memory is known to it.
inline std::optional<int> cuda_device_of(const void*) { return std::nullopt; }
#endif

}  // namespace kasane
