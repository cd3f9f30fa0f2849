// The even-odd preconditioned operator of hybrid Monte Carlo: Dhat = M_ee - kappa^2 H_eo M_oo^-1 H_oe, M = A + i twisted_mass g5, on the
// even sites of links that are on the space, the solution of (Dhat^+ Dhat + mu^2) x = phi in mixed precision, and the force that every
// pseudofermion field exerts. All terms of an action with the same kappa, c_sw and boundary share one operator and its memory. Invariants:
// nothing but scalars leaves the space; without a twisted mass Dhat is gamma5-Hermitian (asymmetric form); results have the same bits for
// any number of threads.
#pragma once

#include <kasane/krylov/log.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/hmc/quark_lattice.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/solve/coherent_options.hpp>
#include <kasane/lattice/solve/resident_field.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kasane::lattice {

/// Parameters of D of two flavours.
struct QuarkParameters {
    DiracParameters dirac;    ///< kappa, c_sw, boundary
    double twisted_mass = 0;  ///< 2 kappa mu; the two flavours have D with both signs of it

    /// Implicit: quarks without a twisted mass.
    QuarkParameters(const DiracParameters& of, double mass = 0) : dirac(of), twisted_mass(mass) {}
};

/// Solves of a quark action.
struct QuarkSolverOptions {
    Precision inner = Precision::single;                    ///< of the iteration; double_: of the updates too
    std::optional<Precision> force = {};                    ///< of the iteration in solves of forces; empty: inner
    LinkStorage inner_links{.reals = LinkReals::two_rows};  ///< of the inner operator
    int iteration_limit = 10'000;                           ///< of each solve
    CoherentOptions deflation = {};                         ///< of solve_deflated(); without vectors none. On one device alone
};

/// @tparam Part  QuarkLattice, or a class with its members: DividedQuarkLattice
template <Space S, class Part = QuarkLattice<S>>
class QuarkOperator {
   public:
    using Vector = Field<S, Precision::double_>;

    /// Takes the memory; pack() must follow.
    /// @throws InputError: extents, kappa, c_sw or options out of range; deflation with a twisted mass or on many workers
    QuarkOperator(Part part, const QuarkParameters& parameters, const QuarkSolverOptions& options = {});
    QuarkOperator(S on, const Extents& extents, const QuarkParameters& parameters, const QuarkSolverOptions& options = {})
        requires std::constructible_from<Part, S, const Extents&>
        : QuarkOperator(Part(on, extents), parameters, options) {}
    ~QuarkOperator();
    QuarkOperator(QuarkOperator&&) noexcept;

    /// Returns the operator of these links: computes the clover term, and packs links and clover term of both precisions. If the links are
    /// those that are packed (links_checksum), nothing more is done, because the terms of an action call this one after the other.
    void pack(const Links<S>& u);

    const std::shared_ptr<const Lattice<S>>& lattice() const;
    const QuarkParameters& parameters() const;
    const QuarkSolverOptions& options() const;
    Vector vector() const;  ///< of the even sites, uninitialised

    /// Does the same as gaussian_field(), on the even sites.
    void gaussian(std::uint64_t seed, std::uint64_t trajectory, int term, Vector& eta) const;

    /// out = Dhat in, or Dhat^+ in
    void apply(const Vector& in, Vector& out, bool adjoint = false) const;
    /// out = (Dhat^+ Dhat + mu^2) in
    void apply_normal(double mu, const Vector& in, Vector& out) const;
    /// y = a x + b y
    void axpby(std::complex<double> a, const Vector& x, std::complex<double> b, Vector& y) const;
    double norm2(const Vector& x) const;
    double dot(const Vector& x, const Vector& y) const;                          ///< Re x^+ y
    std::complex<double> inner_product(const Vector& x, const Vector& y) const;  ///< x^+ y

    /// Solves (Dhat^+ Dhat + mu^2) x = phi from the x that is given, until |phi - (Dhat^+ Dhat + mu^2) x| <= rtol |phi|.
    /// @throws ComputationError with the course of the residual where that is not reached: kappa beyond its critical value on these links,
    /// or an rtol that double precision does not hold
    /// @param inner  of the iteration: one of those of the options; empty: options.inner
    krylov::SolveLog solve(double mu, const Vector& phi, Vector& x, double rtol, std::optional<Precision> inner = {});
    /// Does the same; the log states whether the tolerance was reached.
    krylov::SolveLog try_solve(double mu, const Vector& phi, Vector& x, double rtol, std::optional<Precision> inner = {});

    /// Whether the options deflate.
    bool deflates() const { return options().deflation.vectors > 0; }
    /// Solves Dhat^+ Dhat x = phi by QuarkDeflation, where the options deflate, otherwise as solve(). Conjugate gradients continue where
    /// it does not converge, and solve alone until forget_subspace(). @param u  the links that were packed   @throws ComputationError as
    /// solve
    krylov::SolveLog solve_deflated(const Links<S>& u, const Vector& phi, Vector& x, double rtol, std::optional<Precision> inner = {});
    /// Does the same; the log states whether the tolerance was reached.
    krylov::SolveLog try_solve_deflated(const Links<S>& u, const Vector& phi, Vector& x, double rtol, std::optional<Precision> inner = {});
    /// Discards the subspace: the next solve_deflated() computes one from its links alone.
    void forget_subspace();

    /// Solves (Dhat^+ Dhat + shifts_k) x_k = phi for all k, from zero, each to |phi - (Dhat^+ Dhat + shifts_k) x_k| <= rtol |phi|:
    /// together in the inner precision, then one by one (mixed_multishift_cg); with the inner precision double_, all at once in double
    /// (multishift_cg). @param shifts  ascending, not negative   @param x  as many vectors   @param inner  as solve
    /// @throws ComputationError as solve
    krylov::SolveLog solve_shifted(const std::vector<double>& shifts, const Vector& phi, std::vector<Vector>& x, double rtol,
                                   std::optional<Precision> inner = {});

    /// force += factor F of dS = -2 Re (Dhat x)^+ dDhat x: the force of S = phi^+ (Dhat^+ Dhat + mu^2)^-1 phi, x the solution. The links
    /// are those that were packed.
    void add_force(const Links<S>& u, const Vector& x, double factor, Links<S>& force);
    /// force += sum_k factors_k F of x_k; the leaves of the clover term are multiplied once for all of them.
    void add_force(const Links<S>& u, const std::vector<Vector>& x, const std::vector<double>& factors, Links<S>& force);

    /// -2 log |det M_oo| of the packed links; 0 without clover term. @throws ComputationError where A (with a twisted mass, A^2 +
    /// its square) is not positive definite
    double determinant_action() const;
    /// force += factor F of that.
    void add_determinant_force(const Links<S>& u, double factor, Links<S>& force);

    /// Largest memory of an operator [bytes per site]. @param lattice  needed where the options deflate
    static double bytes_per_site(const QuarkParameters& parameters, const QuarkSolverOptions& options, const Extents& lattice = {});

   private:
    /// @throws ComputationError where the solve did not converge
    void require_converged(const krylov::SolveLog& log, double mu, double rtol) const;
    /// @throws LogicError unless the options name this inner precision
    void require_level(Precision precision) const;
    /// Continues x and Y = Dhat x to the odd sites, adds factor F of the hop to the force, and writes factor W of the clover term, or adds
    /// it to the weights that are there.
    void add_force_of_hop(const Links<S>& u, const Vector& x, double factor, bool add_weights, Links<S>& force);

    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace kasane::lattice
