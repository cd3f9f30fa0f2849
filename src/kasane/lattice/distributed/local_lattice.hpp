// One worker's part of a lattice, with its operators, algebras and clover term.
// Invariant: all workers of the grid make the same operators and algebras in the same order.
#pragma once

#include <kasane/lattice/distributed/distributed_algebra.hpp>
#include <kasane/lattice/distributed/distributed_dirac.hpp>
#include <kasane/lattice/distributed/distributed_subspace.hpp>
#include <kasane/lattice/distributed/links_halo.hpp>
#include <kasane/lattice/distributed/local_sites.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/distributed/residual_border.hpp>
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

    static constexpr bool one_is_a_column = false;
    template <Precision P>
    using Schwarz = SchwarzPreconditioner<S, P, Operator<P>, Algebra<P>>;
    template <Precision P>
    using TwoLevel = TwoLevelPreconditioner<S, P, DistributedSubspace<S, P>>;

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
    /// First site of the local lattice in the whole one.
    Site origin() const { return grid_.origin(worker_.index()); }
    const HaloExchange<S>& exchange() const { return *exchange_; }
    /// Sites of the whole lattice.
    index_t volume() const { return grid_.lattice().volume(); }

    /// Collective. @param links  of the local lattice   @throws InputError on every worker where a clover term is not positive definite
    Packed pack(const GaugeField& links, const DiracParameters& parameters);
    template <Precision P>
    Operator<P> dirac(const Packed& from, Boundary boundary, const LinkStorage& storage) {
        const double signs[4] = {1, 1, 1, sign_in_time(boundary)};
        const LocalLinks<S> links{from.links, from.interior, from.with_halo, first_in_halo()};
        return {lattice_, *exchange_, links, from.clover ? &*from.clover : nullptr, boundary, signs, storage};
    }
    template <Precision P>
    Algebra<P> algebra() {
        return {lattice_, worker_, exchange_->peers()};
    }
    /// Does the same as in OneDevice. Collective. @param options  whose blocks divide the local lattice
    template <Precision P>
    std::unique_ptr<Schwarz<P>> schwarz(const EvenOdd<S, P, Operator<P>>& whole, const Packed& from, const DiracParameters& parameters,
                                        const LinkStorage& storage, Schur schur, const SchwarzOptions& options) {
        const auto of = chosen(options, lattice_->extents());
        if (of.overlap > 0) {
            const auto around = with_border(from, of.overlap);
            const auto border = std::make_shared<ResidualBorder<S, P>>(worker_, grid_, lattice_, around.sites);
            return std::make_unique<Schwarz<P>>(
                algebra<P>(), local_blocks(of), whole, around.links, around.clover ? &*around.clover : nullptr, parameters, storage, schur,
                of,
                BlockBorder<S, P>{border->lattice(), [border](const Field<S, P>& r) -> const Field<S, P>& { return border->extended(r); }});
        }
        return with_interior(from, [&](const Links<S>& interior) {
            return std::make_unique<Schwarz<P>>(algebra<P>(), local_blocks(of), whole, interior, from.clover ? &*from.clover : nullptr,
                                                parameters, storage, schur, of);
        });
    }
    template <Precision P>
    std::unique_ptr<TwoLevel<P>> two_level(const EvenOdd<S, P, Operator<P>>& whole, const Packed& from, const DiracParameters& parameters,
                                           Schur schur, const CoherentOptions& options, Schwarz<P>* smoother) {
        return with_interior(from, [&](const Links<S>& interior) {
            return std::make_unique<TwoLevel<P>>(DistributedSubspace<S, P>{lattice_, exchange_.get(), &worker_, grid_}, whole,
                                                 LittleLinks<S>{from.links, interior, {1, 1, 1, sign_in_time(parameters.boundary)}},
                                                 from.clover ? &*from.clover : nullptr, parameters, schur,
                                                 chosen(options, lattice_->extents()), smoother);
        });
    }
    /// Returns a stop function with the same result on every worker: every eighth iteration evaluates the function of worker 0.
    krylov::StopFunction agreed(const krylov::StopFunction& stop);

   private:
    /// Returns the factor of links that leave the local lattice in time. A boundary between workers is crossed by the links that leave the
    /// last worker; a boundary within one worker is crossed by its local hop.
    double sign_in_time(Boundary boundary) const {
        const bool last = grid_.place(worker_.index())[3] + 1 == grid_.shape()[3];
        return last && boundary == Boundary::antiperiodic ? -1 : 1;
    }
    /// Links and clover term of the local lattice with a border of the neighbours' sites.
    struct Bordered {
        LocalSites sites;
        Links<S> links;
        std::optional<CloverTerm<S>> clover;
    };
    /// Collective.
    Bordered with_border(const Packed& from, int width) const;
    /// The blocks of the local lattice, in the colours of the whole one. With overlap their sites are those of the whole lattice.
    BlockGrid local_blocks(const SchwarzOptions& options) const;
    /// The result of use(links without those that leave the local lattice).
    template <class Use>
    auto with_interior(const Packed& from, const Use& use) const {
        if (!exchange_->peers()) return use(from.interior);
        return use(without_leaving_links(from.links));
    }
    Links<S> without_leaving_links(const Links<S>& links) const;
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
