#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/placement.hpp>

#include <sched.h>

#include <algorithm>

namespace kasane::comm {
namespace {

/// The spaces of this rank, as space_named() knows devices.
std::vector<AnySpace> choose(const Communicator& ranks, const std::string& device, int members, int threads, const std::vector<std::string>& cores) {
    const auto text = [](int count, const char* what) { return std::to_string(count) + " " + what + (count == 1 ? "" : "s"); };
    auto first = space_named(device, threads);
    if (name(first) == "cpu") {
        KS_VALIDATE(members == 1, "a rank on the CPU has one member, and " + std::to_string(members) + " are asked for: start more ranks");
        if (ranks.size() == 1 || threads > 0) return {first};
        // Ranks that may use the same cores share them.
        const auto& mine = cores[static_cast<std::size_t>(ranks.rank())];
        const auto sharing = static_cast<int>(std::count(cores.begin(), cores.end(), mine));
        return {Cpu{std::max(1, thread_count(Cpu{}) / sharing)}};
    }
    const int there = static_cast<int>(devices().size()) - 1;  // the CPU is one of them
    KS_VALIDATE(members <= there, text(members, "member") + " of a rank need as many devices, and there " + (there == 1 ? "is " : "are ") +
                                      text(there, "CUDA device"));
    if (device.find(':') != std::string::npos) {
        KS_VALIDATE(ranks.size() == 1 && members == 1, "'" + device + "' names one device, and this run has " + text(ranks.size(), "rank") +
                                                           " with " + text(members, "member") + " each: take cuda");
        return {first};
    }
    std::vector<AnySpace> spaces;
    for (int k = 0; k < members; ++k) spaces.push_back(space_named("cuda:" + std::to_string((ranks.local_rank() * members + k) % there)));
    return spaces;
}

/// Host and cores that this process may use.
std::string cores_here(const Communicator& ranks) {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    auto text = ranks.host();
    for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) text += " " + std::to_string(core);
    return text;
}

}  // namespace

std::vector<AnySpace> placement(Communicator& ranks, const std::string& device, int members, int threads) {
    const auto cores = ranks.all_gather(cores_here(ranks));
    const auto without = ranks.all_gather(why_no_cuda());
    const bool everywhere = std::all_of(without.begin(), without.end(), [](const std::string& why) { return why.empty(); });
    std::vector<AnySpace> spaces;
    std::string problem;
    try {
        spaces = choose(ranks, device == "auto" && !everywhere ? "cpu" : device, members, threads, cores);
    } catch (const InputError& error) {
        problem = error.what();
    }
    const auto problems = ranks.all_gather(problem);
    for (std::size_t r = 0; r < problems.size(); ++r)
        KS_VALIDATE(problems[r].empty(), problems.size() == 1 || std::count(problems.begin(), problems.end(), problems[r]) == ranks.size()
                                             ? problems[r]
                                             : "rank " + std::to_string(r) + ": " + problems[r]);
    return spaces;
}

std::vector<std::string> placement_text(Communicator& ranks, const std::vector<AnySpace>& here) {
    auto text = "rank " + std::to_string(ranks.rank()) + " on " + ranks.host() + ":";
    for (const auto& space : here) {
        const auto* cpu = std::get_if<Cpu>(&space);
        text += (&space == &here.front() ? " " : ", ") + name(space) + " " + device_info(space).name;
        if (cpu) text += ", " + std::to_string(thread_count(*cpu)) + " threads";
    }
    return ranks.all_gather(text);
}

}  // namespace kasane::comm
