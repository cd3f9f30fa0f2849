// The action of two degenerate flavours of Wilson or clover quarks:
//   det(D)^2 = det(A_oo)^2 det(Dhat^+ Dhat),   S = phi^+ (Dhat^+ Dhat)^-1 phi - 2 log det A_oo,
// and with Hasenbusch's masses 0 = mu_0 < mu_1 < ... < mu_n any number of pseudofermion fields [Hasenbusch 2001]:
//   det(Dhat^+ Dhat) = prod_i det[(Dhat^+ Dhat + mu_i^2) (Dhat^+ Dhat + mu_(i+1)^2)^-1] det(Dhat^+ Dhat + mu_n^2).
// A twisted mass puts M = A + i mu g5 in the place of A, and the flavours have D(mu) and D(-mu) = g5 D(mu)^+ g5: |det D(mu)|^2.
// docs/lattice-hmc-forces.md has the formulas of values, heat baths and forces.
#pragma once

#include <kasane/lattice/hmc/action_term.hpp>
#include <kasane/lattice/hmc/chronological_guess.hpp>
#include <kasane/lattice/hmc/quark_operator.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace kasane::lattice {

/// Solves of a pseudofermion field; tolerances are of |phi - (Dhat^+ Dhat + mu^2) x| / |phi|.
struct QuarkTolerances {
    double value = 1e-11;   ///< of the action's value and of the heat bath, whose solves begin at 0
    double force = 1e-9;    ///< with `chronological` above 0 trajectories are reversible to about this tolerance
    int chronological = 0;  ///< solutions of earlier forces of the same trajectory that the first guess of a force combines
};

/// @throws InputError: a tolerance is not from 1e-15 to 1
void check_tolerances(const QuarkTolerances& tolerances);

/// S = phi^+ (Dhat^+ Dhat + mu^2)^-1 phi, or with a heavier mass m S = phi^+ (Dhat^+ Dhat + m^2) (Dhat^+ Dhat + mu^2)^-1 phi.
template <Space S, class Part = QuarkLattice<S>>
class PseudofermionTerm final : public ActionTerm<S> {
   public:
    /// @param number  of the field, from 0: it chooses the random numbers   @param mu  0 or above   @param heavier  above mu, or empty
    /// @throws InputError: masses or tolerances out of range, or Hasenbusch masses with a twisted mass
    PseudofermionTerm(std::shared_ptr<QuarkOperator<S, Part>> D, int number, double mu, std::optional<double> heavier,
                      const QuarkTolerances& tolerances = {});

    std::string name() const override;  ///< "quark 1" of number 0
    void refresh(const Links<S>& u, std::uint64_t seed, std::uint64_t trajectory) override;
    double value(const Links<S>& u) override;
    void add_force(const Links<S>& u, double factor, Links<S>& force) override;
    void forget() override { guesses_.clear(); }
    int take_iterations() override;

    /// phi on the even sites.
    const Field<S, Precision::double_>& field() const { return phi_; }

   private:
    /// x = (Dhat^+ Dhat + mu^2)^-1 b, from 0; the links are those that were packed
    void solve(const Links<S>& u, double mu, const Field<S, Precision::double_>& b, double rtol);

    std::shared_ptr<QuarkOperator<S, Part>> D_;
    int number_;
    double mu_;
    std::optional<double> heavier_;
    QuarkTolerances tolerances_;
    Field<S, Precision::double_> phi_, x_;
    ChronologicalGuess<S, Part> guesses_;
    int iterations_ = 0;
};

/// S = -flavours log |det M_oo|.
template <Space S, class Part = QuarkLattice<S>>
class CloverDeterminantTerm final : public ActionTerm<S> {
   public:
    explicit CloverDeterminantTerm(std::shared_ptr<QuarkOperator<S, Part>> D, int flavours = 2, std::string name = "clover determinant")
        : D_(std::move(D)), flavours_(flavours), name_(std::move(name)) {}

    std::string name() const override { return name_; }
    void refresh(const Links<S>&, std::uint64_t, std::uint64_t) override {}
    double value(const Links<S>& u) override;
    void add_force(const Links<S>& u, double factor, Links<S>& force) override;

   private:
    std::shared_ptr<QuarkOperator<S, Part>> D_;
    int flavours_;
    std::string name_;
};

/// All terms of two flavours: the pseudofermion fields from the lightest mass on, and with a clover term its determinant.
/// @param masses  Hasenbusch's, above 0 and ascending; empty: one field without preconditioning
template <Space S, class Part>
std::vector<std::unique_ptr<ActionTerm<S>>> quark_action(std::shared_ptr<QuarkOperator<S, Part>> D, const std::vector<double>& masses,
                                                         const QuarkTolerances& tolerances = {});

/// The residual at which rounding ends a solve of Dhat^+ Dhat x = phi with these links, phi a random field, above the tolerance; 0 where
/// the tolerance is reached, or another reason ends the solve.
template <Space S, class Part>
double unreached_residual(QuarkOperator<S, Part>& D, const Links<S>& u, std::uint64_t seed, double rtol,
                          std::optional<Precision> inner = {}) {
    D.pack(u);
    auto phi = D.vector(), x = D.vector();
    D.gaussian(seed, 0, 0, phi);
    D.axpby(0, phi, 0, x);
    D.forget_subspace();
    const auto log = D.try_solve_deflated(u, phi, x, rtol, inner);
    return log.converged() || !(log.true_residual < 1e-6) ? 0 : log.true_residual;
}

}  // namespace kasane::lattice
