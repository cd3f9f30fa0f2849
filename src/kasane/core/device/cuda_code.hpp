// Decides for which CUDA devices a build has code. No CUDA headers: the rule is tested on machines without a device.
#pragma once

#include <string>
#include <string_view>

namespace kasane {

/// Compute capability of a device: 9.0.
struct CudaCapability {
    int major = 0, minor = 0;
};

/// Machine code of an architecture runs on devices of the same major and the same or a higher minor number; the driver compiles PTX for all
/// newer devices. @param architectures  separated by commas, as CMake writes them: "80-real" is machine code, "90-virtual" PTX, "90" both,
/// "90a" code for that architecture alone; empty: unknown, every device is taken to have code
bool has_cuda_code(std::string_view architectures, CudaCapability device);

/// Returns the reason why a device cannot run this build, and the option that changes it; empty if it can. @param device  its name: "NVIDIA
/// A100"
std::string why_no_cuda_code(std::string_view architectures, const std::string& device, CudaCapability capability);

}  // namespace kasane
