// kasane info: devices, build and versions; under a launcher also the devices of each rank.
#include <app/command.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/placement.hpp>
#include <kasane/core/device/binding.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/io/json.hpp>
#include <kasane/run/driver/record.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

namespace kasane::app {
namespace {

/// Rank, host and spaces of all ranks, in their order. Collective.
io::Json rank_objects(comm::Communicator& ranks, const std::vector<AnySpace>& here) {
    io::Json spaces = io::Json::array(), all = spaces;
    for (const auto& space : here) {
        io::Json object{{"space", name(space)}, {"name", device_info(space).name}};
        if (const auto* cpu = std::get_if<Cpu>(&space)) object["threads"] = thread_count(*cpu);
        spaces.push_back(object);
    }
    const io::Json mine{{"rank", ranks.rank()}, {"host", ranks.host()}, {"spaces", spaces}};
    for (const auto& text : ranks.all_gather(mine.dump())) all.push_back(io::parse_json(text, "message of a rank"));
    return all;
}

}  // namespace

Action add_info(CLI::App&, const Common& common) {
    return [&common] {
        const auto text_or_null = [](const std::string& s) { return s.empty() ? io::Json(nullptr) : io::Json(s); };
        const int threads = thread_count(Cpu{common.threads_or_all()});
        const ThreadBinding binding = thread_binding();
        io::Json object{
            {"version", version},
            {"commit", commit},
            {"build",
             {{"compiler", compiler},
              {"cuda", text_or_null(cuda_compiler)},
              {"mpi", text_or_null(comm::mpi_built_with())},
              {"nccl", text_or_null(comm::nccl_built_with())}}},
            {"devices", io::Json::array()},
            {"threads", threads},
            {"thread_binding", text_or_null(binding.policy)},
            {"memory_nodes", binding.memory_nodes},
            {"simd", run::simd_name()},
        };
        std::string text = fmt::format("kasane {} ({}), built by {}{}\n{} threads, {}", version, commit, compiler,
                                       *cuda_compiler ? fmt::format(" and nvcc {}", cuda_compiler) : "", threads, run::simd_name());
        text += "\n" + words(binding);
        for (const auto& [what, with] : {std::pair("MPI", comm::mpi_built_with()), std::pair("NCCL", comm::nccl_built_with())})
            text += with.empty() ? fmt::format("\nwithout {}", what) : "\nwith " + with;
        for (const auto& device : devices()) {
            object["devices"].push_back({{"name", device.name},
                                         {"kind", device.kind},
                                         {"memory_bytes", device.memory_bytes},
                                         {"units", device.units},
                                         {"clock_hertz", device.clock_hertz},
                                         {"capability", device.capability}});
            text += fmt::format("\n{}: {}, {:.0f} GiB", device.kind, device.name, static_cast<double>(device.memory_bytes) / (1u << 30));
        }
        if (const auto why = why_no_cuda(); !why.empty()) {
            object["no_cuda"] = why;
            text += "\nno CUDA device: " + why;
        }
        auto& ranks = comm::world();
        const auto here = comm::placement(ranks, common.device_or_auto(), 1, common.threads_or_all());
        object["engine"] = ranks.engine();
        object["ranks"] = rank_objects(ranks, here);
        text += fmt::format("\n{}{}", ranks.size() > 1 ? fmt::format("{} ranks, ", ranks.size()) : "", ranks.engine());
        for (const auto& line : comm::placement_text(ranks, here)) text += "\n" + line;
        print(common, object, text);
        return static_cast<int>(success);
    };
}

}  // namespace kasane::app
