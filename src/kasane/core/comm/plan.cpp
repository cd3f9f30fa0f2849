#include <kasane/core/comm/plan.hpp>

namespace kasane::comm {
namespace {

/// Particles of the largest of the runs of `count` slabs that begin at multiples of `count`.
index_t largest_run(const Partition& partition, int count) {
    index_t most = 0;
    for (int first = 0; first < partition.members; first += count) most = std::max(most, partition.count(first, count));
    return most;
}

}  // namespace

ExchangePlan exchange_plan(const Partition& partition, int member, index_t buffer) {
    const int members = partition.members;
    ExchangePlan plan;
    plan.buffer = partition.largest();
    // Accumulation: what is joined must fit, but for the last message of all, which is joined to nothing.
    while (members % (2 * plan.group) == 0) {
        const bool last = 2 * plan.group == members;
        const auto needed = largest_run(partition, last ? plan.group : 2 * plan.group);
        if (needed > std::max(buffer, partition.largest())) break;
        const int partner = member ^ plan.group;
        const auto run = [&](int of) { return Slabs{of / plan.group * plan.group, plan.group}; };
        plan.hops.push_back({partner, partner, run(member), run(partner), !last});
        plan.buffer = std::max(plan.buffer, needed);
        plan.group *= 2;
    }
    // Transport: round the ring of those who are at this member's place in their groups.
    const int groups = members / plan.group, own = member / plan.group;
    const auto run = [&](int group) { return Slabs{group % groups * plan.group, plan.group}; };
    for (int turn = 1; turn < groups; ++turn)
        plan.hops.push_back(
            {(member + members - plan.group) % members, (member + plan.group) % members, run(own + turn - 1), run(own + turn), false});
    return plan;
}

}  // namespace kasane::comm
