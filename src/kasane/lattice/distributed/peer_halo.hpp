// Halos between CUDA devices of one rank that reach each other's memory: the kernel of a hop on each device writes the spinors of its faces
// straight into the memory of the neighbours, each unit with the ticket of the hop, and waits for the units of its own halo where it reads
// them (dirac/cuda/hop_halo.body.hpp). So a hop is one launch on each device, without copies, events or streams.
// Devices wait for each other in kernels, which is safe for these reasons:
//   no worker launches a hop before all are about to launch theirs, and none continues before all have: while a kernel waits, no host
//   allocates or frees memory before the kernels that it waits for have been launched;
//   the first blocks of a kernel send before they wait, and no more than there are multiprocessors; blocks start in the order of their
//   numbers, so that blocks that wait cannot take their place. Workers that share a device send by a kernel of their own, in front of the
//   hops of all;
//   hops in turn use two memories: a device sends for hop n after its hop n - 1 has ended, so its neighbours had sent for that one, and had
//   ended hop n - 2 before, which read the same memory.
// Invariants: all workers of the grid make the same calls in the same order; between begin_hop() and end_hop() a worker launches one hop
// that reads the halo.
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

    /// Returns once all workers have called it. @return the halo for the hop from `in`, of this parity, which the caller launches next
    template <Precision P>
    device::HopHalo<P> begin_hop(Parity from, const Field<Cuda, P>& in);
    /// Returns once all workers have launched the hop.
    void end_hop();

    /// From now on until end_capture(), hops are captured in a graph that is launched for every later iteration of a run; calls
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
