#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>

#include <algorithm>
#include <array>

namespace kasane::comm {
namespace {

int tag(int channel, int from_local, int to_local) {
    return (channel * RankMessages::workers_of_a_rank + from_local) * RankMessages::workers_of_a_rank + to_local;
}

}  // namespace

RankMessages::RankMessages(Worker& worker, int channel) : worker_(&worker), channel_(channel) {}

RankMessages::Request RankMessages::start_send(const void* data, std::size_t bytes, int to_worker) {
    const int label = tag(channel_, worker_->local(), worker_->local_of(to_worker));
    return worker_->ranks().start_send(data, bytes, worker_->rank_of(to_worker), label);
}

RankMessages::Request RankMessages::start_receive(void* data, std::size_t bytes, int from_worker) {
    const int label = tag(channel_, worker_->local_of(from_worker), worker_->local());
    return worker_->ranks().start_receive(data, bytes, worker_->rank_of(from_worker), label);
}

void RankMessages::advance(Request request) { worker_->ranks().advance(request); }
void RankMessages::wait(Request request) { worker_->ranks().wait(request); }

bool is_local(const Worker& me, int worker) { return me.rank_of(worker) == me.rank_of(me.index()); }

void check_engine(const Worker& worker, Engine wanted) {
    const int here = worker.communicator().workers_per_rank(), ranks = worker.size() / here;
    KS_VALIDATE(wanted != Engine::copy || ranks == 1, "the engine \"copy\" stays within one rank, and this run has " +
                                                          std::to_string(ranks) + ": take \"auto\", or one rank with all the devices");
    KS_VALIDATE(wanted != Engine::staged || ranks > 1,
                "the engine \"staged\" goes by MPI between ranks, and this run has one: take \"auto\", or start it by mpirun");
    KS_VALIDATE(ranks == 1 || here <= RankMessages::workers_of_a_rank,
                std::to_string(here) + " workers in each of several ranks are too many: their messages can be distinguished up to " +
                    std::to_string(RankMessages::workers_of_a_rank) + ". Take more ranks");
}

std::string first_reason(Worker& worker, const std::string& mine) {
    const auto none = static_cast<std::uint64_t>(worker.size());
    std::uint64_t first = mine.empty() ? none : static_cast<std::uint64_t>(worker.index());
    worker.all_reduce(View<std::uint64_t>(&first, 1), Reduce::min);
    if (first == none) return "";
    std::array<char, 1024> text{};
    if (first == static_cast<std::uint64_t>(worker.index())) {
        const auto full = "worker " + std::to_string(first) + " (rank " + std::to_string(worker.rank_of(worker.index())) + " on " +
                          worker.ranks().host() + "): " + mine;
        std::copy_n(full.begin(), std::min(full.size(), text.size() - 1), text.begin());
    }
    worker.broadcast(text.data(), text.size(), static_cast<int>(first));
    return text.data();
}

}  // namespace kasane::comm
