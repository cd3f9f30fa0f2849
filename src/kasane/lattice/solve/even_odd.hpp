// The even-odd preconditioned system of D x = b, in one precision:
//   D = (A_ee  -kappa H_eo; -kappa H_oe  A_oo),   Dhat x_e = b_e' with Dhat = A_ee - kappa^2 H_eo A_oo^-1 H_oe, or A_ee^-1 times that,
//   b_e' = [A_ee^-1] (b_e + kappa H_eo A_oo^-1 b_o),   x_o = A_oo^-1 (b_o + kappa H_oe x_e).
// Invariant: A^-1 is never stored; without a clover term A is not read.
#pragma once

#include <kasane/krylov/log.hpp>
#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/solve/fields.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include <optional>
#include <utility>

namespace kasane::lattice {

/// @tparam Operator  Dirac, or a class with its hop(), whole() and clover(): DistributedDirac
template <Space S, Precision P, class Operator = Dirac<S, P>>
class EvenOdd {
   public:
    using Vector = Field<S, P>;

    EvenOdd(std::shared_ptr<const Lattice<S>> lattice, const Links<S>& links, const CloverTerm<S>* A, const DiracParameters& parameters,
            const LinkStorage& storage, Schur schur)
        : EvenOdd(Operator(lattice, links, A, parameters.boundary, storage), lattice, parameters, schur, A != nullptr) {}
    EvenOdd(Operator dirac, std::shared_ptr<const Lattice<S>> lattice, const DiracParameters& parameters, Schur schur, bool has_clover)
        : dirac_(std::move(dirac)), kappa_(parameters.kappa), schur_(schur), has_clover_(has_clover), odd_(std::move(lattice)) {}

    /// Takes the links and the clover term of another field, as Dirac::pack().
    void pack(const Links<S>& links, const CloverTerm<S>* A) { dirac_.pack(links, A); }

    /// out = Dhat in: two hops, without another pass over memory.
    template <class Algebra>
    void apply(Algebra&, const Vector& in, Vector& out) const {
        ++applications_;
        dirac_.hop(HopForm::inverse, Parity::odd, false, 1, in, nullptr, odd_);
        dirac_.hop(schur_ == Schur::symmetric ? HopForm::inverse : HopForm::clover, Parity::even, false, -kappa_ * kappa_, odd_, &in, out);
    }
    /// out = Dhat^+ in; the symmetric form is preceded by A_ee^-1.
    template <class Algebra>
    void apply_adjoint(Algebra&, const Vector& in, Vector& out) const {
        ++applications_;
        if (schur_ == Schur::asymmetric || !has_clover_) {
            dirac_.hop(HopForm::inverse, Parity::odd, true, 1, in, nullptr, odd_);
            dirac_.hop(HopForm::clover, Parity::even, true, -kappa_ * kappa_, odd_, &in, out);
            return;
        }
        if (!even_) even_.emplace(odd_.lattice());
        dirac_.clover(Parity::even, true, in, *even_);
        dirac_.hop(HopForm::inverse, Parity::odd, true, 1, *even_, nullptr, odd_);
        dirac_.hop(HopForm::plain, Parity::even, true, -kappa_ * kappa_, odd_, &in, out);
    }

    /// b' in place: even holds b_e, odd b_o before, and A_oo^-1 b_o after.
    void prepare(Vector& even, Vector& odd) const {
        divide_odd(odd);
        dirac_.hop(HopForm::plain, Parity::even, false, kappa_, odd, &even, even);
    }
    /// The rest of prepare() in the symmetric form.
    void divide(Vector& even) const {
        if (schur_ == Schur::symmetric && has_clover_) dirac_.clover(Parity::even, true, even, even);
    }
    /// odd := A_oo^-1 odd
    void divide_odd(Vector& odd) const {
        if (has_clover_) dirac_.clover(Parity::odd, true, odd, odd);
    }
    /// x_o, where odd holds A_oo^-1 b_o.
    void reconstruct(const Vector& even, Vector& odd) const { dirac_.hop(HopForm::inverse, Parity::odd, false, kappa_, even, &odd, odd); }

    /// out = (D (even, odd))'s half of that parity, or D^+'s.
    void full(Parity to, bool adjoint, const Vector& even, const Vector& odd, Vector& out) const {
        dirac_.hop(HopForm::clover, to, adjoint, -kappa_, to == Parity::even ? odd : even, to == Parity::even ? &even : &odd, out);
    }
    /// out = D in or D^+ in, of both parities. No field of out is one of in.
    void whole(bool adjoint, const Vector& even, const Vector& odd, Vector& out_even, Vector& out_odd) const {
        dirac_.whole(adjoint, -kappa_, even, odd, out_even, out_odd);
    }

    const Operator& dirac() const { return dirac_; }
    const std::shared_ptr<const Lattice<S>>& lattice() const { return odd_.lattice(); }
    double kappa() const { return kappa_; }
    Schur schur() const { return schur_; }
    bool has_clover() const { return has_clover_; }
    /// The vector between the two hops, for another operator that does not work at the same time.
    Vector& odd() const { return odd_; }
    /// Counts applications that were executed without a call.
    void applied(int applications) const { applications_ += static_cast<std::uint64_t>(static_cast<std::int64_t>(applications)); }
    /// Number of applications of Dhat and its adjoint since the last call.
    std::uint64_t take_applications() const { return std::exchange(applications_, 0); }

   private:
    Operator dirac_;
    double kappa_;
    Schur schur_;
    bool has_clover_;
    mutable Vector odd_;                  ///< A_oo^-1 H_oe in
    mutable std::optional<Vector> even_;  ///< A_ee^-1 in, for the adjoint
    mutable std::uint64_t applications_ = 0;
};

}  // namespace kasane::lattice
