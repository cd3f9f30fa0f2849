#include <kasane/lattice/hmc/chronological_guess.hpp>

#include <cmath>
#include <complex>

namespace kasane::lattice {
namespace {

using Complex64 = std::complex<double>;

/// Solves G c = r with a Hermitian G by Cholesky's factors. A row that depends on those before it, to rounding, is left out: its c is 0.
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

}  // namespace

template <Space S>
void ChronologicalGuess<S>::add(const QuarkOperator<S>& D, const Vector& x) {
    if (most_ == 0) return;
    if (count_ == 0) newest_ = most_ - 1;  // the first one goes to place 0
    newest_ = (newest_ + 1) % most_;
    if (newest_ == kept_.size()) kept_.push_back(D.vector());
    D.axpby(1, x, 0, kept_[newest_]);
    if (count_ < most_) ++count_;
}

template <Space S>
void ChronologicalGuess<S>::guess(const QuarkOperator<S>& D, double mu, const Vector& phi, Vector& x) {
    D.axpby(0, phi, 0, x);
    if (count_ == 0) return;
    if (image_.empty()) image_.push_back(D.vector());
    std::vector<std::vector<Complex64>> G(count_, std::vector<Complex64>(count_));
    std::vector<Complex64> r(count_);
    for (std::size_t j = 0; j < count_; ++j) {
        D.apply_normal(mu, newest(j), image_[0]);
        for (std::size_t i = j; i < count_; ++i) G[i][j] = D.inner_product(newest(i), image_[0]);
        r[j] = D.inner_product(newest(j), phi);
    }
    const auto c = solve_without_dependent_rows(G, r);
    for (std::size_t j = 0; j < count_; ++j)
        if (c[j] != 0.) D.axpby(c[j], newest(j), 1, x);
}

template class ChronologicalGuess<Cpu>;
#if defined(KASANE_CUDA)
template class ChronologicalGuess<Cuda>;
#endif

}  // namespace kasane::lattice
