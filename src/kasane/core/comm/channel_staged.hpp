// The two halves of a message between devices of different ranks by way of the hosts' memory: device → pinned memory → MPI → pinned memory
// → device, in chunks, so that the three legs of a long message go on at once. The host drives it. Empty in a build without CUDA.
// Invariants: every chunk is passed on once, in order, then the message is ended; the pinned memory is the message's until then.
#pragma once

#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <vector>

#if defined(KASANE_CUDA)
namespace kasane::comm {

class StagedSend {
   public:
    explicit StagedSend(int device) : stream_(device) {}

    /// The device copies to the host once `ready` is passed.
    void start(const cuda::Event& ready, View<const std::byte> bytes, int to);
    std::size_t chunks() const;
    /// Waits until this chunk has come to the host, and starts to send it.
    void pass_on(std::size_t chunk, RankMessages& ranks);
    /// Waits until all have been sent.
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

    /// Lets the message come to the host.
    void start(RankMessages& ranks, View<std::byte> bytes, int from);
    std::size_t chunks() const { return receiving_.size(); }
    /// Waits for this chunk, and gives the stream its copy to the device.
    void pass_on(std::size_t chunk, RankMessages& ranks, Cuda on);
    /// The stream has been given all.
    void end(Cuda on) { copied_.record(on); }

   private:
    cuda::PinnedMemory host_;
    cuda::Event copied_;  ///< the whole message before
    std::vector<RankMessages::Request> receiving_;
    View<std::byte> to_;
};

}  // namespace kasane::comm
#endif
