#include <kasane/sparse/general/scaling.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace kasane::sparse {
namespace {

constexpr int lowest = std::numeric_limits<int>::min();

struct Exponents {
    std::vector<int> row, column;
};

constexpr auto zero = std::numeric_limits<std::int16_t>::min();

/// Exponents of the entries, `zero` of those that are 0: the sweeps below read them up to 34 times.
std::vector<std::int16_t> exponents_of(const CsrView& A) {
    std::vector<std::int16_t> exponent(A.n > 0 ? static_cast<std::size_t>(A.end(A.n - 1)) : 0);
    for (std::size_t e = 0; e < exponent.size(); ++e) {
        const double value = A.value[static_cast<index_t>(e)];
        exponent[e] = value != 0 ? static_cast<std::int16_t>(std::ilogb(value)) : zero;
    }
    return exponent;
}

/// Exponents of the largest entries of rows and columns of the scaled matrix.
Exponents largest_entries(const CsrView& A, const std::vector<std::int16_t>& exponents, const Scaling& scaling) {
    const auto n = static_cast<std::size_t>(A.n);
    Exponents most{std::vector<int>(n, lowest), std::vector<int>(n, lowest)};
    for (std::size_t i = 0; i < n; ++i)
        for (index_t e = A.begin(static_cast<index_t>(i)); e < A.end(static_cast<index_t>(i)); ++e) {
            const int own = exponents[static_cast<std::size_t>(e)];
            if (own == zero) continue;
            const auto j = static_cast<std::size_t>(A.column(e));
            const int exponent = own + scaling.row[i] + scaling.column[j];
            most.row[i] = std::max(most.row[i], exponent);
            most.column[j] = std::max(most.column[j], exponent);
        }
    return most;
}

int spread(const std::vector<int>& exponents) {
    const auto [least, most] = std::minmax_element(exponents.begin(), exponents.end());
    return *most - *least;
}

/// Scales to geometric means of 1: where A is D E F with diagonal D and F, it recovers both from one E, up to E's own means.
///                                                                                                             [Curtis & Reid 1972]
void scale_to_means(const CsrView& A, const std::vector<std::int16_t>& exponents, bool symmetric, Scaling& scaling) {
    constexpr int sweeps = 8;
    const auto n = static_cast<std::size_t>(A.n);
    std::vector<double> row(n, 0.), column(n, 0.), sum(n), count(n);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        std::ranges::fill(sum, 0.), std::ranges::fill(count, 0.);
        for (std::size_t i = 0; i < n; ++i) {
            const index_t first = A.begin(static_cast<index_t>(i)), last = A.end(static_cast<index_t>(i));
            double total = 0, entries = 0;
            for (index_t e = first; e < last; ++e)
                if (const int own = exponents[static_cast<std::size_t>(e)]; own != zero)
                    total += own + column[static_cast<std::size_t>(A.column(e))], ++entries;
            if (symmetric) {
                sum[i] = total, count[i] = entries;
                continue;
            }
            row[i] = -total / entries;
            for (index_t e = first; e < last; ++e)
                if (const int own = exponents[static_cast<std::size_t>(e)]; own != zero) {
                    const auto j = static_cast<std::size_t>(A.column(e));
                    sum[j] += own + row[i], ++count[j];
                }
        }
        for (std::size_t j = 0; j < n; ++j) column[j] = symmetric ? (column[j] - sum[j] / count[j]) / 2 : -sum[j] / count[j];
    }
    for (std::size_t i = 0; i < n; ++i) {
        scaling.column[i] = static_cast<int>(std::lround(column[i]));
        scaling.row[i] = symmetric ? scaling.column[i] : static_cast<int>(std::lround(row[i]));
    }
}

}  // namespace

std::string Scaling::note() const {
    return fmt::format(
        "The largest entries of rows differ by up to 2^{}, those of columns by up to 2^{}: both were scaled by powers of two.", row_spread,
        column_spread);
}

Scaling scaling_of(const CsrView& A, bool symmetric, bool wanted) {
    constexpr int sweeps = 16;  // the exponents halve in each: enough for the range of doubles
    const auto n = static_cast<std::size_t>(A.n);
    Scaling scaling{std::vector<int>(n, 0), std::vector<int>(n, 0)};
    const auto exponents = exponents_of(A);
    auto most = largest_entries(A, exponents, scaling);
    scaling.row_spread = spread(most.row), scaling.column_spread = spread(most.column);
    if (!wanted || std::max(scaling.row_spread, scaling.column_spread) <= 3) return scaling;
    scaling.used = true;
    scale_to_means(A, exponents, symmetric, scaling);
    most = largest_entries(A, exponents, scaling);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        bool changed = false;
        for (std::size_t i = 0; i < n; ++i) {
            // Rounding may put a_ij and a_ji on two sides of a power of two.
            if (symmetric) most.row[i] = most.column[i] = std::max(most.row[i], most.column[i]);
            scaling.row[i] -= most.row[i] / 2;
            scaling.column[i] -= most.column[i] / 2;
            changed = changed || most.row[i] / 2 != 0 || most.column[i] / 2 != 0;
        }
        if (!changed) break;
        most = largest_entries(A, exponents, scaling);
    }
    return scaling;
}

}  // namespace kasane::sparse
