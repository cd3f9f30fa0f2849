// Common part of the engines of a channel: messages between workers of different ranks, and the agreement of workers on an engine.
#pragma once

#include <kasane/core/comm/channel.hpp>

#include <cstddef>
#include <string>

namespace kasane::comm {

/// One worker's messages of one channel to and from workers of other ranks; called from the worker's own thread.
class RankMessages {
   public:
    using Request = Communicator::Request;
    /// Limits of channels of a communicator and of workers of a rank that messages can distinguish: together, the tags of a Communicator.
    static constexpr int channels = 24, workers_of_a_rank = 16;

    RankMessages(Worker& worker, int channel);

    Request start_send(const void* data, std::size_t bytes, int to_worker);
    Request start_receive(void* data, std::size_t bytes, int from_worker);
    void advance(Request request);
    void wait(Request request);

   private:
    Worker* worker_;
    int channel_;
};

/// Whether this worker is in the caller's rank.
bool is_local(const Worker& me, int worker);

/// @throws InputError on every worker when this engine cannot be used with these ranks, whatever their devices
void check_engine(const Worker& worker, Engine wanted);

/// Collective: the reason of the first worker that has one, "worker 3 (rank 1 on node7): …"; empty where no worker has one.
std::string first_reason(Worker& worker, const std::string& mine);

}  // namespace kasane::comm
