#include <kasane/core/comm/plan.hpp>

namespace kasane::comm {
namespace {

/// Particles of the largest run of `count` slabs that begins at a multiple of `count`.
index_t largest_run(const Partition& partition, int count) {
    index_t most = 0;
    for (int first = 0; first < partition.workers; first += count) most = std::max(most, partition.count(first, count));
    return most;
}

}  // namespace

ExchangePlan exchange_plan(const Partition& partition, int worker, index_t buffer) {
    const int workers = partition.workers;
    ExchangePlan plan;
    plan.buffer = partition.largest();
    // Accumulation: joined slabs must fit, except those of the very last message, which are not joined to others.
    while (workers % (2 * plan.group) == 0) {
        const bool last = 2 * plan.group == workers;
        const auto needed = largest_run(partition, last ? plan.group : 2 * plan.group);
        if (needed > std::max(buffer, partition.largest())) break;
        const int partner = worker ^ plan.group;
        const auto run = [&](int of) { return Slabs{of / plan.group * plan.group, plan.group}; };
        plan.hops.push_back({partner, partner, run(worker), run(partner), !last});
        plan.buffer = std::max(plan.buffer, needed);
        plan.group *= 2;
    }
    // Transport: around the ring of the workers at this worker's position in their groups.
    const int groups = workers / plan.group, own = worker / plan.group;
    const auto run = [&](int group) { return Slabs{group % groups * plan.group, plan.group}; };
    for (int turn = 1; turn < groups; ++turn)
        plan.hops.push_back(
            {(worker + workers - plan.group) % workers, (worker + plan.group) % workers, run(own + turn - 1), run(own + turn), false});
    return plan;
}

}  // namespace kasane::comm
