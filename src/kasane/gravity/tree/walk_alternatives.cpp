#include <kasane/gravity/tree/walk_alternatives.hpp>

namespace kasane::gravity {
namespace {

/// Where all particles are targets, runs of consecutive targets form the groups, and their extent has no limit.
const WalkAlternatives lists_on_cpu{.many = {{.group = 32}, {.group = 64}, {.list = 512}, {.list = 2048}},
                                    .few = {{.group_extent = 1.4}, {.group_extent = 2.2}, {.group = 32}, {.list = 512}}};

/// On an H200 groups of 16 take 1.6 times as long as groups of 64 where all particles are targets; with few targets an extent of 3 takes
/// 1.6 times and lists of 512 entries 1.3 times as long as the walk's own choice (bench gravity.tree.techniques).
const WalkAlternatives lists_on_cuda{.many = {{.group = 32}, {.group = 64}, {.list = 256}},
                                     .few = {{.group_extent = 1.6}, {.group_extent = 2}, {.group = 32}, {.list = 256}}};

/// Only the product of both numbers acts: one thread of the CPU walks for a whole group.
const WalkAlternatives links_on_cpu{.many = {{.vector = 4, .group = 2}, {.vector = 4, .group = 8}, {.vector = 4, .group = 16}},
                                    .few = {{.vector = 4, .group = 2}, {.vector = 4, .group = 1}, {.vector = 1, .group = 1}}};

const WalkAlternatives links_on_cuda{.many = {{.group = 8}, {.group = 16}, {.vector = 2}, {.vector = 8}},
                                     .few = {{.group = 2}, {.group = 8}, {.vector = 2}, {.vector = 1}}};

}  // namespace

WalkAlternatives walk_alternatives(const AnySpace& on, const Tree& options) {
    const bool cpu = std::holds_alternative<Cpu>(on);
    if (options.walk != TreeWalk::links) return cpu ? lists_on_cpu : lists_on_cuda;
    auto all = cpu ? links_on_cpu : links_on_cuda;
    const auto same = [&](const WalkTuning& walk) {
        const int vector = walk.vector > 0 ? walk.vector : options.vector, group = walk.group > 0 ? walk.group : options.group;
        return cpu ? vector * group == options.vector * options.group : vector == options.vector && group == options.group;
    };
    std::erase_if(all.many, same);
    std::erase_if(all.few, same);
    return all;
}

}  // namespace kasane::gravity
