#include <kasane/sparse/precondition/sparse_row.hpp>
#include <kasane/sparse/precondition/threshold_lu.hpp>

#include <cmath>

namespace kasane::sparse {

ThresholdLu threshold_lu(const CsrView& A, const ThresholdOptions& options, double shift) {
    ThresholdLu out;
    auto& L = out.lower.beside;
    auto& U = out.upper.beside;
    L.begin.assign(1, 0), U.begin.assign(1, 0);
    out.lower.inverse_diagonal.assign(static_cast<std::size_t>(A.n), 1.);
    auto& inverse_pivot = out.upper.inverse_diagonal;
    SparseRow row(A.n);
    const auto n = static_cast<std::int32_t>(A.n);
    for (std::int32_t i = 0; i < n; ++i) {
        row.begin(i);
        row.add(i, 0);
        double largest = 0;
        index_t below = 0, above = 0;
        for (index_t e = A.begin(i); e < A.end(i); ++e) {
            const auto column = static_cast<std::int32_t>(A.column(e));
            row.add(column, A.value[e]);
            largest = std::fmax(largest, std::fabs(A.value[e]));
            below += column<i, above += column> i;
        }
        // The norm in units of the largest entry: squares neither vanish nor overflow.
        double squares = 0;
        for (index_t e = A.begin(i); e < A.end(i); ++e) squares += largest > 0 ? (A.value[e] / largest) * (A.value[e] / largest) : 0;
        const double least = options.tolerance * largest * std::sqrt(squares);
        row[i] += (row[i] < 0 ? -shift : shift) * largest;
        for (auto k = row.next(); k >= 0; k = row.next()) {
            const auto from = static_cast<std::size_t>(k);
            const double factor = row[k] * inverse_pivot[from];
            // The entry before the division: it is what A and the product of the factors differ by where it is dropped.
            if (factor == 0 || std::fabs(row[k]) < least) {
                row[k] = 0;
                continue;
            }
            row[k] = factor;
            for (auto e = static_cast<std::size_t>(U.begin[from]); e < static_cast<std::size_t>(U.begin[from + 1]); ++e)
                row.add(U.column[e], -factor * U.value[e]);
        }
        row.append_largest(0, i, 0, below + options.fill, L.column, L.value);
        row.append_largest(i + 1, n, least, above + options.fill, U.column, U.value);
        L.begin.push_back(static_cast<index_t>(L.column.size()));
        U.begin.push_back(static_cast<index_t>(U.column.size()));
        double pivot = row[i];
        if (const double smallest = 1e-8 * largest; !(std::fabs(pivot) >= smallest)) {
            pivot = pivot < 0 ? -smallest : smallest;
            ++out.replaced;
        }
        inverse_pivot.push_back(1 / pivot);
        row.clear();
    }
    return out;
}

}  // namespace kasane::sparse
