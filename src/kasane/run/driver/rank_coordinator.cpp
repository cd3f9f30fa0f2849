#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/placement.hpp>
#include <kasane/run/driver/kind.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <algorithm>
#include <cstddef>

namespace kasane::run {
namespace {

/// An order that the root rank broadcasts.
struct Order {
    enum What : std::int32_t { end, place, work } what = end;
    std::int32_t workers = 1, threads = 0;
    std::int32_t length = 0;  ///< of the text that follows: the name of a device (place) or of a kind of run (work)
};

void broadcast(comm::Communicator& ranks, Order& order, std::string& text) {
    if (ranks.size() == 1) return;
    order.length = static_cast<std::int32_t>(text.size());
    ranks.broadcast(&order, sizeof order, 0);
    text.resize(static_cast<std::size_t>(order.length));
    ranks.broadcast(text.data(), text.size(), 0);
}

void send(comm::Communicator& ranks, Order order, std::string text = {}) { broadcast(ranks, order, text); }

std::vector<std::string> names(const std::vector<AnySpace>& spaces) {
    std::vector<std::string> all;
    for (const auto& space : spaces) all.push_back(name(space));
    return all;
}

/// Free memory of every rank, in their order.
std::vector<RankCoordinator::Free> gather_free(comm::Communicator& ranks, const std::vector<AnySpace>& here) {
    const auto size = static_cast<std::size_t>(ranks.size()), rank = static_cast<std::size_t>(ranks.rank());
    const auto mine = RankCoordinator::free_here(here, ranks.local_size());
    std::vector<std::uint64_t> all(3 * size);
    all[3 * rank] = mine.host, all[3 * rank + 1] = static_cast<std::uint64_t>(mine.sharing), all[3 * rank + 2] = mine.device;
    ranks.all_reduce(View<std::uint64_t>{all.data(), static_cast<index_t>(all.size())}, comm::Reduce::sum);
    std::vector<RankCoordinator::Free> free(size);
    for (std::size_t r = 0; r < size; ++r) free[r] = {all[3 * r], static_cast<int>(all[3 * r + 1]), all[3 * r + 2]};
    return free;
}

}  // namespace

RankCoordinator::RankCoordinator() : own_(comm::alone()), ranks_(*own_) {}

RankCoordinator::RankCoordinator(comm::Communicator& ranks) : ranks_(ranks) {}

RankCoordinator::~RankCoordinator() {
    workers_.reset();
    send(ranks_, {Order::end});
}

RankCoordinator::Free RankCoordinator::free_here(const std::vector<AnySpace>& here, int sharing) {
    Free free{available_memory(Cpu{}), sharing, 0};
    for (const auto& space : here)
        if (name(space) != "cpu") {
            const auto bytes = available_memory(space);
            free.device = free.device == 0 ? bytes : std::min(free.device, bytes);
        }
    return free;
}

int RankCoordinator::size() const { return ranks_.size(); }

std::vector<AnySpace> RankCoordinator::place(const std::string& device, int workers, int threads) {
    send(ranks_, {Order::place, workers, threads}, device);
    auto here = comm::placement(ranks_, device, workers, threads);
    placement_ = comm::placement_text(ranks_, here);
    free_ = gather_free(ranks_, here);
    return here;
}

comm::WorkerCommunicator& RankCoordinator::workers(const std::string& kind, const std::vector<AnySpace>& here) {
    workers_.reset();
    send(ranks_, {Order::work}, kind);
    workers_ = std::make_unique<comm::WorkerCommunicator>(ranks_, static_cast<int>(here.size()), names(here));
    return *workers_;
}

void RankCoordinator::end_if_others_wait() {
    if (ranks_.size() == 1) return;
    try {
        throw;
    } catch (const Error&) {  // thrown by all ranks, or by the root rank between two commands
    } catch (...) {
        int status = 1;
        const auto reason = comm::reason_of_current_exception(status);
        comm::end_run(ranks_, comm::rank_text(ranks_), reason, status);
    }
}

void worker_loop(comm::Communicator& ranks, const Kinds& kinds, const std::vector<WorkerLoop>& others) {
    std::vector<WorkerLoop> loops = others;
    for (const auto* kind : kinds) loops.push_back({kind->name, kind->worker});
    std::vector<AnySpace> here;
    for (;;) {
        Order order;
        std::string text;
        broadcast(ranks, order, text);
        if (order.what == Order::end) return;
        if (order.what == Order::place) {
            try {
                here = comm::placement(ranks, text, order.workers, order.threads);
            } catch (const InputError&) {  // on all ranks
                continue;
            }
            comm::placement_text(ranks, here);
            gather_free(ranks, here);
            continue;
        }
        const auto loop = std::ranges::find_if(loops, [&](const auto& each) { return each.name == text; });
        KS_EXPECT(loop != loops.end());
        comm::WorkerCommunicator communicator(ranks, static_cast<int>(here.size()), names(here));
        loop->worker(communicator, here);
    }
}

}  // namespace kasane::run
