#include <kasane/core/comm/communicator.hpp>
#include <kasane/run/gravity/parallel_keys.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace kasane::run {
namespace {

constexpr double MiB = 1 << 20;
constexpr std::array engines{comm::Engine::automatic, comm::Engine::copy, comm::Engine::nccl, comm::Engine::staged};
constexpr std::array forms{gravity::PairForm::automatic, gravity::PairForm::one_sided, gravity::PairForm::both_sides};

template <class Options>
auto one_of(io::Section& table, const char* key, const char* help, const Options& options) {
    std::vector<std::string> names;
    for (const auto option : options) names.push_back(name(option));
    const auto chosen = table.text(key, {.help = help, .fallback = names.front(), .choices = names});
    const auto found = std::find(names.begin(), names.end(), chosen);
    return options[static_cast<std::size_t>(found - names.begin()) % options.size()];
}

std::string count_text(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

}  // namespace

ParallelKeys::ParallelKeys(io::Section root, int ranks)
    : root_(root), table_(root.table("parallel", "several GPUs and ranks")), ranks_(ranks) {
    if (table_.present() || ranks > 1)
        workers_ = static_cast<int>(std::max<std::int64_t>(
            1, table_.integer("gpus_per_rank", {.help = "workers of each rank, one GPU each", .fallback = 1, .least = 1, .most = 64})));
}

gravity::Exchange ParallelKeys::exchange(const gravity::Force& force, const AnySpace& space) {
    gravity::Exchange exchange;
    const bool direct = std::holds_alternative<gravity::Direct>(force), cpu = kasane::name(space) == "cpu";
    if (!direct)
        for (const char* key : {"buffer", "form"})
            if (table_.has(key)) table_.problem(key, "has no effect here: it belongs to force.method = \"direct\". Remove it");
    if (!table_.present() && ranks_ == 1) return exchange;
    if (direct)
        exchange.buffer_bytes =
            MiB * table_.number("buffer", {.help = "each of the two buffers of a worker for the particles of other workers",
                                           .unit = "MiB",
                                           .fallback = exchange.buffer_bytes / MiB,
                                           .range = io::above(0)});
    exchange.engine = one_of(table_, "engine", "engine of the messages between workers", engines);
    if (direct) exchange.form = one_of(table_, "form", "pairs between workers: computed from each side, or once for both sides", forms);
    if (exchange.engine == comm::Engine::copy && ranks_ > 1)
        table_.problem("engine",
                       fmt::format("'copy' is for the GPUs of one rank, and there are {}: take auto", count_text(ranks_, "rank")));
    if (exchange.engine == comm::Engine::nccl && cpu)
        table_.problem("engine", "'nccl' is for CUDA devices, and this run is on the CPU: take auto");
    else if (exchange.engine == comm::Engine::nccl && comm::nccl_built_with().empty())
        table_.problem("engine", "'nccl': this build of kasane has no NCCL. Take auto, or build it where NCCL is installed");
    if (exchange.form == gravity::PairForm::both_sides && cpu)
        table_.problem("form", "'both-sides' is for CUDA devices, and this run is on the CPU: take auto");
    return exchange;
}

std::string name(comm::Engine engine) {
    switch (engine) {
        case comm::Engine::copy: return "copy";
        case comm::Engine::nccl: return "nccl";
        case comm::Engine::staged: return "staged";
        default: return "auto";
    }
}

std::string name(gravity::PairForm form) {
    switch (form) {
        case gravity::PairForm::one_sided: return "one-sided";
        case gravity::PairForm::both_sides: return "both-sides";
        default: return "auto";
    }
}

}  // namespace kasane::run
