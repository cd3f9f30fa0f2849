// One worker's part of a lattice that is divided among workers, for QuarkOperator and the terms of quarks: fields and operators of the
// local lattice, forces on extended links. Invariants: all workers call the members in the same order, and get the same values; links come
// with a halo that is valid to one layer; a copy shares the memory, so that the operators of several quarks hold the local links once.
#pragma once

#include <kasane/lattice/distributed/distributed_algebra.hpp>
#include <kasane/lattice/distributed/distributed_dirac.hpp>
#include <kasane/lattice/distributed/halo_terms.hpp>
#include <kasane/lattice/distributed/link_halo.hpp>
#include <kasane/lattice/distributed/quark_halo.hpp>
#include <kasane/lattice/distributed/site_numbers.hpp>
#include <kasane/lattice/hmc/quark_lattice.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

namespace kasane::lattice {

template <Space S>
class DividedQuarkLattice {
   public:
    template <Precision P>
    using Operator = DistributedDirac<S, P>;
    template <Precision P>
    using Algebra = DistributedAlgebra<S, P>;
    using Deflation = void;  ///< none

    /// @param halo, exchange  must outlive it
    DividedQuarkLattice(LinkHalo<S>& halo, HaloExchange<S>& exchange) : memory_(std::make_shared<Memory>(halo, exchange)) {}

    const std::shared_ptr<const Lattice<S>>& lattice() const { return memory_->lattice; }
    template <Precision P>
    Algebra<P> algebra() const {
        return {memory_->lattice, memory_->halo.worker()};
    }

    std::array<double, 2> checksum(const Links<S>& u) const {
        auto sums = links_checksum(u);
        memory_->halo.worker().all_reduce({sums.data(), 2}, comm::Reduce::sum);
        return sums;
    }
    void take(const Links<S>& u, const std::array<double, 2>& checksum) const {
        auto& m = *memory_;
        if (m.taken == checksum) return;
        m.taken = checksum;
        copy_to_local(u.space(), m.halo.sites(), numbers_of(u), numbers_of(m.links));
        copy_links(m.links, m.interior);
        remove_leaving_links(m.exchange.layout(), m.interior);
    }
    /// Computes the term of the extended lattice as if it were periodic; its values on the halo have no meaning and are not copied.
    void fill_clover(const Links<S>& u, double kappa_csw, CloverTerm<S>& A) const {
        auto& m = *memory_;
        if (!m.clover) m.clover.emplace(CloverTerm<S>{u.extents, Buffer<double, S>(u.space(), 72 * u.extents.volume())});
        fill_clover_term(u, kappa_csw, *m.clover);
        copy_to_local(u.space(), m.halo.sites(), numbers_of(*m.clover), numbers_of(A));
    }
    template <Precision P>
    Operator<P> dirac(const Links<S>& u, const CloverTerm<S>* A, Boundary boundary, const LinkStorage& storage) const {
        const auto& m = *memory_;
        return {m.lattice, m.exchange, m.local_links(u), A, boundary, m.signs(boundary), storage};
    }
    template <Precision P>
    void pack(Operator<P>& D, const Links<S>& u, const CloverTerm<S>* A) const {
        D.pack(memory_->local_links(u), A);
    }

    void gaussian(std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity, Field<S, Precision::double_>& eta) const {
        gaussian_field(memory_->halo.sites(), seed, trajectory, term, parity, eta);
    }
    double log_determinant(const CloverTerm<S>& A, Parity parity, double mu) const;

    void add_hop_force(const Operator<Precision::double_>& D, const Links<S>& u, double kappa, Boundary boundary, const ResidentField<S>& x,
                       const ResidentField<S>& y, double factor, Links<S>& force) const;
    void add_clover_force(const Links<S>& u, double kappa_csw, const CloverWeights<S>& weights, double factor, Links<S>& force) const;

   private:
    using Signs = double[4];

    struct Memory {
        LinkHalo<S>& halo;
        HaloExchange<S>& exchange;
        std::shared_ptr<const Lattice<S>> lattice;
        Links<S> links, interior, force;             ///< of the local lattice
        std::optional<std::array<double, 2>> taken;  ///< checksum of these links
        std::optional<CloverTerm<S>> clover;         ///< of the extended lattice, like the weights
        std::optional<CloverWeights<S>> weights;
        double all_signs[2][4] = {{1, 1, 1, 1}, {1, 1, 1, 1}};  ///< of periodic and antiperiodic quarks

        Memory(LinkHalo<S>& of, HaloExchange<S>& faces);
        LocalLinks<S> local_links(const Links<S>& u) const {
            const auto& width = halo.sites().width;
            return {links, interior, u, {{width[0], width[1], width[2], width[3]}}};
        }
        /// Factors of the links that leave the local lattice: those of the last worker in time cross the boundary.
        const Signs& signs(Boundary boundary) const { return all_signs[boundary == Boundary::antiperiodic ? 1 : 0]; }
    };
    std::shared_ptr<Memory> memory_;
};

}  // namespace kasane::lattice
