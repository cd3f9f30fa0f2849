// What the engines of a channel share: messages between members of different ranks, and how members agree on an engine.
#pragma once

#include <kasane/core/comm/channel.hpp>

#include <cstddef>
#include <string>

namespace kasane::comm {

/// One member's messages of one channel to and from members of other ranks; from the member's own thread.
class RankMessages {
   public:
    using Request = Communicator::Request;
    /// Channels of a team, and members of a rank that channels between ranks can tell apart: together, the tags of a Communicator.
    static constexpr int channels = 16, members_of_a_rank = 16;

    RankMessages(Member& member, int channel);

    Request start_send(const void* data, std::size_t bytes, int to_member);
    Request start_receive(void* data, std::size_t bytes, int from_member);
    void wait(Request request);

   private:
    Member* member_;
    int channel_;
};

/// Is this member in my rank?
bool is_local(const Member& me, int member);

/// @throws InputError when the ranks of the team, whatever their devices, rule this engine out; on every member alike
void check_engine(const Member& member, Engine wanted);

/// Collective: what the first member with a reason says, "member 3 (rank 1 on node7): …"; empty where nobody has one.
std::string first_reason(Member& member, const std::string& mine);

}  // namespace kasane::comm
