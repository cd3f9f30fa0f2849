// canonical(): columns ascending, entries of one place summed.
// Invariants: entries of one place are summed in the order in which they are stored; the result does not depend on threads.
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/matrix/csr.hpp>

#include <algorithm>
#include <atomic>
#include <tuple>
#include <utility>

namespace kasane::sparse {
namespace {

bool ascending(const CsrView& A, index_t row) {
    for (index_t k = A.begin(row) + 1; k < A.end(row); ++k)
        if (A.column(k - 1) > A.column(k)) return false;
    return true;
}

/// Rows of at most this number of entries are sorted in place.
constexpr index_t short_row = 64;

/// Insertion keeps the order of equal columns and needs no memory.
void sort_short(std::int32_t* column, double* value, index_t count) {
    for (index_t i = 1; i < count; ++i) {
        const auto c = column[i];
        const auto v = value[i];
        auto to = i;
        for (; to > 0 && column[to - 1] > c; --to) column[to] = column[to - 1], value[to] = value[to - 1];
        column[to] = c, value[to] = v;
    }
}

void sort_long(std::int32_t* column, double* value, index_t count) {
    std::vector<std::pair<std::int32_t, double>> entries(static_cast<std::size_t>(count));
    for (index_t i = 0; i < count; ++i) entries[static_cast<std::size_t>(i)] = {column[i], value[i]};
    std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (index_t i = 0; i < count; ++i) std::tie(column[i], value[i]) = entries[static_cast<std::size_t>(i)];
}

/// Sums neighbouring entries of one place, in place.
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
    const auto entries = static_cast<std::size_t>(A.begin(A.n));
    out.column.resize(entries);
    out.value.resize(entries);
    std::atomic<bool> long_unsorted{false};
    parallel_for(Cpu{}, A.n, [&](index_t row) {
        const auto first = A.begin(row), last = A.end(row);
        out.begin[static_cast<std::size_t>(row) + 1] = last;
        for (auto k = first; k < last; ++k) {
            out.column[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(A.column(k));
            out.value[static_cast<std::size_t>(k)] = A.value[k];
        }
        if (ascending(A, row)) return;
        if (last - first <= short_row)
            sort_short(out.column.data() + first, out.value.data() + first, last - first);
        else
            long_unsorted = true;
    });
    if (long_unsorted)
        for (index_t row = 0; row < A.n; ++row)
            if (const auto first = A.begin(row), count = A.end(row) - first; count > short_row && !ascending(A, row))
                sort_long(out.column.data() + first, out.value.data() + first, count);
    std::atomic<bool> duplicates{false};
    parallel_for(Cpu{}, A.n, [&](index_t row) {
        for (auto k = static_cast<std::size_t>(A.begin(row)) + 1; k < static_cast<std::size_t>(A.end(row)); ++k)
            if (out.column[k] == out.column[k - 1]) duplicates = true;
    });
    if (duplicates) sum_duplicates(out);
    return out;
}

}  // namespace kasane::sparse
