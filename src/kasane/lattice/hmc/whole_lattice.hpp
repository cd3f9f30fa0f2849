// A whole lattice on one device, for HybridMonteCarlo: its links, momenta and sums. DividedLattice (lattice/distributed/) has the same
// members for one worker's part of a lattice.
#pragma once

#include <kasane/lattice/hmc/momenta.hpp>

#include <functional>

namespace kasane::lattice {

template <Space S>
class WholeLattice {
   public:
    WholeLattice(S on, const Extents& extents) : on_(on), extents_(extents) {}

    S space() const { return on_; }
    /// Sites of the whole lattice.
    index_t volume() const { return extents_.volume(); }
    /// Uninitialised links.
    Links<S> links() const { return {on_, extents_}; }

    void draw_momenta(Links<S>& p, std::uint64_t seed, std::uint64_t trajectory) const { lattice::draw_momenta(p, seed, trajectory); }
    double kinetic_energy(const Links<S>& p) const { return lattice::kinetic_energy(p); }
    LinkNorms link_norms(const Links<S>& force) const { return lattice::link_norms(force); }
    void move_links(Links<S>& u, const Links<S>& p, double step) const { lattice::move_links(u, p, step); }
    double distance(const Links<S>& a, const Links<S>& b) const { return lattice::distance(a, b); }

    /// Returns `stop`: there are no other workers.
    const std::function<bool()>& agreed(const std::function<bool()>& stop) const { return stop; }

   private:
    S on_;
    Extents extents_;
};

}  // namespace kasane::lattice
