// The members of RationalTerm, for the files that instantiate it for a kind of lattice.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/hmc/quark_field.hpp>
#include <kasane/lattice/hmc/rational_term.hpp>

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace kasane::lattice {

template <Space S, class Part>
RationalTerm<S, Part>::RationalTerm(std::shared_ptr<QuarkOperator<S, Part>> D, int number, RationalApproximation R,
                                    const QuarkTolerances& tolerances)
    : D_(std::move(D)), number_(number), tolerances_(tolerances), phi_(D_->vector()) {
    KS_VALIDATE(
        D_->parameters().twisted_mass == 0,
        fmt::format("one flavour with the twisted mass {} has a complex determinant: leave out the twisted mass, or take two flavours",
                    D_->parameters().twisted_mass));
    check_tolerances(tolerances);
    set(std::move(R));
}

template <Space S, class Part>
std::string RationalTerm<S, Part>::name() const {
    return fmt::format("quark {}", number_ + 1);
}

template <Space S, class Part>
void RationalTerm<S, Part>::set(RationalApproximation R) {
    R_ = std::move(R);
    residues_ = R_.residues();
    heat_bath_residues_ = R_.heat_bath_residues();
    while (x_.size() > residues_.size()) x_.pop_back();
    while (x_.size() < residues_.size()) x_.push_back(D_->vector());
}

template <Space S, class Part>
void RationalTerm<S, Part>::solve(const std::vector<double>& shifts, const Vector& b, double rtol, std::optional<Precision> inner) {
    iterations_ += D_->solve_shifted(shifts, b, x_, rtol, inner).iterations;
}

template <Space S, class Part>
void RationalTerm<S, Part>::refresh(const Links<S>& u, std::uint64_t seed, std::uint64_t trajectory) {
    D_->pack(u);
    auto eta = D_->vector(), sum = D_->vector();
    D_->gaussian(seed, trajectory, number_, eta);
    // phi = scale^(-1/2) [eta + sum_k s_k (i Q + n_k) (Q^2 + n_k^2)^-1 eta]
    solve(R_.zeros, eta, tolerances_.value);
    D_->axpby(heat_bath_residues_[0], x_[0], 0, sum);
    for (std::size_t k = 1; k < x_.size(); ++k) D_->axpby(heat_bath_residues_[k], x_[k], 1, sum);
    for (std::size_t k = 0; k < x_.size(); ++k) D_->axpby(heat_bath_residues_[k] * std::sqrt(R_.zeros[k]), x_[k], 1, eta);
    D_->apply(sum, phi_);
    add_i_gamma5(1, phi_, eta);
    D_->axpby(1 / std::sqrt(R_.scale), eta, 0, phi_);
}

template <Space S, class Part>
double RationalTerm<S, Part>::value(const Links<S>& u) {
    D_->pack(u);
    solve(R_.poles, phi_, tolerances_.value);
    double sum = D_->norm2(phi_);
    for (std::size_t k = 0; k < x_.size(); ++k) sum += residues_[k] * D_->dot(phi_, x_[k]);
    return R_.scale * sum;
}

template <Space S, class Part>
void RationalTerm<S, Part>::add_force(const Links<S>& u, double factor, Links<S>& force) {
    D_->pack(u);
    solve(R_.poles, phi_, tolerances_.force, D_->options().force);
    auto factors = residues_;
    for (double& each : factors) each *= R_.scale * factor;
    D_->add_force(u, x_, factors, force);
}

template <Space S, class Part>
int RationalTerm<S, Part>::take_iterations() {
    return std::exchange(iterations_, 0);
}

template <Space S, class Part>
double RationalTerm<S, Part>::bytes_per_site(int degree) {
    // Of the even sites: x_k and the directions of the solve, its r and q; in single precision corrections, directions, r and q; phi, eta
    // and the sum.
    return (3 * degree + 6) * 12 * sizeof(double);
}

template <Space S, class Part>
std::vector<std::unique_ptr<ActionTerm<S>>> one_flavour_action(std::shared_ptr<QuarkOperator<S, Part>> D, int number,
                                                               RationalApproximation R, const QuarkTolerances& tolerances) {
    std::vector<std::unique_ptr<ActionTerm<S>>> terms;
    terms.push_back(std::make_unique<RationalTerm<S, Part>>(D, number, std::move(R), tolerances));
    if (D->parameters().dirac.csw != 0)
        terms.push_back(std::make_unique<CloverDeterminantTerm<S, Part>>(D, 1, "clover determinant, " + terms[0]->name()));
    return terms;
}

}  // namespace kasane::lattice
