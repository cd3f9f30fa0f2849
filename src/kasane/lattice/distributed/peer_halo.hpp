// Halos between CUDA devices of one rank that reach each other's memory: a kernel on each device writes the spinors of its faces straight
// into the memory of the neighbours and counts them there; the kernel of the hop waits for the counts (dirac/cuda/hop_halo.body.hpp). So a
// hop is two launches on each device, without copies, events or streams.
// Devices wait for each other in kernels, which is safe for these reasons:
//   a kernel that waits is submitted only after all workers have submitted the kernels that it waits for, and those wait for nothing but
//   earlier work of their own device: whatever was submitted ends without the host, which may allocate and free memory at any time;
//   it starts after all blocks of the writing kernel in front of it are resident and the work before that one has ended, so that its blocks
//   cannot take their place;
//   hops in turn use two memories: a device that writes for hop n has ended hop n - 1, so its neighbours had written for that one, and had
//   ended hop n - 2 before, which read the same memory.
// Invariants: all workers of the grid make the same calls in the same order; each call of write() is followed by one hop that reads the
// halo, on the same stream.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>

#include <memory>

#if defined(KASANE_CUDA)
#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/hop_halo.body.hpp>

namespace kasane::lattice {

class PeerHalo {
   public:
    /// Collective. @return null on all workers where there is one worker, several ranks, a pair of neighbours without peer access, or two
    /// workers on one device with different streams
    static std::unique_ptr<PeerHalo> connect(Cuda on, comm::Worker& worker, const RankGrid& grid);
    ~PeerHalo();

    /// Writes the faces of `in`, of this parity, into the halos of the neighbours, and returns once all workers have submitted that.
    /// @return the halo for a hop from `in`, until the next call
    template <Precision P>
    device::HopHalo<P> write(Parity from, const Field<Cuda, P>& in);

    /// From now on until end_capture(), calls of write() are captured in a graph that is launched for every later iteration of a run; they
    /// return without the other workers. The caller launches the graph once, and calls repeat() before every further launch. No worker
    /// submits anything else before all have launched.
    /// @param begun  on the device: iterations of the run that have begun, this one included   @param now  its value in the first launch
    /// @param hops  of an iteration, an even number, because hops in turn use two memories
    void begin_capture(const std::uint32_t* begun, std::uint32_t now, std::uint32_t hops);
    void end_capture();
    void repeat(std::uint32_t hops);

    /// Hops so far.
    std::uint32_t hops() const;
    /// The worker of the constructor.
    comm::Worker& worker() const;
    /// Whether each worker has a device of its own.
    bool owns_device() const;
    /// Bytes written by the neighbours so far.
    double bytes() const;

   private:
    struct State;
    explicit PeerHalo(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace kasane::lattice
#else
namespace kasane::lattice {
class PeerHalo;
}
#endif
