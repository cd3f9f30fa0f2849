#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/comm/placement.hpp>

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

namespace kasane::comm {
namespace {

/// The processors that this process may use, independent of the place to which OpenMP bound its first thread.
std::set<int> processors() {
    std::set<int> ids;
    for (int place = 0; place < omp_get_num_places(); ++place) {
        std::vector<int> of_place(static_cast<std::size_t>(omp_get_place_num_procs(place)));
        omp_get_place_proc_ids(place, of_place.data());
        ids.insert(of_place.begin(), of_place.end());
    }
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (ids.empty() && sched_getaffinity(0, sizeof mask, &mask) == 0)
        for (int id = 0; id < CPU_SETSIZE; ++id)
            if (CPU_ISSET(static_cast<std::size_t>(id), &mask)) ids.insert(id);
    return ids;
}

/// This rank's share of them: a launcher may bind each rank to its own processors, several ranks to the same, or none. Collective.
int share_of_processors(Communicator& ranks) {
    const auto mine = processors();
    const auto host = ranks.host();
    std::ostringstream text;
    text << host << '\n';
    for (const int id : mine) text << id << ' ';
    int sharing = 0;  // this rank among them
    for (const auto& rank : ranks.all_gather(text.str())) {
        std::istringstream words(rank);
        std::string of_host;
        std::getline(words, of_host);
        const auto is_mine = [&](int id) { return mine.contains(id); };
        if (of_host == host && std::any_of(std::istream_iterator<int>(words), {}, is_mine)) ++sharing;
    }
    return std::max(1, static_cast<int>(mine.size()) / std::max(1, sharing));
}

/// The spaces of this rank, named as space_named() reads them.
std::vector<AnySpace> choose(const Communicator& ranks, const std::string& device, int workers, int threads, int share) {
    const auto text = [](int count, const char* what) { return std::to_string(count) + " " + what + (count == 1 ? "" : "s"); };
    auto first = space_named(device, threads);
    if (name(first) == "cpu") {
        KS_VALIDATE(workers == 1, "a rank on the CPU has one worker, and " + std::to_string(workers) + " are asked for: start more ranks");
        if (ranks.size() == 1 || threads > 0) return {first};
        return {Cpu{share}};
    }
    const int there = static_cast<int>(devices().size()) - 1;  // the CPU counts as one of them
    KS_VALIDATE(workers <= there, text(workers, "worker") + " of a rank need as many devices, and there " + (there == 1 ? "is " : "are ") +
                                      text(there, "CUDA device"));
    if (device.find(':') != std::string::npos) {
        KS_VALIDATE(ranks.size() == 1 && workers == 1, "'" + device + "' names one device, and this run has " + text(ranks.size(), "rank") +
                                                           " with " + text(workers, "worker") + " each: take cuda");
        return {first};
    }
    std::vector<AnySpace> spaces;
    for (int k = 0; k < workers; ++k) spaces.push_back(space_named("cuda:" + std::to_string((ranks.local_rank() * workers + k) % there)));
    return spaces;
}

}  // namespace

std::vector<AnySpace> placement(Communicator& ranks, const std::string& device, int workers, int threads) {
    KS_VALIDATE(workers > 0, "a rank has at least one worker, not " + std::to_string(workers));
    const int share = share_of_processors(ranks);
    const auto without = ranks.all_gather(why_no_cuda());
    const bool everywhere = std::all_of(without.begin(), without.end(), [](const std::string& why) { return why.empty(); });
    if (device == "auto" && !everywhere) warn_of_unused_cuda();
    std::vector<AnySpace> spaces;
    std::string problem;
    try {
        spaces = choose(ranks, device == "auto" && !everywhere ? "cpu" : device, workers, threads, share);
    } catch (const InputError& error) {
        problem = error.what();
    }
    const auto problems = ranks.all_gather(problem);
    for (std::size_t r = 0; r < problems.size(); ++r)
        KS_VALIDATE(problems[r].empty(), problems.size() == 1 || std::count(problems.begin(), problems.end(), problems[r]) == ranks.size()
                                             ? problems[r]
                                             : "rank " + std::to_string(r) + ": " + problems[r]);
    if (name(spaces[0]) != "cpu" && static_cast<int>(processors().size()) < workers)
        log::warning(
            "rank {} has {} devices, and the launcher bound it to {} of the processors: each device needs one for its thread; start the "
            "ranks with --bind-to none, or with more processors each",
            ranks.rank(), workers, processors().size());
    return spaces;
}

std::vector<std::string> placement_text(Communicator& ranks, const std::vector<AnySpace>& here) {
    auto text = "rank " + std::to_string(ranks.rank()) + " on " + ranks.host() + ":";
    for (const auto& space : here) {
        const auto* cpu = std::get_if<Cpu>(&space);
        text += (&space == &here.front() ? " " : ", ") + name(space) + " " + device_info(space).name;
        const int threads = cpu ? thread_count(*cpu) : 0;
        if (cpu) text += ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
    }
    return ranks.all_gather(text);
}

}  // namespace kasane::comm
