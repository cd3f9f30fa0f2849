#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/precondition/sparse_inverse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::sparse {
namespace {

/// The product of two rows of A, in units of 2^-exponents.
double product_of_rows(const CsrView& A, index_t row, int row_exponent, index_t other, int other_exponent) {
    double sum = 0;
    for (index_t e = A.begin(row), f = A.begin(other); e < A.end(row) && f < A.end(other);) {
        const index_t a = A.column(e), b = A.column(f);
        if (a == b) sum += std::ldexp(A.value[e], -row_exponent) * std::ldexp(A.value[f], -other_exponent);
        e += a <= b, f += b <= a;
    }
    return sum;
}

double entry_of(const CsrView& A, index_t row, index_t column) {
    for (index_t e = A.begin(row); e < A.end(row); ++e)
        if (A.column(e) == column) return A.value[e];
    return 0;
}

/// x with G x = x by Cholesky's factorisation; an unknown whose pivot vanishes is 0. @param G  [n][n] positive semi-definite, lost
void solve_normal_equations(std::vector<double>& G, std::vector<double>& x) {
    constexpr double least_pivot = 1e-13;  // of the diagonal entry: rounding of the products
    const std::size_t n = x.size();
    std::vector<double> inverse(n, 0.);
    for (std::size_t i = 0; i < n; ++i) {
        double* const row = G.data() + i * n;
        double pivot = row[i];
        for (std::size_t j = 0; j < i; ++j) {
            double sum = row[j];
            for (std::size_t k = 0; k < j; ++k) sum -= row[k] * G[j * n + k];
            row[j] = sum * inverse[j];
            pivot -= row[j] * row[j];
        }
        if (pivot > least_pivot * row[i]) {
            inverse[i] = 1 / std::sqrt(pivot);
        } else {
            std::fill(row, row + i, 0.);
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < i; ++k) x[i] -= G[i * n + k] * x[k];
        x[i] *= inverse[i];
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k) x[i] -= G[k * n + i] * x[k];
        x[i] *= inverse[i];
    }
}

}  // namespace

std::vector<double> sparse_inverse(const CsrView& A, Cpu on) {
    index_t longest = 0;
    for (index_t row = 0; row < A.n; ++row) longest = std::max(longest, A.end(row) - A.begin(row));
    KS_VALIDATE(longest <= most_inverse_entries,
                fmt::format("spai solves a dense system for each row, and a row of the matrix has {} entries: at most {} are allowed. Take "
                            "ilu0, ilut or jacobi",
                            longest, most_inverse_entries),
                {"", 0, 0, "precondition"});
    // Rows in units of their largest entries, so that squares neither vanish nor overflow.
    std::vector<int> exponent(static_cast<std::size_t>(A.n), 0);
    for (index_t row = 0; row < A.n; ++row) {
        double largest = 0;
        for (index_t e = A.begin(row); e < A.end(row); ++e) largest = std::max(largest, std::fabs(A.value[e]));
        if (largest > 0) exponent[static_cast<std::size_t>(row)] = std::ilogb(largest);
    }
    std::vector<double> M(static_cast<std::size_t>(A.begin(A.n)), 0.);
    parallel_for(on, A.n, [&](index_t row) {
        const index_t first = A.begin(row);
        const auto n = static_cast<std::size_t>(A.end(row) - first);
        std::vector<double> G(n * n, 0.), m(n);
        const auto unit = [&](std::size_t k) { return exponent[static_cast<std::size_t>(A.column(first + static_cast<index_t>(k)))]; };
        for (std::size_t k = 0; k < n; ++k) {
            const index_t from = A.column(first + static_cast<index_t>(k));
            m[k] = std::ldexp(entry_of(A, from, row), -unit(k));
            for (std::size_t l = 0; l <= k; ++l)
                G[k * n + l] = product_of_rows(A, from, unit(k), A.column(first + static_cast<index_t>(l)), unit(l));
        }
        solve_normal_equations(G, m);
        for (std::size_t k = 0; k < n; ++k) M[static_cast<std::size_t>(first) + k] = std::ldexp(m[k], -unit(k));
    });
    return M;
}

}  // namespace kasane::sparse
