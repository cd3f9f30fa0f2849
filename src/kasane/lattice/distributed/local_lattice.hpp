// One worker's part of a lattice, and what is made for it: operators, algebras, clover term.
// Invariant: all workers of the grid make the same operators and algebras in the same order.
#pragma once

#include <kasane/lattice/distributed/distributed_algebra.hpp>
#include <kasane/lattice/distributed/distributed_dirac.hpp>
#include <kasane/lattice/distributed/links_halo.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/krylov/options.hpp>

#include <optional>

namespace kasane::lattice {

template <Space S>
class LocalLattice {
   public:
    using On = S;
    template <Precision P>
    using Algebra = DistributedAlgebra<S, P>;
    template <Precision P>
    using Operator = DistributedDirac<S, P>;

    static constexpr bool nests_columns = false;
    static constexpr bool has_preconditioners = false;

    /// Links and clover term on the space, from which operators are packed.
    struct Packed {
        Links<S> links;
        Links<S> interior, with_halo;  ///< as LocalLinks; the ones that hops do not read are empty
        std::optional<CloverTerm<S>> clover;
    };

    /// Collective. @param worker  must outlive it
    LocalLattice(S on, comm::Worker& worker, const RankGrid& grid);

    S space() const { return on_; }
    const std::shared_ptr<const Lattice<S>>& lattice() const { return lattice_; }
    const RankGrid& grid() const { return grid_; }
    const HaloExchange<S>& exchange() const { return *exchange_; }
    /// Sites of the whole lattice.
    index_t volume() const { return grid_.lattice().volume(); }

    /// Collective. @param links  of the local lattice   @throws InputError on every worker where a clover term is not positive definite
    Packed pack(const GaugeField& links, const DiracParameters& parameters);
    template <Precision P>
    Operator<P> dirac(const Packed& from, Boundary boundary, const LinkStorage& storage) {
        // A boundary between workers is crossed by the links that leave the last of them; within one, by the local hop.
        const bool last = grid_.place(worker_.index())[3] + 1 == grid_.shape()[3];
        const double signs[4] = {1, 1, 1, last && boundary == Boundary::antiperiodic ? -1. : 1.};
        const LocalLinks<S> links{from.links, from.interior, from.with_halo, first_in_halo()};
        return {lattice_, *exchange_, links, from.clover ? &*from.clover : nullptr, boundary, signs, storage};
    }
    template <Precision P>
    Algebra<P> algebra() {
        return {lattice_, worker_, exchange_->peers()};
    }
    /// A stop function that returns the same on every worker: that of worker 0, asked in every eighth iteration.
    krylov::StopFunction agreed(const krylov::StopFunction& stop);

   private:
    /// The local lattice's first site in the links with a halo of one site.
    Site first_in_halo() const {
        Site first{};
        for (int mu = 0; mu < 4; ++mu) first[mu] = grid_.divided(mu) ? 1 : 0;
        return first;
    }

    S on_;
    comm::Worker& worker_;
    RankGrid grid_;
    std::shared_ptr<const Lattice<S>> lattice_;
    std::unique_ptr<HaloExchange<S>> exchange_;  ///< operators refer to it
    comm::Channel<Cpu> of_links_;
};

}  // namespace kasane::lattice
