// Finds the CUDA device to which a pointer of another library belongs.
#pragma once

#include <optional>

namespace kasane {

#if defined(KASANE_CUDA)
/// Returns the number of the CUDA device whose memory contains the address, managed memory included; empty for host memory and for memory
/// that CUDA did not allocate.
/// @throws ComputationError: a CUDA call fails
std::optional<int> cuda_device_of(const void* address);
#else
/// Returns an empty value: this build has no CUDA.
inline std::optional<int> cuda_device_of(const void*) { return std::nullopt; }
#endif

}  // namespace kasane
