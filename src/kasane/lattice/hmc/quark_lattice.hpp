// A whole lattice on one device, for QuarkOperator and the terms of quarks: fields, operators, algebras, clover term, forces.
// DividedQuarkLattice (lattice/distributed/) has the same members for one worker's part of a lattice.
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/hmc/clover_force.hpp>
#include <kasane/lattice/hmc/hop_force.hpp>
#include <kasane/lattice/hmc/links_checksum.hpp>
#include <kasane/lattice/hmc/quark_deflation.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/solve/fields.hpp>
#include <kasane/lattice/solve/resident_field.hpp>

#include <array>
#include <cstdint>
#include <memory>

namespace kasane::lattice {

template <Space S>
class QuarkLattice {
   public:
    template <Precision P>
    using Operator = Dirac<S, P>;
    template <Precision P>
    using Algebra = FieldAlgebra<S, P>;
    using Deflation = QuarkDeflation<S>;

    /// @throws InputError as check_extents
    QuarkLattice(S on, const Extents& extents) {
        check_extents(extents, {"", 0, 0, "the gauge field"});
        lattice_ = std::make_shared<const Lattice<S>>(on, extents);
    }

    /// The lattice of fields and clover terms.
    const std::shared_ptr<const Lattice<S>>& lattice() const { return lattice_; }
    template <Precision P>
    Algebra<P> algebra() const {
        return Algebra<P>(lattice_);
    }

    std::array<double, 2> checksum(const Links<S>& u) const { return links_checksum(u); }
    /// Sets the links; must be called with them before dirac(), pack() and forces. @param checksum  checksum(u)
    void take(const Links<S>&, const std::array<double, 2>&) const {}
    void fill_clover(const Links<S>& u, double kappa_csw, CloverTerm<S>& A) const { fill_clover_term(u, kappa_csw, A); }
    template <Precision P>
    Operator<P> dirac(const Links<S>& u, const CloverTerm<S>* A, Boundary boundary, const LinkStorage& storage) const {
        return Operator<P>(lattice_, u, A, boundary, storage);
    }
    template <Precision P>
    void pack(Operator<P>& D, const Links<S>& u, const CloverTerm<S>* A) const {
        D.pack(u, A);
    }

    void gaussian(std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity, Field<S, Precision::double_>& eta) const {
        gaussian_field(seed, trajectory, term, parity, eta);
    }
    /// log |det(A + i mu g5)| of the sites of a parity. @throws ComputationError where A, or A^2 + mu^2, is not positive definite
    double log_determinant(const CloverTerm<S>& A, Parity parity, double mu) const {
        return mu == 0 ? lattice::log_determinant(A, parity) : twisted_log_determinant(A, parity, mu);
    }

    /// @param D  operator of the packed links
    void add_hop_force(const Operator<Precision::double_>&, const Links<S>& u, double kappa, Boundary boundary, const ResidentField<S>& x,
                       const ResidentField<S>& y, double factor, Links<S>& force) const {
        lattice::add_hop_force(u, kappa, boundary, x, y, factor, force);
    }
    void add_clover_force(const Links<S>& u, double kappa_csw, const CloverWeights<S>& weights, double factor, Links<S>& force) const {
        lattice::add_clover_force(u, kappa_csw, weights, factor, force);
    }

   private:
    std::shared_ptr<const Lattice<S>> lattice_;
};

}  // namespace kasane::lattice
