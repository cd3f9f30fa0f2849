#include <bench/bench_workers.hpp>
#include <bench/gravity/scaling.hpp>
#include <kasane/core/comm/placement.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

namespace kasane::bench {
namespace {

constexpr int most_workers_cpu = 8;

}  // namespace

BenchWorkers::BenchWorkers(const BenchmarkContext& context) : ranks(comm::world()) {
    here = comm::placement(ranks, context.device, 1, context.threads);
    on_cpu = std::holds_alternative<Cpu>(here.front());
    const bool one_each = ranks.size() > 1 || context.device.find(':') != std::string::npos;
    const int most = on_cpu ? std::min(thread_count(Cpu{}), most_workers_cpu) : static_cast<int>(devices().size()) - 1;
    const int workers = context.workers > 0 ? context.workers : one_each ? 1 : most;
    if (!on_cpu)
        here = comm::placement(ranks, context.device, workers, context.threads);
    else if (workers > 1)  // workers of a process divide its threads; each has the same number for any number of workers
        here.assign(static_cast<std::size_t>(workers),
                    Cpu{context.threads > 0 ? context.threads : std::max(1, thread_count(std::get<Cpu>(here.front())) / workers)});
    for (const int some : doublings_up_to(workers)) sets.push_back({1, some});
    for (const int some : doublings_up_to(ranks.size()))
        if (some > 1) sets.push_back({some, workers});
}

std::string shared_note(comm::Communicator& ranks, const std::vector<AnySpace>& here) {
    std::string own = ranks.host();
    for (const auto& space : here) own += "\t" + name(space);
    std::map<std::string, int> workers;  // number of workers of each device
    for (const auto& text : ranks.all_gather(own)) {
        const auto host = text.substr(0, text.find('\t'));
        for (auto at = text.find('\t'); at != std::string::npos; at = text.find('\t', at + 1))
            ++workers[host + text.substr(at, text.find('\t', at + 1) - at)];
    }
    const auto fullest = std::max_element(workers.begin(), workers.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (fullest->second == 1) return "";
    if (!std::holds_alternative<Cpu>(here.front())) return fmt::format("{} workers share a device", fullest->second);
    const int threads = thread_count(std::get<Cpu>(here.front()));
    return fmt::format("{} workers share a processor, {} {} each; this rank may use {} cores", fullest->second, threads,
                       threads == 1 ? "thread" : "threads", device_info(Cpu{}).units);
}

}  // namespace kasane::bench
