// The product with a matrix that is divided among workers: numbers of other workers travel during the product with own rows.
#pragma once

#include <kasane/sparse/block/block_factors.hpp>
#include <kasane/sparse/distributed/distributed_algebra.hpp>
#include <kasane/sparse/distributed/part_kernels.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/distributed/vector_exchange.hpp>
#include <kasane/sparse/general/sliced_matrix.hpp>

#include <cstdint>
#include <concepts>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// Numbers of the host as a space has them.
template <class User>
View<const Number<User>> as_numbers(const std::vector<User>& v) {
    static_assert(sizeof(Number<User>) == sizeof(User));
    return {reinterpret_cast<const Number<User>*>(v.data()), std::ssize(v)};
}
template <class User>
View<Number<User>> as_numbers(std::vector<User>& v) {
    return {reinterpret_cast<Number<User>*>(v.data()), std::ssize(v)};
}

/// 0 ... n - 1
inline std::vector<std::int32_t> numbers_from_zero(index_t n) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(n));
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

/// The matrix in compressed rows on a space. @param columns  of the matrix
template <Space S, class Matrix>
auto rows_on(S on, const Matrix& A, index_t columns) {
    const std::vector<std::uint32_t> begin(A.begin.begin(), A.begin.end());
    const auto values = as_numbers(A.value);
    using T = std::remove_cvref_t<decltype(values[0])>;
    Rows<T, S> rows{A.rows(), columns, to_space(on, begin), to_space(on, A.column), Buffer<T, S>(on, values.n)};
    copy_from_host(on, rows.value.view(), values);
    return rows;
}

/// The matrix in slices of rows, in its own order.
template <Space S, class Matrix>
auto sliced_on(S on, const Matrix& A) {
    const auto same = numbers_from_zero(A.rows());
    const auto pattern = slice_rows(pattern_of(A), same, same, lanes_of<S>);
    auto values = A.value;
    values.assign(pattern.source.size(), 0);
    for (std::size_t e = 0; e < values.size(); ++e)
        if (pattern.source[e] >= 0) values[e] = A.value[static_cast<std::size_t>(pattern.source[e])];
    SlicedMatrix<S, Number<typename decltype(values)::value_type>> sliced(on, pattern);
    sliced.set_values(as_numbers(std::as_const(values)));
    return sliced;
}

/// @tparam User  double or std::complex<double>
template <Space S, class User = double>
class PartOperator {
    using T = Number<User>;

   public:
    /// Collective over the workers. @param block  rows of dense blocks, for doubles; 1: scalar rows
    PartOperator(S on, comm::Worker& worker, const RowPartOf<User>& part, int block = 1)
        : on_(on),
          exchange_(on, worker, part.neighbors, 0),
          outer_(rows_on(on, part.outer, part.neighbors.received())),
          outer_row_(to_space(on, part.outer_row)) {
        if constexpr (std::same_as<User, double>) {
            if (block > 1) {
                const auto rows = blocked_rows(part.inner.view(), block);
                const auto same = numbers_from_zero(rows.rows());
                blocks_ = make_block_factors(on, slice_rows(rows.pattern(), same, same, lanes_of<S>), {0, rows.rows()}, block,
                                             BlockPreconditioner::none);
                blocks_->set_values(block_values(part.inner.view(), rows), 0);
                return;
            }
        }
        inner_.emplace(sliced_on(on, part.inner));
    }

    /// The interface of krylov: out = A in.
    template <class Algebra>
    void apply(Algebra&, const Buffer<T, S>& in, Buffer<T, S>& out) const {
        exchange_.start(in);
        if (inner_)
            inner_->multiply(in, out);
        else if constexpr (std::same_as<User, double>)
            blocks_->multiply(in, out);
        add_product(on_, outer_.view(), outer_row_.view(), exchange_.finish(), out.view());
    }
    std::uint64_t bytes() const {
        return (inner_ ? inner_->bytes() : blocks_->bytes()) + outer_.bytes() + 4 * static_cast<std::uint64_t>(outer_row_.size()) +
               exchange_.bytes();
    }

   private:
    S on_;
    mutable VectorExchange<S, T> exchange_;
    std::optional<SlicedMatrix<S, T>> inner_;  // of scalar rows
    std::unique_ptr<BlockFactors<S>> blocks_;  // of dense blocks
    Rows<T, S> outer_;
    Buffer<std::int32_t, S> outer_row_;
};

}  // namespace kasane::sparse
