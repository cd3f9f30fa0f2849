// The action of one flavour of Wilson or clover quarks by a rational approximation R of the inverse root [Clark & Kennedy 2007]:
//   |det D| = det A_oo det|Q|,   det|Q| = det(R^-1) det(|Q| R),   S = phi^+ R(Q^2) phi - log det A_oo,   Q = g5 Dhat.
// Of det(|Q| R), which the action leaves out, the logarithm is at most weight_error() in modulus while the spectrum of Q^2 is in the range
// of R. docs/lattice-hmc-forces.md has the formulas of value, heat bath and force.
#pragma once

#include <kasane/lattice/hmc/quark_action.hpp>
#include <kasane/lattice/hmc/rational.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace kasane::lattice {

/// S = phi^+ R(Dhat^+ Dhat) phi.
template <Space S, class Part = QuarkLattice<S>>
class RationalTerm final : public ActionTerm<S> {
   public:
    /// @param number  of the pseudofermion field, from 0: it chooses the random numbers   @param R  without poles: set() must follow
    /// @throws InputError: a twisted mass, for which Q is not Hermitian, or tolerances out of range
    RationalTerm(std::shared_ptr<QuarkOperator<S, Part>> D, int number, RationalApproximation R, const QuarkTolerances& tolerances = {});

    std::string name() const override;  ///< "quark 1" of number 0
    void refresh(const Links<S>& u, std::uint64_t seed, std::uint64_t trajectory) override;
    double value(const Links<S>& u) override;
    void add_force(const Links<S>& u, double factor, Links<S>& force) override;
    int take_iterations() override;

    /// Takes another approximation, of another action: between trajectories alone.
    void set(RationalApproximation R);
    const RationalApproximation& approximation() const { return R_; }
    /// phi on the even sites.
    const Field<S, Precision::double_>& field() const { return phi_; }

    /// Bytes of the vectors of a term of this degree, per site.
    static double bytes_per_site(int degree);

   private:
    using Vector = typename QuarkOperator<S, Part>::Vector;

    /// x_k = (Dhat^+ Dhat + shifts_k)^-1 b
    void solve(const std::vector<double>& shifts, const Vector& b, double rtol, std::optional<Precision> inner = {});

    std::shared_ptr<QuarkOperator<S, Part>> D_;
    int number_;
    RationalApproximation R_;
    QuarkTolerances tolerances_;
    std::vector<double> residues_, heat_bath_residues_;
    Vector phi_;
    std::vector<Vector> x_;
    int iterations_ = 0;
};

/// Bound of |log det(|Q| R)| for a spectrum inside the range of R: -N log(1 - error) with the N = 6 V eigenvalues of Q. The weight of a
/// configuration differs from the exact one by no larger factor than its exponential.
/// @param extents  of the lattice of V sites
double weight_error(const RationalApproximation& R, const Extents& extents);

/// The approximation of the smallest degree with weight_error() at most `bound`. @throws InputError as inverse_root_within
RationalApproximation approximation_for(double least, double most, const Extents& extents, double bound);

/// All terms of one flavour: the pseudofermion field, and with a clover term its determinant, counted once.
template <Space S, class Part>
std::vector<std::unique_ptr<ActionTerm<S>>> one_flavour_action(std::shared_ptr<QuarkOperator<S, Part>> D, int number,
                                                               RationalApproximation R, const QuarkTolerances& tolerances = {});

}  // namespace kasane::lattice
