// A set of one column whose vectors are those of a ResidentSolver: the loop of krylov/bicgstab_columns.hpp then solves one right-hand side,
// without memory of its own.
#pragma once

#include <kasane/krylov/bicgstab.hpp>
#include <kasane/krylov/bicgstab_columns.hpp>
#include <kasane/lattice/solve/even_odd_columns.hpp>

#include <vector>

namespace kasane::lattice {

/// The field as the only column.
template <Space S, Precision P>
FieldColumns<S, P> one_column(Field<S, P>& field) {
    return FieldColumns<S, P>(std::vector<Field<S, P>*>{&field});
}

/// The vectors of an iteration as those of the only column.
template <Space S, Precision P>
krylov::ColumnsWorkspace<ColumnAlgebra<S, P>> one_column(krylov::BicgstabWorkspace<FieldAlgebra<S, P>>& of) {
    return {one_column(of.r), one_column(of.shadow), one_column(of.p), one_column(of.v), one_column(of.t)};
}

/// Operator and algebra of one precision.
template <Space S, Precision P>
struct OneColumn {
    EvenOddColumns<S, P> A;
    ColumnAlgebra<S, P> algebra;

    /// @param one  must outlive this
    explicit OneColumn(const EvenOdd<S, P>& one) : A(one), algebra(one.lattice()) {}
};

}  // namespace kasane::lattice
