// kasane info: devices, build and versions.
#include <app/command.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/run/record.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

namespace kasane::app {

Action add_info(CLI::App&, const Common& common) {
    return [&common] {
        const auto text_or_null = [](const std::string& s) { return s.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(s); };
        const int threads = thread_count(Cpu{common.threads_or_all()});
        nlohmann::ordered_json object{
            {"version", version},
            {"commit", commit},
            {"build", {{"compiler", compiler}, {"cuda", text_or_null(cuda_compiler)}, {"mpi", nullptr}}},
            {"devices", nlohmann::ordered_json::array()},
            {"threads", threads},
            {"simd", run::simd_name()},
        };
        std::string text = fmt::format("kasane {} ({}), built by {}{}\n{} threads, {}", version, commit, compiler,
                                       *cuda_compiler ? fmt::format(" and nvcc {}", cuda_compiler) : "", threads, run::simd_name());
        for (const auto& device : devices()) {
            object["devices"].push_back({{"name", device.name}, {"kind", device.kind}, {"memory_bytes", device.memory_bytes},
                                         {"units", device.units}, {"clock_hertz", device.clock_hertz}, {"capability", device.capability}});
            text += fmt::format("\n{}: {}, {:.0f} GiB", device.kind, device.name, static_cast<double>(device.memory_bytes) / (1u << 30));
        }
        if (const auto why = why_no_cuda(); !why.empty()) {
            object["no_cuda"] = why;
            text += "\nno CUDA device: " + why;
        }
        print(common, object, text);
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
