#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/placement.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/run/crew.hpp>

#include <algorithm>
#include <cstddef>

namespace kasane::run {
namespace {

/// What rank 0 tells the others.
struct Order {
    enum What : std::int32_t { over, place, team } what = over;
    std::int32_t members = 1, threads = 0;
    std::int32_t length = 0;  ///< of the device's name, which follows
};

void broadcast(comm::Communicator& ranks, Order& order, std::string& device) {
    if (ranks.size() == 1) return;
    order.length = static_cast<std::int32_t>(device.size());
    ranks.broadcast(&order, sizeof order, 0);
    device.resize(static_cast<std::size_t>(order.length));
    ranks.broadcast(device.data(), device.size(), 0);
}

void tell(comm::Communicator& ranks, Order order, std::string device = {}) { broadcast(ranks, order, device); }

std::vector<std::string> names(const std::vector<AnySpace>& spaces) {
    std::vector<std::string> all;
    for (const auto& space : spaces) all.push_back(name(space));
    return all;
}

/// What every rank has free, in the order of the ranks.
std::vector<Crew::Free> gather_free(comm::Communicator& ranks, const std::vector<AnySpace>& here) {
    const auto size = static_cast<std::size_t>(ranks.size()), rank = static_cast<std::size_t>(ranks.rank());
    const auto mine = Crew::free_here(here, ranks.local_size());
    std::vector<std::uint64_t> all(3 * size);
    all[3 * rank] = mine.host, all[3 * rank + 1] = static_cast<std::uint64_t>(mine.sharing), all[3 * rank + 2] = mine.device;
    ranks.all_reduce(View<std::uint64_t>{all.data(), static_cast<index_t>(all.size())}, comm::Reduce::sum);
    std::vector<Crew::Free> free(size);
    for (std::size_t r = 0; r < size; ++r) free[r] = {all[3 * r], static_cast<int>(all[3 * r + 1]), all[3 * r + 2]};
    return free;
}

}  // namespace

Crew::Crew() : own_(comm::alone()), ranks_(*own_) {}

Crew::Crew(comm::Communicator& ranks) : ranks_(ranks) {}

Crew::~Crew() {
    team_.reset();
    tell(ranks_, {Order::over});
}

Crew::Free Crew::free_here(const std::vector<AnySpace>& here, int sharing) {
    Free free{available_memory(Cpu{}), sharing, 0};
    for (const auto& space : here)
        if (name(space) != "cpu") {
            const auto bytes = available_memory(space);
            free.device = free.device == 0 ? bytes : std::min(free.device, bytes);
        }
    return free;
}

int Crew::ranks() const { return ranks_.size(); }

std::vector<AnySpace> Crew::place(const std::string& device, int members, int threads) {
    tell(ranks_, {Order::place, members, threads}, device);
    auto here = comm::placement(ranks_, device, members, threads);
    placement_ = comm::placement_text(ranks_, here);
    free_ = gather_free(ranks_, here);
    return here;
}

comm::WorkerCommunicator& Crew::team(const std::vector<AnySpace>& here) {
    team_.reset();
    tell(ranks_, {Order::team});
    team_ = std::make_unique<comm::WorkerCommunicator>(ranks_, static_cast<int>(here.size()), names(here));
    return *team_;
}

void Crew::end_if_others_wait() {
    if (ranks_.size() == 1) return;
    try {
        throw;
    } catch (const Error&) {  // found alike by all, or by rank 0 between two commands
    } catch (...) {
        int status = 1;
        const auto reason = comm::reason_of_current_exception(status);
        comm::end_run(ranks_, comm::rank_text(ranks_), reason, status);
    }
}

void take_part(comm::Communicator& ranks) {
    std::vector<AnySpace> here;
    for (;;) {
        Order order;
        std::string device;
        broadcast(ranks, order, device);
        if (order.what == Order::over) return;
        if (order.what == Order::place) {
            try {
                here = comm::placement(ranks, device, order.members, order.threads);
            } catch (const InputError&) {  // on all ranks alike
                continue;
            }
            comm::placement_text(ranks, here);
            gather_free(ranks, here);
            continue;
        }
        comm::WorkerCommunicator team(ranks, static_cast<int>(here.size()), names(here));
        gravity::worker_loop(team, here);
    }
}

}  // namespace kasane::run
