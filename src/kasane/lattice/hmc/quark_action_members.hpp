// The terms of quarks, for the files that instantiate them for a kind of lattice.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace kasane::lattice {

template <Space S, class Part>
PseudofermionTerm<S, Part>::PseudofermionTerm(std::shared_ptr<QuarkOperator<S, Part>> D, int number, double mu,
                                              std::optional<double> heavier, const QuarkTolerances& tolerances)
    : D_(std::move(D)),
      number_(number),
      mu_(mu),
      heavier_(heavier),
      tolerances_(tolerances),
      phi_(D_->vector()),
      x_(D_->vector()),
      guesses_(tolerances.chronological) {
    KS_VALIDATE(mu >= 0 && std::isfinite(mu), fmt::format("Hasenbusch mass {} must be 0 or above and finite", mu));
    KS_VALIDATE(
        !heavier || (*heavier > mu && std::isfinite(*heavier)),
        fmt::format("Hasenbusch mass {} must be above the lighter one, {}: sort the masses in ascending order", heavier.value_or(0), mu));
    KS_VALIDATE(D_->parameters().twisted_mass == 0 || (mu == 0 && !heavier),
                "Hasenbusch masses need quarks without a twisted mass, whose heat bath they use: leave out one of the two");
    check_tolerances(tolerances);
}

template <Space S, class Part>
std::string PseudofermionTerm<S, Part>::name() const {
    return fmt::format("quark {}", number_ + 1);
}

template <Space S, class Part>
void PseudofermionTerm<S, Part>::solve(const Links<S>& u, double mu, const Field<S, Precision::double_>& b, double rtol) {
    D_->axpby(0, b, 0, x_);
    iterations_ += (mu == 0 ? D_->solve_deflated(u, b, x_, rtol) : D_->solve(mu, b, x_, rtol)).iterations;
}

template <Space S, class Part>
void PseudofermionTerm<S, Part>::refresh(const Links<S>& u, std::uint64_t seed, std::uint64_t trajectory) {
    D_->pack(u);
    if (mu_ == 0) D_->forget_subspace();  // a trajectory is a function of its first links alone
    auto eta = D_->vector();
    D_->gaussian(seed, trajectory, number_, eta);
    if (!heavier_) {  // phi = (Dhat^+ + i mu g5) eta
        D_->apply(eta, phi_, true);
        if (mu_ != 0) add_i_gamma5(mu_, eta, phi_);
        return;
    }
    // phi = (Q + i mu) (Q + i m)^-1 eta = eta + (mu - m) (m + i Q) (Q^2 + m^2)^-1 eta with Q = g5 Dhat
    const double m = *heavier_;
    solve(u, m, eta, tolerances_.value);
    D_->apply(x_, phi_);
    add_i_gamma5(mu_ - m, phi_, eta);
    D_->axpby(m * (mu_ - m), x_, 1, eta);
    D_->axpby(1, eta, 0, phi_);
}

template <Space S, class Part>
double PseudofermionTerm<S, Part>::value(const Links<S>& u) {
    D_->pack(u);
    solve(u, mu_, phi_, tolerances_.value);
    const double inverse = D_->dot(phi_, x_);
    if (!heavier_) return inverse;
    return D_->norm2(phi_) + (*heavier_ * *heavier_ - mu_ * mu_) * inverse;
}

template <Space S, class Part>
void PseudofermionTerm<S, Part>::add_force(const Links<S>& u, double factor, Links<S>& force) {
    D_->pack(u);
    guesses_.guess(*D_, mu_, phi_, x_);
    const auto inner = D_->options().force;
    const auto log =
        mu_ == 0 ? D_->solve_deflated(u, phi_, x_, tolerances_.force, inner) : D_->solve(mu_, phi_, x_, tolerances_.force, inner);
    iterations_ += log.iterations;
    guesses_.add(*D_, x_);
    D_->add_force(u, x_, heavier_ ? factor * (*heavier_ * *heavier_ - mu_ * mu_) : factor, force);
}

template <Space S, class Part>
int PseudofermionTerm<S, Part>::take_iterations() {
    return std::exchange(iterations_, 0);
}

template <Space S, class Part>
double CloverDeterminantTerm<S, Part>::value(const Links<S>& u) {
    D_->pack(u);
    return 0.5 * flavours_ * D_->determinant_action();
}
template <Space S, class Part>
void CloverDeterminantTerm<S, Part>::add_force(const Links<S>& u, double factor, Links<S>& force) {
    D_->pack(u);
    D_->add_determinant_force(u, 0.5 * flavours_ * factor, force);
}

template <Space S, class Part>
std::vector<std::unique_ptr<ActionTerm<S>>> quark_action(std::shared_ptr<QuarkOperator<S, Part>> D, const std::vector<double>& masses,
                                                         const QuarkTolerances& tolerances) {
    std::vector<std::unique_ptr<ActionTerm<S>>> terms;
    double mu = 0;
    int number = 0;
    for (const double heavier : masses) {
        terms.push_back(std::make_unique<PseudofermionTerm<S, Part>>(D, number++, mu, heavier, tolerances));
        mu = heavier;
    }
    terms.push_back(std::make_unique<PseudofermionTerm<S, Part>>(D, number, mu, std::nullopt, tolerances));
    if (D->parameters().dirac.csw != 0) terms.push_back(std::make_unique<CloverDeterminantTerm<S, Part>>(D));
    return terms;
}

}  // namespace kasane::lattice
