#include <kasane/sparse/file/assemble.hpp>

#include <algorithm>

namespace kasane::sparse {
namespace {

bool is_canonical(const CsrMatrix& A) {
    for (std::size_t row = 0; row + 1 < A.begin.size(); ++row)
        for (auto k = static_cast<std::size_t>(A.begin[row]) + 1; k < static_cast<std::size_t>(A.begin[row + 1]); ++k)
            if (A.column[k - 1] >= A.column[k]) return false;
    return true;
}

index_t places_below_or_on_the_diagonal(const CsrMatrix& A) {
    index_t count = 0;
    for (index_t row = 0; row < A.rows(); ++row)
        for (auto k = A.begin[static_cast<std::size_t>(row)]; k < A.begin[static_cast<std::size_t>(row) + 1]; ++k)
            count += A.column[static_cast<std::size_t>(k)] <= row;
    return count;
}

}  // namespace

std::uint64_t assemble_memory(index_t rows, index_t entries, bool mirror) {
    const auto n = static_cast<std::uint64_t>(rows), given = static_cast<std::uint64_t>(entries), stored = mirror ? 2 * given : given;
    constexpr std::uint64_t entry = sizeof(std::int32_t) + sizeof(double);
    // First the entries beside their rows; then, where rows do not ascend, the rows beside the canonical ones.
    return std::max(given * sizeof(Entry) + stored * entry, 2 * stored * entry) + 2 * (n + 1) * sizeof(index_t);
}

CsrMatrix assemble(index_t rows, std::vector<Entry>&& entries, bool mirror, index_t& duplicates) {
    const auto given = static_cast<index_t>(entries.size());
    CsrMatrix A;
    A.begin.assign(static_cast<std::size_t>(rows) + 1, 0);
    const auto mirrored = [mirror](const Entry& e) { return mirror && e.row != e.column; };
    for (const auto& e : entries) {
        ++A.begin[static_cast<std::size_t>(e.row) + 1];
        if (mirrored(e)) ++A.begin[static_cast<std::size_t>(e.column) + 1];
    }
    for (std::size_t row = 0; row < static_cast<std::size_t>(rows); ++row) A.begin[row + 1] += A.begin[row];
    A.column.resize(static_cast<std::size_t>(A.begin.back()));
    A.value.resize(static_cast<std::size_t>(A.begin.back()));
    // begin[row] moves through its row while it is filled, and ends at the begin of the next row.
    const auto put = [&A](std::int32_t row, std::int32_t column, double value) {
        const auto k = static_cast<std::size_t>(A.begin[static_cast<std::size_t>(row)]++);
        A.column[k] = column;
        A.value[k] = value;
    };
    for (const auto& e : entries) {
        put(e.row, e.column, e.value);
        if (mirrored(e)) put(e.column, e.row, e.value);
    }
    std::vector<Entry>().swap(entries);
    for (auto row = static_cast<std::size_t>(rows); row > 0; --row) A.begin[row] = A.begin[row - 1];
    A.begin[0] = 0;

    A = assemble(std::move(A), duplicates);
    if (mirror && duplicates > 0) duplicates = given - places_below_or_on_the_diagonal(A);
    return A;
}

CsrMatrix assemble(CsrMatrix&& rows, index_t& duplicates) {
    duplicates = 0;
    if (is_canonical(rows)) return std::move(rows);
    auto sorted = canonical(rows.view());
    duplicates = rows.nonzeros() - sorted.nonzeros();
    return sorted;
}

}  // namespace kasane::sparse
