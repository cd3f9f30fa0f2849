// The two halves of a message between devices of different ranks through the hosts' memory: device → pinned memory → MPI → pinned memory
// → device, in chunks, so that the three legs of a long message overlap. The host drives it. Empty in a build without CUDA.
// Invariants: every chunk is passed on once, in order, then the message is ended; until then the message owns the pinned memory.
#pragma once

#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <vector>

#if defined(KASANE_CUDA)
namespace kasane::comm {

class StagedSend {
   public:
    explicit StagedSend(int device) : stream_(device) {}

    /// The device copies to the host after `ready` has passed.
    void start(const cuda::Event& ready, View<const std::byte> bytes, int to);
    std::size_t chunks() const;
    /// Waits until this chunk is on the host, and starts to send it.
    void pass_on(std::size_t chunk, RankMessages& ranks);
    /// Waits until all chunks have been sent.
    void end(RankMessages& ranks);

   private:
    cuda::Stream stream_;
    cuda::PinnedMemory host_;
    std::vector<cuda::Event> copied_;  ///< of each chunk
    std::vector<RankMessages::Request> sending_;
    index_t n_ = 0;
    int to_ = 0;
};

class StagedReceive {
   public:
    explicit StagedReceive(int device) : copied_(device) {}

    /// Starts to receive the message on the host.
    void start(RankMessages& ranks, View<std::byte> bytes, int from);
    std::size_t chunks() const { return receiving_.size(); }
    /// Waits for this chunk, and enqueues its copy to the device.
    void pass_on(std::size_t chunk, RankMessages& ranks, Cuda on);
    /// To be called after all copies were enqueued.
    void end(Cuda on) { copied_.record(on); }

   private:
    cuda::PinnedMemory host_;
    cuda::Event copied_;  ///< marks the copies of the message before
    std::vector<RankMessages::Request> receiving_;
    View<std::byte> to_;
};

}  // namespace kasane::comm
#endif
