// Messages between all devices of one rank that reach each other's memory: each worker reads with one kernel what the others send to it.
// Copies by copy engines take the host some 7 us for each of the six calls of a message, which is more than the transfer of 100 kB.
// Invariant: all workers make the same calls: start(), read() and release(), in turn.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace kasane::comm {

class PeerReads {
   public:
    /// Collective. @param number  0 to 15, unique in a communicator
    /// @return null on every worker where one of them is no device, or cannot read the memory of another one
    static std::unique_ptr<PeerReads> connect(const AnySpace& on, Worker& worker, int number);
    ~PeerReads();
    PeerReads(const PeerReads&) = delete;
    PeerReads& operator=(const PeerReads&) = delete;

    /// Offers blocks to the other workers, after release() of those before. Waits for no other worker.
    /// @param ready  work submitted to it so far writes the blocks, and has read what read() overwrites
    /// @param send   for each worker; that for this one is not read
    void start(const AnySpace& ready, const std::vector<View<const std::byte>>& send);
    /// Reads the blocks of the other workers. Waits until they have called start().
    /// @param then  work submitted to it from now on sees them   @param receive  of each worker, as many bytes as it sends
    void read(const AnySpace& then, const std::vector<View<std::byte>>& receive);
    /// Waits until the other devices have read the blocks of start(), which may then be overwritten or freed: freeing alone would not wait
    /// for kernels of other devices. Best called when this device has work that was submitted after read(). A second call does nothing.
    void release();

   private:
    struct State;
    explicit PeerReads(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace kasane::comm
