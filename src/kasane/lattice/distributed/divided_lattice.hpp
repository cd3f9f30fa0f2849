// One worker's part of a lattice that is divided among workers, for HybridMonteCarlo: its links, momenta and sums.
// Invariants: all workers call the members in the same order; links keep a halo that is valid to `depth`; values are the same on all
// workers.
#pragma once

#include <kasane/lattice/distributed/dynamics.hpp>
#include <kasane/lattice/distributed/updates.hpp>
#include <kasane/lattice/hmc/action_term.hpp>
#include <kasane/lattice/hmc/trajectory.hpp>

#include <functional>

namespace kasane::lattice {

template <Space S>
class DividedLattice {
   public:
    /// @param halo  must outlive it   @param depth  of the halo that the terms of the action read
    DividedLattice(LinkHalo<S>& halo, int depth) : halo_(halo), depth_(depth) {}

    S space() const { return halo_.space(); }
    /// Sites of the whole lattice.
    index_t volume() const { return halo_.sites().lattice.volume(); }
    /// Uninitialised links of the extended lattice.
    Links<S> links() const { return halo_.links(); }

    void draw_momenta(Links<S>& p, std::uint64_t seed, std::uint64_t trajectory) const {
        lattice::draw_momenta(halo_, p, seed, trajectory);
    }
    double kinetic_energy(const Links<S>& p) const { return lattice::kinetic_energy(halo_, p); }
    LinkNorms link_norms(const Links<S>& force) const { return lattice::link_norms(halo_, force); }
    void move_links(Links<S>& u, const Links<S>& p, double step) const { lattice::move_links(halo_, u, p, step, depth_); }
    double distance(const Links<S>& a, const Links<S>& b) const { return lattice::distance(halo_, a, b); }

    /// Returns a stop function that is true on all workers if the function of one worker is. Its calls are collective.
    std::function<bool()> agreed(const std::function<bool()>& stop) const {
        return [&worker = halo_.worker(), stop] {
            double wanted = stop && stop() ? 1 : 0;
            worker.all_reduce({&wanted, 1}, comm::Reduce::max);
            return wanted > 0;
        };
    }

   private:
    LinkHalo<S>& halo_;
    int depth_;
};

/// The gauge action as a term of hybrid Monte Carlo.
template <Space S>
class DividedGaugeTerm : public ActionTerm<S> {
   public:
    /// @param halo  must outlive it
    DividedGaugeTerm(LinkHalo<S>& halo, const GaugeAction& action) : halo_(halo), action_(action) {}
    std::string name() const override { return "gauge"; }
    void refresh(const Links<S>&, std::uint64_t, std::uint64_t) override {}
    double value(const Links<S>& u) override { return gauge_action(halo_, u, action_); }
    void add_force(const Links<S>& u, double factor, Links<S>& force) override { add_gauge_force(halo_, u, action_, factor, force); }

   private:
    LinkHalo<S>& halo_;
    GaugeAction action_;
};

}  // namespace kasane::lattice
