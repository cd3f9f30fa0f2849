#include <kasane/sparse/order/pattern.hpp>

namespace kasane::sparse::detail {
namespace {

bool strictly_ascending(const CsrView& A) {
    for (index_t row = 0; row < A.n; ++row)
        for (index_t e = A.begin(row) + 1; e < A.end(row); ++e)
            if (A.column(e - 1) >= A.column(e)) return false;
    return true;
}

}  // namespace

Pattern::Pattern(const CsrView& A) : graph_(A) {
    if (strictly_ascending(A)) return;
    // The transpose of a symmetric pattern is the pattern itself; written row by row it comes out sorted, repeated entries side by side.
    const auto n = static_cast<std::size_t>(A.n);
    begin_.assign(n + 1, 0);
    for (index_t e = A.begin(0); e < A.begin(A.n); ++e) ++begin_[static_cast<std::size_t>(A.column(e)) + 1];
    for (std::size_t row = 0; row < n; ++row) begin_[row + 1] += begin_[row];
    column_.resize(static_cast<std::size_t>(begin_[n]));
    auto next = begin_;
    for (index_t row = 0; row < A.n; ++row) {
        for (index_t e = A.begin(row); e < A.end(row); ++e) {
            const auto other = static_cast<std::size_t>(A.column(e));
            if (next[other] > begin_[other] && column_[static_cast<std::size_t>(next[other] - 1)] == row) continue;
            column_[static_cast<std::size_t>(next[other]++)] = static_cast<std::int32_t>(row);
        }
    }
    index_t end = 0;
    for (std::size_t row = 0; row < n; ++row) {
        const index_t first = begin_[row], last = next[row];
        begin_[row] = end;
        for (index_t e = first; e < last; ++e) column_[static_cast<std::size_t>(end++)] = column_[static_cast<std::size_t>(e)];
    }
    begin_[n] = end;
    column_.resize(static_cast<std::size_t>(end));
    graph_ = CsrView(A.n, begin_.data(), column_.data(), static_cast<const double*>(nullptr));
}

}  // namespace kasane::sparse::detail
