#include <kasane/sparse/precondition/level_cholesky.hpp>
#include <kasane/sparse/precondition/positive_pivots.hpp>

#include <cmath>
#include <cstdint>
#include <optional>

namespace kasane::sparse {
namespace {

std::size_t nth(index_t i) { return static_cast<std::size_t>(i); }

/// The entries row by row: l_ij = (a_ij - the sum of l_ik l_jk) / l_jj. Nothing where a pivot is not positive.
std::optional<HostTriangle> factorised(const CsrView& A, const FactorPlaces& places, double shift,
                                       const std::function<void()>& check_stop) {
    HostTriangle out;
    auto& L = out.beside;
    L.begin = places.begin, L.column = places.column;
    L.value.resize(L.column.size());
    out.inverse_diagonal.reserve(nth(A.n));
    std::vector<double> row(nth(A.n), 0.);  // of A, then of L; zero at other places
    for (index_t i = 0; i < A.n; ++i) {
        if (check_stop && i % 1024 == 0) check_stop();
        double diagonal = 0;
        for (index_t e = A.begin(i); e < A.end(i) && A.column(e) <= i; ++e)
            (A.column(e) == i ? diagonal : row[nth(A.column(e))]) = A.value[e];
        double pivot = diagonal * (1 + shift);
        const index_t first = L.begin[nth(i)], end = L.begin[nth(i) + 1];
        for (index_t e = first; e < end; ++e) {
            const auto j = nth(L.column[nth(e)]);
            double sum = row[j];
            for (index_t f = L.begin[j]; f < L.begin[j + 1]; ++f) sum -= row[nth(L.column[nth(f)])] * L.value[nth(f)];
            row[j] = L.value[nth(e)] = sum * out.inverse_diagonal[j];
            pivot -= row[j] * row[j];
        }
        for (index_t e = first; e < end; ++e) row[nth(L.column[nth(e)])] = 0;
        if (!(pivot > 1e-10 * diagonal)) return {};
        out.inverse_diagonal.push_back(1 / std::sqrt(pivot));
    }
    return out;
}

}  // namespace

CholeskyFactor level_cholesky(const CsrView& A, int level, const PlacesLimit& limit) {
    const auto places = places_of_levels(A, level, limit);
    return with_positive_pivots("ick", [&](double shift) { return factorised(A, places, shift, limit.check_stop); });
}

}  // namespace kasane::sparse
