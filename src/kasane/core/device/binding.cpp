#include <kasane/core/device/binding.hpp>

#include <fmt/format.h>
#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace kasane {
namespace {

std::string name_of(omp_proc_bind_t policy) {
    switch (policy) {
        case omp_proc_bind_false: return "";
        case omp_proc_bind_close: return "close";
        case omp_proc_bind_spread: return "spread";
        case omp_proc_bind_master: return "primary";
        default: return "true";
    }
}

int memory_nodes() {
    int nodes = 0;
    std::error_code error;
    for (std::filesystem::directory_iterator node("/sys/devices/system/node", error), end; !error && node != end; node.increment(error)) {
        const auto name = node->path().filename().string();
        nodes += name.starts_with("node") && name.size() > 4 && std::isdigit(static_cast<unsigned char>(name[4])) != 0;
    }
    return std::max(1, nodes);
}

}  // namespace

ThreadBinding thread_binding() {
    const int places = omp_get_num_places();
    return {places > 0 ? name_of(omp_get_proc_bind()) : "", places, memory_nodes()};
}

std::string words(const ThreadBinding& binding) {
    const auto nodes = binding.memory_nodes > 1 ? fmt::format("; {} memory nodes", binding.memory_nodes) : "";
    if (binding.policy.empty()) return "threads not bound to processors (OMP_PROC_BIND=spread OMP_PLACES=cores binds them)" + nodes;
    return fmt::format("threads bound ({}, {} place{})", binding.policy, binding.places, binding.places == 1 ? "" : "s") + nodes;
}

std::vector<int> places_of_team(int threads) {
    if (omp_get_num_places() == 0 || omp_get_proc_bind() == omp_proc_bind_false || gettid() != getpid()) return {};
    std::vector<int> place(static_cast<std::size_t>(threads), -1);
#pragma omp parallel num_threads(threads)
    place[static_cast<std::size_t>(omp_get_thread_num())] = omp_get_place_num();
    return place;
}

void run_on_place(int place) {
    if (place < 0 || place >= omp_get_num_places()) return;
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    cpu_set_t processors;
    CPU_ZERO(&processors);
    for (const int id : ids) CPU_SET(static_cast<std::size_t>(id), &processors);
    if (CPU_COUNT(&processors) > 0) sched_setaffinity(0, sizeof processors, &processors);
}

}  // namespace kasane
