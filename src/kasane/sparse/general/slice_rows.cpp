#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/general/sliced_matrix.hpp>

#include <algorithm>
#include <utility>

namespace kasane::sparse {
namespace {

std::size_t place(index_t i) { return static_cast<std::size_t>(i); }

/// Where the diagonal of the new matrix is in a row of A; -1: nowhere.
index_t diagonal_entry(const CsrView& A, index_t row, index_t new_row, const std::vector<std::int32_t>& new_column) {
    for (index_t e = A.begin(row); e < A.end(row); ++e)
        if (new_column[place(A.column(e))] == new_row) return e;
    return -1;
}

}  // namespace

SlicedPattern slice_rows(const CsrView& A, const std::vector<std::int32_t>& row_of, const std::vector<std::int32_t>& new_column,
                         index_t lanes) {
    SlicedPattern out;
    const index_t n = A.n, slices = (n + lanes - 1) / lanes;
    out.count.resize(place(n));
    out.diagonal.resize(place(n));
    out.begin.assign(place(slices) + 1, 0);
    parallel_for(Cpu{}, n, [&](index_t i) {
        const index_t row = row_of[place(i)];
        out.count[place(i)] = static_cast<std::int32_t>(A.end(row) - A.begin(row) + (diagonal_entry(A, row, i, new_column) < 0));
    });
    for (index_t s = 0; s < slices; ++s) {
        std::int32_t widest = 0;
        for (index_t i = s * lanes; i < std::min(n, (s + 1) * lanes); ++i) widest = std::max(widest, out.count[place(i)]);
        out.begin[place(s) + 1] = out.begin[place(s)] + widest * lanes;
    }
    out.column.assign(place(out.begin.back()), 0);
    out.source.assign(place(out.begin.back()), -1);
    parallel_for(Cpu{}, n, [&](index_t i) {
        const index_t row = row_of[place(i)], first = out.begin[place(i / lanes)] + i % lanes;
        const index_t count = out.count[place(i)];
        std::vector<std::pair<std::int32_t, index_t>> entries;
        entries.reserve(place(count));
        for (index_t e = A.begin(row); e < A.end(row); ++e) entries.emplace_back(new_column[place(A.column(e))], e);
        if (static_cast<index_t>(entries.size()) < count) entries.emplace_back(static_cast<std::int32_t>(i), -1);
        std::ranges::sort(entries);
        for (index_t k = 0; k < count; ++k) {
            const auto& [column, entry] = entries[place(k)];
            out.column[place(first + k * lanes)] = column;
            out.source[place(first + k * lanes)] = entry;
            if (column == i) out.diagonal[place(i)] = static_cast<std::int32_t>(k);
        }
    });
    return out;
}

CsrMatrix compressed_rows(const SlicedPattern& pattern, index_t lanes, const std::vector<double>& values) {
    CsrMatrix rows;
    rows.begin.assign(1, 0);
    for (std::size_t i = 0; i < pattern.count.size(); ++i) {
        const index_t row = static_cast<index_t>(i), first = pattern.begin[place(row / lanes)] + row % lanes;
        for (index_t k = 0; k < pattern.count[i]; ++k) {
            rows.column.push_back(pattern.column[place(first + k * lanes)]);
            rows.value.push_back(values[place(first + k * lanes)]);
        }
        rows.begin.push_back(static_cast<index_t>(rows.column.size()));
    }
    return rows;
}

std::vector<double> sliced_values(const SlicedPattern& pattern, index_t lanes, const std::vector<double>& of_entries) {
    std::vector<double> values(pattern.column.size(), 0.);
    std::size_t entry = 0;
    for (std::size_t i = 0; i < pattern.count.size(); ++i) {
        const index_t row = static_cast<index_t>(i), first = pattern.begin[place(row / lanes)] + row % lanes;
        for (index_t k = 0; k < pattern.count[i]; ++k) values[place(first + k * lanes)] = of_entries[entry++];
    }
    return values;
}

}  // namespace kasane::sparse
