// Blocks of bytes between workers, from the memory of a space to the memory of a space, beside the work on it ([MTM13] sections 3 and 4).
// Engines: plain copies between workers of one rank on the CPU; copies between devices of one rank by the devices' copy engines, with
// peer access where the links allow it; NCCL between the devices of ranks; MPI for the CPU's memory, and staged through the host where a
// device has neither. The whole communicator uses one engine; engine() returns it.
// Invariants: each start() has its finish() before the next start() of that channel; workers may have several channels, which all of them
// start and finish in the same order. A message without bytes is counted, but not sent and not awaited.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/timeline.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace kasane::comm {

enum class Engine {
    automatic,
    copy,    ///< within one rank
    nccl,    ///< between devices of one rank, one device per worker
    staged,  ///< by MPI, through host memory
};

template <Space S>
class Channel {
   public:
    /// Collective. @param number  of the channel, 0 to 15; unique in a communicator
    /// @throws InputError on every worker when `wanted` cannot be used with this communicator, with the reason
    Channel(S on, Worker& worker, int number, Engine wanted = Engine::automatic);
    /// Called by every worker, from its own thread.
    ~Channel();
    Channel(Channel&&) noexcept;
    Channel& operator=(Channel&&) noexcept;

    /// Starts to send to worker `to` and to receive from worker `from`; both sizes may be 0, and sender and receiver give the same size.
    /// The bytes to be sent are those that work submitted so far to `ready` (a stream of this worker's device) writes; the memory to
    /// receive is free as soon as that work is done. On the CPU it is free at once. Waits for no other worker.
    void start(S ready, View<const std::byte> send, int to, View<std::byte> receive, int from);
    /// Called from time to time between start() and finish() during long work of this thread. MPI transfers messages between CPUs only
    /// inside its own calls. Does not wait.
    void advance();
    /// Work submitted to `then` from now on may read the received bytes and overwrite the sent ones. Call it after submitting the work that
    /// hides the message: the host may wait here for other workers' hosts, and it drives a staged message from here.
    void finish(S then);

    Engine engine() const;
    /// "peer copies", "NCCL 2.28.9", "MPI through host memory", …
    std::string text() const;
    /// When each message was transferred, while a timeline is kept: spans named "message". On the CPU, which copies in finish(), the time
    /// in finish().
    void keep(Timeline<S>* timeline);
    /// Messages and bytes received so far.
    std::int64_t messages() const;
    double bytes() const;

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::comm
