// The even-odd preconditioned Wilson-clover operator of hybrid Monte Carlo: Dhat = A_ee - kappa^2 H_eo A_oo^-1 H_oe on the even sites of
// links that are on the space, the solution of (Dhat^+ Dhat + mu^2) x = phi in mixed precision, and the force that every pseudofermion
// field exerts. All terms of an action with the same kappa, c_sw and boundary share one operator and its memory.
// Invariants: nothing but scalars leaves the space; Dhat is gamma5-Hermitian (asymmetric form); results are the same bits for any number of
// threads.
#pragma once

#include <kasane/krylov/log.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>

#include <memory>
#include <string>

namespace kasane::lattice {

/// Solves of a quark action.
struct QuarkSolverOptions {
    Precision inner = Precision::single;                    ///< of the iteration; double_: of the updates too
    LinkStorage inner_links{.reals = LinkReals::two_rows};  ///< of the inner operator
    int iteration_limit = 10'000;                           ///< of each solve
};

template <Space S>
class QuarkOperator {
   public:
    using Vector = Field<S, Precision::double_>;

    /// Takes the memory; pack() must follow.
    /// @throws InputError: extents, kappa, c_sw or options out of range
    QuarkOperator(S on, const Extents& extents, const DiracParameters& parameters, const QuarkSolverOptions& options = {});
    ~QuarkOperator();
    QuarkOperator(QuarkOperator&&) noexcept;

    /// The operator of these links: computes the clover term, and packs links and clover term of both precisions. Does not wait.
    void pack(const Links<S>& u);

    const std::shared_ptr<const Lattice<S>>& lattice() const;
    const DiracParameters& parameters() const;
    Vector vector() const;  ///< of the even sites, uninitialised

    /// out = Dhat in, or Dhat^+ in
    void apply(const Vector& in, Vector& out, bool adjoint = false) const;
    /// y = a x + b y
    void axpby(double a, const Vector& x, double b, Vector& y) const;
    double norm2(const Vector& x) const;
    double dot(const Vector& x, const Vector& y) const;  ///< Re x^+ y

    /// Solves (Dhat^+ Dhat + mu^2) x = phi from the x that is given, until |phi - (Dhat^+ Dhat + mu^2) x| <= rtol |phi|.
    /// @throws ComputationError with the course of the residual where that is not reached: kappa beyond its critical value on these links,
    /// or an rtol that double precision does not hold
    krylov::SolveLog solve(double mu, const Vector& phi, Vector& x, double rtol);

    /// force += factor F of dS = -2 Re (Dhat x)^+ dDhat x: the force of S = phi^+ (Dhat^+ Dhat + mu^2)^-1 phi, x the solution. The links
    /// are those that were packed.
    void add_force(const Links<S>& u, const Vector& x, double factor, Links<S>& force);

    /// -2 log det A_oo of the packed links; 0 without clover term. @throws ComputationError where A is not positive definite
    double determinant_action() const;
    /// force += factor F of that.
    void add_determinant_force(const Links<S>& u, double factor, Links<S>& force);

    /// Largest memory of an operator [bytes per site].
    static double bytes_per_site(const DiracParameters& parameters, const QuarkSolverOptions& options);

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kasane::lattice
