// What the engines of a channel share: messages between workers of different ranks, and how workers agree on an engine.
#pragma once

#include <kasane/core/comm/channel.hpp>

#include <cstddef>
#include <string>

namespace kasane::comm {

/// One worker's messages of one channel to and from workers of other ranks; from the worker's own thread.
class RankMessages {
   public:
    using Request = Communicator::Request;
    /// Channels of a communicator, and workers of a rank that channels between ranks can tell apart: together, the tags of a Communicator.
    static constexpr int channels = 16, workers_of_a_rank = 16;

    RankMessages(Worker& worker, int channel);

    Request start_send(const void* data, std::size_t bytes, int to_worker);
    Request start_receive(void* data, std::size_t bytes, int from_worker);
    void wait(Request request);

   private:
    Worker* worker_;
    int channel_;
};

/// Is this worker in my rank?
bool is_local(const Worker& me, int worker);

/// @throws InputError when the ranks of the communicator, whatever their devices, rule this engine out; on every worker alike
void check_engine(const Worker& worker, Engine wanted);

/// Collective: what the first worker with a reason says, "worker 3 (rank 1 on node7): …"; empty where nobody has one.
std::string first_reason(Worker& worker, const std::string& mine);

}  // namespace kasane::comm
