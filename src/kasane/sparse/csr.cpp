// canonical(): columns ascending, entries of one place summed.
// Invariants: entries of one place are summed in the order in which they are stored; the result does not depend on threads.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/csr.hpp>

#include <omp.h>

#include <algorithm>
#include <utility>

namespace kasane::sparse {
namespace {

using Entries = std::vector<std::pair<std::int32_t, double>>;

bool ascending(const CsrView& A, index_t row) {
    for (index_t k = A.begin(row) + 1; k < A.end(row); ++k)
        if (A.column(k - 1) > A.column(k)) return false;
    return true;
}

/// The row's entries to out, ascending. @returns how many of them share the place of the one before
index_t copy_sorted(const CsrView& A, index_t row, Entries& work, CsrMatrix& out) {
    const auto first = A.begin(row), last = A.end(row);
    if (ascending(A, row)) {
        for (index_t k = first; k < last; ++k) {
            out.column[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(A.column(k));
            out.value[static_cast<std::size_t>(k)] = A.value[k];
        }
    } else {
        work.clear();
        for (index_t k = first; k < last; ++k) work.emplace_back(static_cast<std::int32_t>(A.column(k)), A.value[k]);
        std::stable_sort(work.begin(), work.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        for (index_t k = first; k < last; ++k) {
            const auto& [column, value] = work[static_cast<std::size_t>(k - first)];
            out.column[static_cast<std::size_t>(k)] = column;
            out.value[static_cast<std::size_t>(k)] = value;
        }
    }
    index_t duplicates = 0;
    for (index_t k = first + 1; k < last; ++k)
        duplicates += out.column[static_cast<std::size_t>(k)] == out.column[static_cast<std::size_t>(k - 1)];
    return duplicates;
}

/// Sums neighbours of one place, in place.
void sum_duplicates(CsrMatrix& A) {
    std::size_t to = 0;
    auto first = static_cast<std::size_t>(A.begin[0]);
    for (std::size_t row = 0; row + 1 < A.begin.size(); ++row) {
        const auto last = static_cast<std::size_t>(A.begin[row + 1]);
        const auto row_starts = to;
        for (auto k = first; k < last; ++k) {
            if (to > row_starts && A.column[to - 1] == A.column[k]) {
                A.value[to - 1] += A.value[k];
            } else {
                A.column[to] = A.column[k];
                A.value[to++] = A.value[k];
            }
        }
        first = last;
        A.begin[row + 1] = static_cast<index_t>(to);
    }
    A.column.resize(to);
    A.value.resize(to);
}

}  // namespace

CsrMatrix canonical(const CsrView& A) {
    CsrMatrix out;
    out.begin.resize(static_cast<std::size_t>(A.n) + 1);
    index_t longest_unsorted = 0;
#pragma omp parallel for schedule(static) reduction(max : longest_unsorted)
    for (index_t row = 0; row < A.n; ++row) {
        out.begin[static_cast<std::size_t>(row) + 1] = A.end(row);
        if (!ascending(A, row)) longest_unsorted = std::max(longest_unsorted, A.end(row) - A.begin(row));
    }
    out.column.resize(static_cast<std::size_t>(out.begin.back()));
    out.value.resize(static_cast<std::size_t>(out.begin.back()));
    // Nothing may throw inside the parallel region.
    std::vector<Entries> work(static_cast<std::size_t>(omp_get_max_threads()));
    for (auto& each : work) each.reserve(static_cast<std::size_t>(longest_unsorted));
    index_t duplicates = 0;
#pragma omp parallel for schedule(static) reduction(+ : duplicates)
    for (index_t row = 0; row < A.n; ++row) duplicates += copy_sorted(A, row, work[static_cast<std::size_t>(omp_get_thread_num())], out);
    if (duplicates > 0) sum_duplicates(out);
    return out;
}

}  // namespace kasane::sparse
