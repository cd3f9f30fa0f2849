#include <kasane/core/comm/communicator.hpp>
#include <kasane/run/record_parts.hpp>
#include <kasane/version.hpp>

#include <cmath>

namespace kasane::run {

nlohmann::ordered_json record_head(const DeviceInfo& device, int threads, const std::string& simd) {
    return {{"kasane", version},
            {"commit", commit},
            {"build", {{"compiler", compiler}, {"cuda", text_or_null(cuda_compiler)}, {"mpi", text_or_null(comm::mpi_built_with())}}},
            {"device",
             {{"name", device.name},
              {"kind", device.kind},
              {"memory_bytes", device.memory_bytes},
              {"units", device.units},
              {"clock_hertz", device.clock_hertz},
              {"capability", device.capability}}},
            {"threads", threads},
            {"simd", simd}};
}

nlohmann::ordered_json text_or_null(const std::string& text) {
    return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

std::string text_or_empty(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : std::string(); }

double number_or_nan(const nlohmann::json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

int threads_of(const AnySpace& space) {
    const auto* cpu = std::get_if<Cpu>(&space);
    return thread_count(cpu ? *cpu : Cpu{});
}

}  // namespace kasane::run
