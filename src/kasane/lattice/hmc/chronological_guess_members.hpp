// The members of ChronologicalGuess, for the files that instantiate it for a kind of lattice.
#pragma once

#include <kasane/lattice/hmc/chronological_guess.hpp>

#include <complex>

namespace kasane::lattice {
namespace detail {

/// Solves G c = r with a Hermitian G by Cholesky's factors. A row that depends on those before it, to rounding, is left out: its c is 0.
std::vector<std::complex<double>> solve_without_dependent_rows(const std::vector<std::vector<std::complex<double>>>& G,
                                                               const std::vector<std::complex<double>>& r);

}  // namespace detail

template <Space S, class Part>
void ChronologicalGuess<S, Part>::add(const Operator& D, const Vector& x) {
    if (most_ == 0) return;
    if (count_ == 0) newest_ = most_ - 1;  // the first one goes to place 0
    newest_ = (newest_ + 1) % most_;
    if (newest_ == kept_.size()) kept_.push_back(D.vector());
    D.axpby(1, x, 0, kept_[newest_]);
    if (count_ < most_) ++count_;
}

template <Space S, class Part>
void ChronologicalGuess<S, Part>::guess(const Operator& D, double mu, const Vector& phi, Vector& x) {
    D.axpby(0, phi, 0, x);
    if (count_ == 0) return;
    if (image_.empty()) image_.push_back(D.vector());
    std::vector<std::vector<std::complex<double>>> G(count_, std::vector<std::complex<double>>(count_));
    std::vector<std::complex<double>> r(count_);
    for (std::size_t j = 0; j < count_; ++j) {
        D.apply_normal(mu, newest(j), image_[0]);
        for (std::size_t i = j; i < count_; ++i) G[i][j] = D.inner_product(newest(i), image_[0]);
        r[j] = D.inner_product(newest(j), phi);
    }
    const auto c = detail::solve_without_dependent_rows(G, r);
    for (std::size_t j = 0; j < count_; ++j)
        if (c[j] != 0.) D.axpby(c[j], newest(j), 1, x);
}

}  // namespace kasane::lattice
