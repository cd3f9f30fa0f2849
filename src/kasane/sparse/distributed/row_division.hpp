// A matrix divided among workers: the rows that each of them owns, the rows of other workers that it reads, and
// its part of the matrix.
// Invariants: every row has one owner; sender and receiver have the rows of a message in the same order; a part depends on the matrix and
// the number of workers alone.
#pragma once

#include <kasane/sparse/matrix/complex_csr.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace kasane::sparse {

/// Converts an index to the index type of a vector.
inline std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

/// The division of rows among workers.
struct RowOwners {
    std::vector<std::int32_t> order;  ///< [rows] of A, worker by worker
    std::vector<index_t> begin;       ///< [workers + 1] first position of each worker's rows in `order`
    std::string ordering;             ///< "natural" or "rcm"
    double cut = 0;                   ///< share of the entries that couple rows of different workers
    /// Number of workers.
    int workers() const { return static_cast<int>(begin.size()) - 1; }
};

/// Neighbouring rows, with about as many entries for each worker: in the order of A, or in reverse Cuthill-McKee order where that cuts
/// fewer entries.
/// @param A  checked, with at least as many rows as workers   @param symmetric  its pattern is symmetric; otherwise its own order is kept
RowOwners owners_of_rows(const CsrView& A, int workers, bool symmetric);

/// The messages of one exchange of a worker: message k goes to worker + distance[k] and comes from worker - distance[k], modulo workers.
struct RowExchange {
    std::vector<std::int32_t> distance;                   ///< ascending; the same on every worker
    std::vector<std::int64_t> send_begin, receive_begin;  ///< [distances + 1]
    std::vector<std::int32_t> sent;                       ///< own numbers of the rows that are sent, message by message
    /// Number of all received rows.
    index_t received() const { return receive_begin.empty() ? 0 : receive_begin.back(); }
};

/// A matrix of doubles or of std::complex<double>.
template <class User>
using MatrixOf = std::conditional_t<std::same_as<User, double>, CsrMatrix, ComplexCsrMatrix>;
/// The pattern of a matrix, which may have no values.
inline CsrView pattern_of(const CsrMatrix& A) { return A.view(); }
inline CsrView pattern_of(const ComplexCsrMatrix& A) { return A.view().pattern; }

/// One worker's part. Its own rows have the numbers 0 ... own - 1, and the received rows of an exchange follow in the order of messages.
/// @tparam User  double or std::complex<double>
template <class User>
struct RowPartOf {
    using Value = User;
    std::vector<std::int32_t> row;        ///< [own] of A
    RowExchange neighbors;                ///< the rows of other workers that own rows are coupled to
    MatrixOf<User> inner;                 ///< [own][own] couplings of own rows
    MatrixOf<User> outer;                 ///< own rows that are coupled to received ones; column c is the received row c
    std::vector<std::int32_t> outer_row;  ///< own number of each row of `outer`
    RowExchange overlap;                  ///< rows of other workers in the subdomain; none without overlap
    MatrixOf<User> extended;              ///< matrix of the subdomain; empty without overlap: then it is `inner`
    std::vector<std::int32_t> row_scale;  ///< [own] exponents of the powers of two that the rows were multiplied by; empty: none were
    /// Number of own rows.
    index_t own() const { return static_cast<index_t>(row.size()); }
};
using RowPart = RowPartOf<double>;

/// The parts of all workers. @param A  columns ascend, no duplicates; its values are not read   @param values  [entries] of A
/// @param overlap  layers of other workers' rows in a subdomain: rows that at most this many couplings lead to
template <class User>
std::vector<RowPartOf<User>> divide_rows(const CsrView& A, const User* values, const RowOwners& owners, int overlap);
inline std::vector<RowPart> divide_rows(const CsrView& A, const RowOwners& owners, int overlap) {
    return divide_rows(A, A.value, owners, overlap);
}

/// visit(array) for all arrays of a part.
template <class Part, class Visit>
    requires std::same_as<std::remove_const_t<Part>, RowPartOf<typename Part::Value>>
void each_array(Part& part, const Visit& visit) {
    visit(part.row);
    visit(part.outer_row);
    visit(part.row_scale);
    for (auto* exchange : {&part.neighbors, &part.overlap}) {
        visit(exchange->distance);
        visit(exchange->send_begin);
        visit(exchange->receive_begin);
        visit(exchange->sent);
    }
    for (auto* matrix : {&part.inner, &part.outer, &part.extended}) {
        visit(matrix->begin);
        visit(matrix->column);
        visit(matrix->value);
    }
}

}  // namespace kasane::sparse
