// The few calls of the CUDA runtime that host code needs, without its headers. Empty in a build without CUDA.
// Every call is checked and throws ComputationError.
#pragma once

#include <kasane/core/device/space.hpp>

#include <cstddef>

#if defined(KASANE_CUDA)
namespace kasane::cuda {

int device_count();
std::string why_none();
/// Returns the reason why this build cannot use the device; empty if it can. Creates no context on the device.
std::string why_no_code(int device);
DeviceInfo info(int device);
std::uint64_t free_memory(int device);
void synchronize(Cuda on);

void* allocate(Cuda on, std::size_t bytes);
void release(Cuda on, void* memory) noexcept;
void copy_to_device(Cuda on, void* to, const void* from_host, std::size_t bytes);
void copy_to_host(Cuda on, void* to_host, const void* from, std::size_t bytes);
void copy_on_device(Cuda on, void* to, const void* from, std::size_t bytes);

}  // namespace kasane::cuda
#endif
