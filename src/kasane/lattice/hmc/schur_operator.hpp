// The even-odd preconditioned operator of hybrid Monte Carlo in one precision, with a twisted mass:
//   M = A + i mu g5,   Dhat = M_ee - kappa^2 H_eo M_oo^-1 H_oe on the even sites; Dhat^+ has -mu and H^+.
// Invariant: without a twisted mass an application is two hops, without another pass over memory; with one, M_oo^-1 and M_ee - A_ee are
// passes of their own.
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/solve/fields.hpp>

#include <utility>

namespace kasane::lattice {

/// @tparam Operator  Dirac, or a class with its hop(): DistributedDirac
template <Space S, Precision P, class Operator = Dirac<S, P>>
class SchurOperator {
   public:
    using Vector = Field<S, P>;

    /// @param A  null: 1; must outlive the operator where mu is not 0
    SchurOperator(Operator dirac, std::shared_ptr<const Lattice<S>> lattice, const CloverTerm<S>* A, double kappa, double mu)
        : dirac_(std::move(dirac)), A_(A), kappa_(kappa), mu_(mu), odd_(std::move(lattice)) {}

    SchurOperator(std::shared_ptr<const Lattice<S>> lattice, const Links<S>& u, const CloverTerm<S>* A, const DiracParameters& parameters,
                  double mu, const LinkStorage& storage)
        : SchurOperator(Operator(lattice, u, A, parameters.boundary, storage), lattice, A, parameters.kappa, mu) {}

    template <class Part>
    void pack(const Part& part, const Links<S>& u, const CloverTerm<S>* A) {
        part.pack(dirac_, u, A);
        A_ = A;
    }
    const Operator& dirac() const { return dirac_; }

    template <class Algebra>
    void apply(Algebra&, const Vector& in, Vector& out) const {
        apply(in, out, false);
    }
    template <class Algebra>
    void apply_adjoint(Algebra&, const Vector& in, Vector& out) const {
        apply(in, out, true);
    }
    void apply(const Vector& in, Vector& out, bool adjoint) const {
        to_odd(in, adjoint, 1, odd_);
        dirac_.hop(HopForm::clover, Parity::even, adjoint, -kappa_ * kappa_, odd_, &in, out);
        if (mu_ != 0) add_i_gamma5(adjoint ? -mu_ : mu_, in, out);
    }
    /// odd = c M_oo^-1 H_oe even, or with the adjoints of both
    void to_odd(const Vector& even, bool adjoint, double c, Vector& odd) const {
        dirac_.hop(mu_ == 0 ? HopForm::inverse : HopForm::plain, Parity::odd, adjoint, c, even, nullptr, odd);
        if (mu_ != 0) divide_by_twisted(A_, Parity::odd, adjoint ? -mu_ : mu_, odd);
    }

   private:
    Operator dirac_;
    const CloverTerm<S>* A_;
    double kappa_, mu_;
    mutable Vector odd_;  ///< M_oo^-1 H_oe in
};

}  // namespace kasane::lattice
