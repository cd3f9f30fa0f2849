// EvenOdd for several right-hand sides: Dhat on the columns of a set, whose hops read links and clover terms once for several columns.
#pragma once

#include <kasane/lattice/dirac/columns.hpp>
#include <kasane/lattice/solve/even_odd.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace kasane::lattice {

/// @tparam Operator  as that of EvenOdd, with hop() of several fields
template <Space S, Precision P, class Operator = Dirac<S, P>>
class EvenOddColumns {
   public:
    using Vector = FieldColumns<S, P>;
    using One = EvenOdd<S, P, Operator>;

    /// @param one  the operator of one column, which must outlive this
    EvenOddColumns(const One& one, int columns)
        : dirac_(one.dirac()), kappa_(one.kappa()), schur_(one.schur()), odd_(one.lattice(), columns) {}
    /// Operator for one column, with the vector of `one`.
    explicit EvenOddColumns(const One& one)
        : dirac_(one.dirac()), kappa_(one.kappa()), schur_(one.schur()), odd_(std::vector<Field<S, P>*>{&one.odd()}) {}

    /// out = Dhat in
    template <class Algebra>
    void apply(Algebra&, const ColumnSet& set, const Vector& in, Vector& out) const {
        applications_ += set.size();
        const auto from = in.of(set), middle = std::as_const(odd_).of(set);
        dirac_.hop(HopForm::inverse, Parity::odd, false, 1, from, {}, odd_.of(set));
        dirac_.hop(schur_ == Schur::symmetric ? HopForm::inverse : HopForm::clover, Parity::even, false, -kappa_ * kappa_, middle, from,
                   out.of(set));
    }
    /// Columns to which Dhat was applied since the last call.
    std::uint64_t take_applications() const { return std::exchange(applications_, 0); }

   private:
    const Operator& dirac_;
    double kappa_;
    Schur schur_;
    mutable Vector odd_;  ///< A_oo^-1 H_oe in
    mutable std::uint64_t applications_ = 0;
};

}  // namespace kasane::lattice
