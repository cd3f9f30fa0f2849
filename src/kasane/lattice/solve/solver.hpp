// D x = b for the Wilson-clover operator: even-odd preconditioned, in mixed precision, on any space.
// Invariants: what converged() promises is the true residual of the full system, in double; the solver never throws for numerical reasons:
// how it ended is in the log; results do not depend on threads beyond rounding.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/krylov/log.hpp>
#include <kasane/krylov/options.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kasane::lattice {

/// All but cg and bicgstab have an inner solver (BiCGStab) of the inner precision as their flexible preconditioner; cg and bicgstab run in
/// mixed precision too where inner differs from double (cg: reliable updates).
enum class Method { nested_bicgstab, bicgstab, cg, gcr, fgmres, refinement };

/// Dhat = 1 - kappa^2 A_ee^-1 H_eo A_oo^-1 H_oe (symmetric) or A_ee - kappa^2 H_eo A_oo^-1 H_oe (asymmetric).
enum class Schur { symmetric, asymmetric };

struct SolverOptions {
    Method method = Method::nested_bicgstab;
    Schur schur = Schur::symmetric;
    Precision inner = Precision::half;
    LinkStorage outer_links = {};                           ///< of the double operator
    LinkStorage inner_links{.reals = LinkReals::two_rows};  ///< of the inner one
    double rtol = 1e-10;                                    ///< of |b - D x| / |b|, true, double, full lattice
    double inner_rtol = 0;                                  ///< of the inner solver; 0: chosen by method and precision
    int iteration_limit = 10'000;                           ///< of low-precision iterations (or of all, without an inner solver)
    int krylov_length = 16;                                 ///< vectors that gcr and fgmres keep
};

/// "nested-bicgstab", "bicgstab", "cg", "gcr", "fgmres", "refinement".
const char* name(Method method);

/// What a solve did. `true_residual` is |b - D x| / |b| in double on the full lattice; `residuals` holds those of every iteration, outer
/// and inner, as the recurrences have them.
struct SolveLog : krylov::SolveLog {
    double gflops = 0;  ///< useful flop (1320 per hop and site, 504 per clover term, vector updates) per second, in 10^9
};

/// Bytes per site on the space and on the host while a solver of these options lives and solves.
struct MemoryPerSite {
    double device = 0, host = 0;
};
MemoryPerSite memory_per_site(const DiracParameters& parameters, const SolverOptions& options);

class WilsonSolver {
   public:
    /// @throws InputError: extents, kappa or options out of range, or more memory than the space has (said before it is taken)
    WilsonSolver(AnySpace on, const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options = {});
    ~WilsonSolver();
    WilsonSolver(WilsonSolver&&) noexcept;

    /// x from the x that is given (zero: a good start). `stop` is asked now and then with the iteration and its residual.
    SolveLog solve(const SpinorField& b, SpinorField& x, const krylov::StopFunction& stop = {});

    /// out = D in or D^+ in, in double, on the solver's space: what residuals are taken with.
    void apply(const SpinorField& in, SpinorField& out, bool adjoint = false);

   private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::lattice
