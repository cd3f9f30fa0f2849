// The walk `lists` on the CPU: consecutive targets are put into groups, and the groups are shared out among the threads.
// Invariant: the groups depend on the targets and the tuning alone, never on the number of threads.
#include <kasane/gravity/tree/walks.cpu.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <omp.h>

namespace kasane::gravity::detail {
namespace {

/// Splits targets [first, last) into groups.
void make_groups(const WalkJob& job, index_t first, index_t last, index_t most, std::vector<TargetGroup>& groups) {
    for (index_t i = first; i < last; i += most)
        groups.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(std::min(most, last - i))});
    (void)job;
}

}  // namespace

void walk_lists(Cpu on, const WalkJob& job, const WalkTuning& tuning, std::vector<ListsScratch>& scratch, WalkCounts& counts) {
    const int threads = thread_count(on);
    if (scratch.size() < static_cast<std::size_t>(threads)) scratch.resize(static_cast<std::size_t>(threads));
    const auto env = [](const char* name, int value) { const char* s = std::getenv(name); return s ? std::atoi(s) : value; };
    const index_t list = tuning.list > 0 ? tuning.list : 1024;
    const bool quadrupole = job.tree.quadrupole;
    const ListsChoice choice{list, static_cast<std::uint32_t>(env("FEW", quadrupole ? 3 : 0)), static_cast<std::uint32_t>(env("OPEN", 16))};
    std::vector<TargetGroup> groups;
    make_groups(job, 0, job.targets, tuning.group > 0 ? tuning.group : 64, groups);
    for (auto& s : scratch) {
        s.bodies.reset(4, list);
        if (quadrupole) s.cells.reset(11, list);
        s.cell_index.resize(static_cast<std::size_t>(list + InteractionList::slack));
        s.counts = {};
    }
    const auto walk = walk_group_kernel();
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (std::size_t g = 0; g < groups.size(); ++g) walk(job, choice, groups[g], scratch[static_cast<std::size_t>(omp_get_thread_num())]);
    for (const auto& s : scratch) counts += s.counts;
}

}  // namespace kasane::gravity::detail
