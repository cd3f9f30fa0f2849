// Halos between CUDA devices of one rank that reach each other's memory: a kernel on each device writes the spinors of its faces straight
// into the memory of the neighbours and counts them there; the kernel of the hop waits for the counts (dirac/cuda/hop_halo.body.hpp). So a
// hop is two launches on each device, without copies, events or streams.
// Devices wait for each other in kernels, which is safe for these reasons:
//   a kernel that waits is submitted only after all workers have submitted the kernels that it waits for, and those wait for nothing but
//   earlier work of their own device: whatever was submitted ends without the host, which may allocate and free memory at any time;
//   it starts after all blocks of the writing kernel in front of it are resident, so that its blocks cannot take their place;
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
