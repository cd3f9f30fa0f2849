#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>

#include <algorithm>
#include <array>

namespace kasane::comm {
namespace {

int tag(int channel, int from_local, int to_local) {
    return (channel * RankMessages::members_of_a_rank + from_local) * RankMessages::members_of_a_rank + to_local;
}

}  // namespace

RankMessages::RankMessages(Member& member, int channel) : member_(&member), channel_(channel) {}

RankMessages::Request RankMessages::start_send(const void* data, std::size_t bytes, int to_member) {
    const int label = tag(channel_, member_->local(), member_->local_of(to_member));
    return member_->ranks().start_send(data, bytes, member_->rank_of(to_member), label);
}

RankMessages::Request RankMessages::start_receive(void* data, std::size_t bytes, int from_member) {
    const int label = tag(channel_, member_->local_of(from_member), member_->local());
    return member_->ranks().start_receive(data, bytes, member_->rank_of(from_member), label);
}

void RankMessages::wait(Request request) { member_->ranks().wait(request); }

bool is_local(const Member& me, int member) { return me.rank_of(member) == me.rank_of(me.index()); }

void check_engine(const Member& member, Engine wanted) {
    const int here = member.team().members_here(), ranks = member.size() / here;
    KS_VALIDATE(wanted != Engine::copy || ranks == 1, "the engine \"copy\" stays within one rank, and this run has " +
                                                          std::to_string(ranks) + ": take \"auto\", or one rank with all the devices");
    KS_VALIDATE(wanted != Engine::staged || ranks > 1,
                "the engine \"staged\" goes by MPI between ranks, and this run has one: take \"auto\", or start it by mpirun");
    KS_VALIDATE(ranks == 1 || here <= RankMessages::members_of_a_rank,
                std::to_string(here) + " members in each of several ranks are too many: their messages are told apart up to " +
                    std::to_string(RankMessages::members_of_a_rank) + ". Take more ranks");
}

std::string first_reason(Member& member, const std::string& mine) {
    const auto nobody = static_cast<std::uint64_t>(member.size());
    std::uint64_t first = mine.empty() ? nobody : static_cast<std::uint64_t>(member.index());
    member.all_reduce(View<std::uint64_t>(&first, 1), Reduce::min);
    if (first == nobody) return "";
    std::array<char, 1024> text{};
    if (first == static_cast<std::uint64_t>(member.index())) {
        const auto full = "member " + std::to_string(first) + " (rank " + std::to_string(member.rank_of(member.index())) + " on " +
                          member.ranks().host() + "): " + mine;
        std::copy_n(full.begin(), std::min(full.size(), text.size() - 1), text.begin());
    }
    member.broadcast(text.data(), text.size(), static_cast<int>(first));
    return text.data();
}

}  // namespace kasane::comm
