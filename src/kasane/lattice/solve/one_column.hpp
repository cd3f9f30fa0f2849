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

/// Operator, algebra and vectors of one precision.
template <Space S, Precision P>
struct OneColumn {
    EvenOddColumns<S, P> A;
    ColumnAlgebra<S, P> algebra;
    krylov::ColumnsWorkspace<ColumnAlgebra<S, P>> work;

    /// @param one, vectors  must outlive this
    template <class Algebra>
    OneColumn(const EvenOdd<S, P>& one, krylov::BicgstabWorkspace<Algebra>& vectors)
        : A(one),
          algebra(one.lattice()),
          work{one_column(vectors.r), one_column(vectors.shadow), one_column(vectors.p), one_column(vectors.v), one_column(vectors.t)} {}
};

}  // namespace kasane::lattice
