// Spaces: plain tags, Cpu or Cuda, that say where memory is and where work runs; every Buffer and every launch has one.
// Built without CUDA, the type Cuda does not exist.
#pragma once

#include <kasane/core/base/types.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

struct CUstream_st;

namespace kasane {

/// The host, with several threads.
struct Cpu {
    int threads = 0;  ///< 0: all processors that the process may use
};

#if defined(KASANE_CUDA)
/// One CUDA device and a stream on it.
struct Cuda {
    int device = 0;                 ///< number of the device
    CUstream_st* stream = nullptr;  ///< null: the default stream
};
/// Cpu or Cuda.
template <class S>
concept Space = std::same_as<S, Cpu> || std::same_as<S, Cuda>;
/// A space that is chosen at run time.
using AnySpace = std::variant<Cpu, Cuda>;
#else
template <class S>
concept Space = std::same_as<S, Cpu>;
using AnySpace = std::variant<Cpu>;
#endif

/// Threads that a launch on this Cpu uses.
int thread_count(Cpu on);

/// Returns the CUDA device if there is one, the CPU otherwise.
AnySpace best_space();

/// Returns the space called "auto", "cpu", "cuda" or "cuda:1"; `threads` (0: all) is for the CPU.
/// @throws InputError with the reason if a CUDA device is requested and none can be used
AnySpace space_named(const std::string& name, int threads = 0);

/// "cpu" or "cuda:0".
std::string name(const AnySpace& space);

/// Properties of a device.
struct DeviceInfo {
    std::string name;                ///< name by its vendor: "NVIDIA H200"
    std::string kind;                ///< "cpu" or "cuda"
    std::uint64_t memory_bytes = 0;  ///< installed memory [bytes]
    int units = 0;                   ///< multiprocessors, or cores that the process may use
    double clock_hertz = 0;          ///< highest clock; 0 where the system does not report it
    std::string capability;          ///< "9.0", or the SIMD instruction set that the CPU kernels use
};

/// Properties of the device of a space.
DeviceInfo device_info(const AnySpace& space);

/// The CPU first, then every CUDA device.
std::vector<DeviceInfo> devices();

/// Returns the reason, in words, why no CUDA device can be used; empty if one can.
std::string why_no_cuda();

/// Logs a warning, once, if the machine has a CUDA device for which this build has no code. For callers that then use the CPU.
void warn_of_unused_cuda();

/// Bytes that can still be allocated on this space.
std::uint64_t available_memory(const AnySpace& space);

/// Waits until all work submitted to the space so far is done.
void synchronize(const AnySpace& space);

}  // namespace kasane
