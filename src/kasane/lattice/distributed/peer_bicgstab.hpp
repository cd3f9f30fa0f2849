// BiCGStab whose vectors are divided among CUDA devices that reach each other's memory, with the scalars on the devices. It satisfies the
// requirements of krylov/resident_bicgstab.hpp. Each device adds its own sums, writes them into the memory of all devices, and computes the
// same scalars from the sums of all. An iteration is one graph on each device, and no host takes part. Sums are those of
// DistributedAlgebra, bit by bit. Invariants: all workers make the same calls in the same order; hops of the iterations exchange by the
// halo of the constructor.
#pragma once

#include <kasane/lattice/distributed/peer_halo.hpp>

#if defined(KASANE_CUDA)
#include <kasane/krylov/complex.hpp>
#include <kasane/krylov/resident_bicgstab.hpp>
#include <kasane/krylov/resident_run.hpp>

#include <functional>
#include <memory>

namespace kasane::lattice {

template <Precision P>
class PeerBicgstab {
   public:
    using Vector = Field<Cuda, P>;
    using State = krylov::BicgstabState<krylov::Complex>;

    /// Whether the devices of this halo support it: each has one worker, and there are at most eight.
    static bool serves(const PeerHalo& halo);

    /// Collective. @param halo  must outlive it
    PeerBicgstab(std::shared_ptr<const Lattice<Cuda>> lattice, PeerHalo& halo);
    ~PeerBicgstab();

    void begin(const State& state);
    void iterate(const std::function<void()>& submit);
    void direction(const Vector& r, const Vector& v, Vector& p);
    void first_half(const Vector& shadow, const Vector& v, Vector& r);
    void second_half(const Vector& p, const Vector& t, const Vector& shadow, Vector& x, Vector& r);
    krylov::RunReport wait(int iteration);
    State state();

   private:
    struct Run;
    std::unique_ptr<Run> run_;
};

}  // namespace kasane::lattice
#else
namespace kasane::lattice {
template <Precision P>
class PeerBicgstab;
}
#endif
