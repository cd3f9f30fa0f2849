// The operator of Dirac<S, P> on a local lattice whose neighbours belong to other workers: the same calls and the same result to rounding.
// A hop packs half spinors, sends them, runs the local lattice's own hop meanwhile, and adds the received terms. Where the
// workers are CUDA devices that reach each other's memory (HaloExchange::peers()), the hop reads all neighbours itself, with the bits of
// one device. Invariant: all workers call hop() in the same order.
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/distributed/half_spinor.body.hpp>
#include <kasane/lattice/distributed/halo_exchange.hpp>
#include <kasane/lattice/distributed/halo_terms.hpp>

#include <span>

namespace kasane::lattice {

/// Links of a local lattice from which its operators are packed.
template <Space S>
struct LocalLinks {
    const Links<S>& own;
    const Links<S>&
        interior;  ///< those without the ones that leave the local lattice, remove_leaving_links(); read where hops send messages
    const Links<S>& with_halo;  ///< read where hops read halos (HaloExchange::peers())
    Site first;                 ///< the local lattice's first site in those with a halo
};

template <Space S, Precision P>
class DistributedDirac {
   public:
    /// @param A         of the local lattice; null: 1
    /// @param signs     as for HaloTerms       @param storage   not in 8 numbers, which cannot hold a link that is zero
    /// @param exchange  shared by the operators of all precisions; must outlive them
    DistributedDirac(std::shared_ptr<const Lattice<S>> lattice, HaloExchange<S>& exchange, const LocalLinks<S>& links,
                     const CloverTerm<S>* A, Boundary boundary, const double (&signs)[4], LinkStorage storage)
        : local_(local(lattice, exchange, links, A, boundary, storage)),
          terms_(lattice, exchange.layout(), links.own, A, signs),
          exchange_(exchange) {}

    /// Does the same as Dirac::pack().
    void pack(const LocalLinks<S>& links, const CloverTerm<S>* A) {
        terms_.take(links.own, A);
        if constexpr (!std::same_as<S, Cpu>)
            if (exchange_.peers()) return local_.pack(links.with_halo, links.first, A);
        local_.pack(links.interior, A);
    }

    /// The half spinors of the neighbours for a hop from `in`, of this parity, in the memory of the exchange until its next message: on the
    /// first of two faces (HaloLayout::first) (1 - s g) psi(x + mu), s = 1, or -1 in the adjoint.
    const std::byte* halo(Parity from, bool adjoint, const Field<S, P>& in) const {
        terms_.pack(from, adjoint, in, exchange_.sent());
        exchange_.start(halo_site_bytes<P>);
        exchange_.finish();
        return exchange_.received();
    }

    void hop(HopForm form, Parity to, bool adjoint, double c, const Field<S, P>& in, const Field<S, P>* x, Field<S, P>& out) const {
        if constexpr (!std::same_as<S, Cpu>)
            if (auto* const peers = exchange_.peers()) {
                local_.hop(form, to, adjoint, c, in, x, out, peers->begin_hop(other(to), in));
                return peers->end_hop();
            }
        terms_.pack(other(to), adjoint, in, exchange_.sent());
        exchange_.start(halo_site_bytes<P>);
        local_.hop(form, to, adjoint, c, in, x, out);
        exchange_.finish();
        terms_.add(form, to, adjoint, c, exchange_.received(), out);
    }
    /// Executes the hop for several right-hand sides, one after the other; x is empty where there is no such term.
    void hop(HopForm form, Parity to, bool adjoint, double c, std::span<const Field<S, P>* const> in, std::span<const Field<S, P>* const> x,
             std::span<Field<S, P>* const> out) const {
        for (std::size_t i = 0; i < in.size(); ++i) hop(form, to, adjoint, c, *in[i], x.empty() ? nullptr : x[i], *out[i]);
    }
    void whole(bool adjoint, double c, const Field<S, P>& even, const Field<S, P>& odd, Field<S, P>& out_even, Field<S, P>& out_odd) const {
        hop(HopForm::clover, Parity::even, adjoint, c, odd, &even, out_even);
        hop(HopForm::clover, Parity::odd, adjoint, c, even, &odd, out_odd);
    }
    void clover(Parity parity, bool inverse, const Field<S, P>& in, Field<S, P>& out) const { local_.clover(parity, inverse, in, out); }

    std::uint64_t bytes() const { return local_.bytes() + terms_.bytes(); }

   private:
    static Dirac<S, P> local(std::shared_ptr<const Lattice<S>> lattice, const HaloExchange<S>& exchange, const LocalLinks<S>& links,
                             const CloverTerm<S>* A, Boundary boundary, LinkStorage storage) {
        if constexpr (!std::same_as<S, Cpu>)
            if (exchange.peers()) return Dirac<S, P>(std::move(lattice), links.with_halo, links.first, A, boundary, storage);
        return Dirac<S, P>(std::move(lattice), links.interior, A, boundary, storage);
    }
    Dirac<S, P> local_;
    HaloTerms<S, P> terms_;
    HaloExchange<S>& exchange_;
};

}  // namespace kasane::lattice
