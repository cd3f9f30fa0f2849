#include <kasane/lattice/hmc/chronological_guess_members.hpp>

#include <cmath>

namespace kasane::lattice {
namespace detail {

using Complex64 = std::complex<double>;

std::vector<Complex64> solve_without_dependent_rows(const std::vector<std::vector<Complex64>>& G, const std::vector<Complex64>& r) {
    // A pivot is the share of a vector's square that the vectors before do not contain. Sums of products are exact to some 1e-15 of it.
    constexpr double least_share = 1e-12;
    const std::size_t n = r.size();
    std::vector<std::vector<Complex64>> L(n, std::vector<Complex64>(n));
    std::vector<Complex64> y(n), c(n);
    std::vector<bool> used(n);
    for (std::size_t i = 0; i < n; ++i) {
        double pivot = G[i][i].real();
        y[i] = r[i];
        for (std::size_t j = 0; j < i; ++j) {
            if (!used[j]) continue;
            auto sum = G[i][j];
            for (std::size_t k = 0; k < j; ++k) sum -= L[i][k] * std::conj(L[j][k]);
            L[i][j] = sum / L[j][j];
            pivot -= std::norm(L[i][j]);
            y[i] -= L[i][j] * y[j];
        }
        used[i] = pivot > least_share * G[i][i].real();
        if (!used[i]) {
            y[i] = 0;
            for (auto& number : L[i]) number = 0;
            continue;
        }
        L[i][i] = std::sqrt(pivot);
        y[i] /= L[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
        if (!used[i]) continue;
        auto sum = y[i];
        for (std::size_t j = i + 1; j < n; ++j) sum -= std::conj(L[j][i]) * c[j];
        c[i] = sum / L[i][i];
    }
    return c;
}

}  // namespace detail

template class ChronologicalGuess<Cpu>;
#if defined(KASANE_CUDA)
template class ChronologicalGuess<Cuda>;
#endif

}  // namespace kasane::lattice
