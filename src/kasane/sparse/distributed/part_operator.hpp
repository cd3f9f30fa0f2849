// The product with a matrix that is divided among workers: numbers of other workers travel during the product with own rows.
#pragma once

#include <kasane/sparse/distributed/distributed_algebra.hpp>
#include <kasane/sparse/distributed/part_kernels.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/distributed/vector_exchange.hpp>
#include <kasane/sparse/general/sliced_matrix.hpp>

#include <cstdint>
#include <numeric>
#include <vector>

namespace kasane::sparse {

/// The matrix in compressed rows on a space. @param columns  of the matrix
template <Space S>
Rows<double, S> rows_on(S on, const CsrMatrix& A, index_t columns) {
    const std::vector<std::uint32_t> begin(A.begin.begin(), A.begin.end());
    return {A.rows(), columns, to_space(on, begin), to_space(on, A.column), to_space(on, A.value)};
}

/// The matrix in slices of rows, in its own order.
template <Space S>
SlicedMatrix<S> sliced_on(S on, const CsrMatrix& A) {
    std::vector<std::int32_t> same(static_cast<std::size_t>(A.rows()));
    std::iota(same.begin(), same.end(), 0);
    const auto pattern = slice_rows(A.view(), same, same, lanes_of<S>);
    std::vector<double> values(pattern.source.size());
    for (std::size_t e = 0; e < values.size(); ++e)
        values[e] = pattern.source[e] < 0 ? 0 : A.value[static_cast<std::size_t>(pattern.source[e])];
    SlicedMatrix<S> sliced(on, pattern);
    sliced.set_values(view(values));
    return sliced;
}

template <Space S>
class PartOperator {
   public:
    /// Collective over the workers.
    PartOperator(S on, comm::Worker& worker, const RowPart& part)
        : on_(on),
          exchange_(on, worker, part.neighbors, 0),
          inner_(sliced_on(on, part.inner)),
          outer_(rows_on(on, part.outer, part.neighbors.received())),
          outer_row_(to_space(on, part.outer_row)) {}

    /// The interface of krylov: out = A in.
    void apply(DistributedAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const {
        exchange_.start(in);
        inner_.multiply(in, out);
        add_product(on_, outer_.view(), outer_row_.view(), exchange_.finish(), out.view());
    }
    std::uint64_t bytes() const {
        return inner_.bytes() + outer_.bytes() + 4 * static_cast<std::uint64_t>(outer_row_.size()) + exchange_.bytes();
    }

   private:
    S on_;
    mutable VectorExchange<S> exchange_;
    SlicedMatrix<S> inner_;
    Rows<double, S> outer_;
    Buffer<std::int32_t, S> outer_row_;
};

}  // namespace kasane::sparse
