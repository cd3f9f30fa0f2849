// The walk `lists` on the CPU: consecutive targets form groups, and the groups are distributed over the threads.
// Invariant: the groups depend on the targets and the tuning alone, never on the number of threads.
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/gravity/tree/walks.cpu.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity::detail {
namespace {

/// Measured on a Plummer sphere of 131072 bodies with the acceleration criterion and monopoles, one core with AVX2, at a 99th percentile
/// of the relative error of 2.65e-3 (GCC 12, Hilbert order, 2026-11): groups of 24, 32, 48, 64, 96 and 128 take 0.069, 0.070, 0.065,
/// 0.072, 0.075 and 0.100 s, and 7% more where crowded boxes are not divided (`inside`); opening leaves of 8, 16, 24, 32 and 48 bodies
/// 0.068, 0.068, 0.066, 0.065 and 0.065 s; lists of 512 to 2048 entries differ by 3%. Monopoles are faster than quadrupoles down to a
/// median error of 2e-4. With 0.1% to 50% of the bodies active, an extent of 1.5 to 2 is best.
ListsChoice choice_of(const WalkTuning& tuning, bool quadrupole) {
    ListsChoice choice;
    choice.group = tuning.group > 0 ? tuning.group : 48;
    choice.group_extent = tuning.group_extent > 0 ? tuning.group_extent : 1.75;
    choice.list = tuning.list > 0 ? tuning.list : 1024;
    // A multipole costs as much as a body, with second moments as much as three.
    choice.few = quadrupole ? 3 : 0;
    choice.open_leaf = 24;
    choice.inside = 25000;
    return choice;
}

struct Box {
    Vec3<float> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    void include(const Body& b) {
        low = {std::min(low.x, b.x), std::min(low.y, b.y), std::min(low.z, b.z)};
        high = {std::max(high.x, b.x), std::max(high.y, b.y), std::max(high.z, b.z)};
    }
    float extent() const { return std::max({high.x - low.x, high.y - low.y, high.z - low.z}); }
};

/// Divides the targets [first, last) into groups of at most `most`. Where few particles are targets they are far apart, and a common list
/// is long for all of them: a group of k ends where its box would exceed group_extent times (k / most)^(1/3) of the box of the `most`
/// bodies that begin with its first, or where it would span more than 200 k bodies (then separate walks cost less: 5.5 instead of 8.4
/// microseconds per target for 0.1% of 10^6).
void make_groups(const WalkJob& job, const ListsChoice& choice, index_t first, index_t last, std::vector<TargetGroup>& groups) {
    constexpr index_t widest = 200;
    const index_t most = choice.group;
    for (index_t i = first; i < last;) {
        const index_t end = std::min(i + most, last);
        const index_t from = job.body(i), to = std::min(from + most, job.tree.bodies);
        index_t k = end - i;
        if (job.body(end - 1) >= to) {  // otherwise all targets of the group are among these bodies
            Box natural, box;
            for (index_t b = from; b < to; ++b) natural.include(job.tree.body[b]);
            const double unit = choice.group_extent * static_cast<double>(natural.extent()) / std::cbrt(static_cast<double>(most));
            box.include(job.tree.body[from]);
            for (k = 1; i + k < end; ++k) {
                if (job.body(i + k) - from > widest * k) break;
                box.include(job.tree.body[job.body(i + k)]);
                if (static_cast<double>(box.extent()) > unit * std::cbrt(static_cast<double>(k + 1))) break;
            }
        }
        groups.push_back({static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(k)});
        i += k;
    }
}

}  // namespace

void walk_lists(Cpu on, const WalkJob& job, const WalkTuning& tuning, std::vector<ListsScratch>& scratch, WalkCounts& counts) {
    const int threads = thread_count(on);
    if (scratch.size() < static_cast<std::size_t>(threads)) scratch.resize(static_cast<std::size_t>(threads));
    const bool quadrupole = job.tree.quadrupole;
    const ListsChoice choice = choice_of(tuning, quadrupole);
    // Blocks of targets are grouped in parallel.
    const index_t block = 64 * choice.group, blocks = (job.targets + block - 1) / block;
    std::vector<std::vector<TargetGroup>> grouped(static_cast<std::size_t>(blocks));
    for_each_part(blocks > 4 ? threads : 1, blocks, [&](index_t b) {
        make_groups(job, choice, b * block, std::min((b + 1) * block, job.targets), grouped[static_cast<std::size_t>(b)]);
    });
    std::vector<TargetGroup> groups;
    for (const auto& part : grouped) groups.insert(groups.end(), part.begin(), part.end());
    for (auto& s : scratch) {
        const bool combined = own_softening(job.form);
        s.bodies.reset(combined ? 6 : 4, choice.list);
        if (quadrupole) s.cells.reset(combined ? 12 : 11, choice.list);
        s.cell_index.resize(static_cast<std::size_t>(choice.list + InteractionList::slack));
        s.counts = {};
    }
    const auto walk = walk_group_kernel();
    for_each_part(threads, static_cast<index_t>(groups.size()), [&](index_t g, int thread) {
        walk(job, choice, groups[static_cast<std::size_t>(g)], scratch[static_cast<std::size_t>(thread)]);
    });
    for (const auto& s : scratch) counts += s.counts;
}

}  // namespace kasane::gravity::detail
