#include <kasane/core/device/cuda_code.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace kasane {
namespace {

/// One entry of the list: "90" is 9.0, "120" is 12.0.
bool runs(std::string_view entry, CudaCapability device) {
    int number = 0;
    const auto [end, error] = std::from_chars(entry.data(), entry.data() + entry.size(), number);
    if (error != std::errc{}) return true;  // a name that CMake resolves: the architectures are unknown
    const int own = 10 * device.major + device.minor;
    const std::string_view kind(end, entry.data() + entry.size());
    if (kind.starts_with("a")) return own == number;
    const bool machine = number / 10 == device.major && number <= own;
    const bool ptx = number <= own;
    return kind == "-real" ? machine : kind == "-virtual" ? ptx : machine || ptx;
}

}  // namespace

bool has_cuda_code(std::string_view architectures, CudaCapability device) {
    if (architectures.empty()) return true;
    for (std::size_t at = 0; at <= architectures.size();) {
        const auto end = std::min(architectures.find(',', at), architectures.size());
        if (runs(architectures.substr(at, end - at), device)) return true;
        at = end + 1;
    }
    return false;
}

std::string why_no_cuda_code(std::string_view architectures, const std::string& device, CudaCapability capability) {
    if (has_cuda_code(architectures, capability)) return "";
    return fmt::format(
        "this build has code for the CUDA architectures {} and none for {} (compute capability {}.{}); configure it with "
        "-DCMAKE_CUDA_ARCHITECTURES={}{} and build again",
        architectures, device, capability.major, capability.minor, capability.major, capability.minor);
}

}  // namespace kasane
