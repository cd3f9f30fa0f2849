// Solves D x = b for the Wilson-clover operator: even-odd preconditioned, in mixed precision, on any space.
// Invariants: converged() means that the true residual of the full system, in double, is within rtol; no exception for a numerical reason:
// the outcome is in the log; results do not depend on threads beyond rounding.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/krylov/log.hpp>
#include <kasane/krylov/options.hpp>
#include <kasane/lattice/solve/coherent_options.hpp>
#include <kasane/lattice/dirac/eigenmodes.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/observe/sources.hpp>
#include <kasane/lattice/schwarz/options.hpp>
#include <kasane/lattice/solution_rows.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kasane::lattice {

/// The outer method. All but cg and bicgstab have a flexible preconditioner in the inner precision: an inner solver (BiCGStab), a Schwarz
/// preconditioner or inexact deflation; cg and bicgstab make reliable updates where inner differs from double.
enum class Method {
    nested_bicgstab,  ///< BiCGStab                                                                  [Sakurai & Tadano; Ish09, slide 16]
    bicgstab,         ///< BiCGStab without a preconditioner                                         [van der Vorst 1992]
    cg,               ///< conjugate gradients on the normal equations                               [Hestenes & Stiefel 1952]
    gcr,              ///< generalised conjugate residuals                                           [Luscher 2004, appendix A]
    fgmres,           ///< flexible GMRES                                                            [Saad 1993]
    refinement,       ///< iterative refinement                                                      [Wilkinson 1963]
    automatic,        ///< refinement or bicgstab, by the first restart; bicgstab for several right-hand sides at once
};

/// The even-odd preconditioned operator Dhat.
enum class Schur {
    symmetric,   ///< 1 - kappa^2 A_ee^-1 H_eo A_oo^-1 H_oe
    asymmetric,  ///< A_ee - kappa^2 H_eo A_oo^-1 H_oe
};

/// Options of a WilsonSolver.
struct SolverOptions {
    Method method = Method::nested_bicgstab;                ///< the outer method
    Schur schur = Schur::symmetric;                         ///< the preconditioned operator
    Precision inner = Precision::half;                      ///< of the inner solver
    LinkStorage outer_links = {};                           ///< of the double operator
    LinkStorage inner_links{.reals = LinkReals::two_rows};  ///< of the inner one
    double rtol = 1e-10;                                    ///< tolerance of the true |b - D x| / |b| in double, full lattice
    double inner_rtol = 0;                                  ///< of the inner solver; 0: chosen by method and precision
    int iteration_limit = 10'000;                           ///< of low-precision iterations (or of all, without an inner solver)
    int krylov_length = 16;                                 ///< vectors that gcr and fgmres keep
    SchwarzOptions schwarz = {};                            ///< takes the place of the inner solver unless its method is none
    CoherentOptions coherent = {};  ///< inexact deflation; with vectors it replaces the inner solver, and `schwarz` is its smoother
};

/// Its name in JSON and messages: "nested-bicgstab", "bicgstab", "cg", "gcr", "fgmres", "refinement", "auto".
const char* name(Method method);

/// The log of a solve. `true_residual` is |b - D x| / |b| in double on the full lattice; `residuals` holds the recurrences' residuals of
/// every iteration, outer and inner.
struct SolveLog : krylov::SolveLog {
    double gflops = 0;  ///< useful flop (1320 per hop and site, 504 per clover term, vector updates) per second, in 10^9
};

/// Memory of a solver.
struct MemoryPerSite {
    double device = 0;  ///< on its space [bytes per site]
    double host = 0;    ///< on the host, the caller's links and two fields counted [bytes per site]
};
/// Largest memory of a solver with these options.
/// @param extents  of the lattice: needed with a Schwarz preconditioner, whose blocks divide it
/// @param columns  right-hand sides that are solved at once
MemoryPerSite memory_per_site(const DiracParameters& parameters, const SolverOptions& options, const Extents& extents = {},
                              int columns = 1);
/// Whether several right-hand sides can be solved at once with these options: nested BiCGStab without a preconditioner, and BiCGStab and
/// the automatic choice with a low inner precision. With other options they are solved one after the other.
bool solves_columns(const SolverOptions& options);
/// Returns the number of right-hand sides, up to `wanted`, that a solver on this space solves at once to be fast: on a device as many as
/// the free memory holds, at least 1; on a CPU 1, since one after the other is faster there.
int columns_at_once(const AnySpace& on, const Extents& extents, const DiracParameters& parameters, const SolverOptions& options,
                    int wanted);

/// The inner precision of `kasane lattice solve` and of the Python package where none is given: single on a CUDA device with up to 24,576
/// sites, where the latencies of an iteration take the time and half precision has more instructions; half for other lattices, whose bytes
/// take the time, and on CPUs (docs/lattice-studies.md, "Half or single inside").
Precision default_inner_precision(const AnySpace& on, const Extents& extents);

/// Whether the solutions of WilsonSolver::solve(PropagatorSource) can stay on the space. The space must be a device with memory for them in
/// addition to a solver of as many columns at once as solves_columns() allows, and links must not be stored in the temporal gauge.
bool keeps_solutions(const AnySpace& on, const Extents& extents, const DiracParameters& parameters, const SolverOptions& options);
/// Memory on the space for twelve solutions in addition to the solver, if the columns of the solver do not hold them. [bytes per site]
double kept_bytes_per_site(const SolverOptions& options);

/// Solves D x = b for one gauge field and any number of right-hand sides.
class WilsonSolver {
   public:
    /// Packs links and clover term on a space.
    /// @param on          the CPU or a CUDA device
    /// @param links       in SU(3) to 1e-5 where links are stored in 12 or 8 numbers; a copy is kept only for `inner` half
    /// @param parameters  of D
    /// @param options     method, precisions and tolerances
    /// @throws InputError: extents, kappa or options out of range, a link that is not finite, a clover term that is not positive
    /// definite, or more memory than the space has (checked before it is taken)
    WilsonSolver(AnySpace on, const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options = {});
    /// Frees all memory.
    ~WilsonSolver();
    /// Takes the other solver's memory. The source of the move may only be destroyed.
    WilsonSolver(WilsonSolver&&) noexcept;

    /// Deflates the solves that follow by modes of Dhat^+ Dhat, which are copied to the space: conjugate gradients on the even sites in the
    /// asymmetric form converge as without these eigenvalues. Every mode is checked with the solver's own operator.
    /// @throws InputError: options.method is not cg, options.schur not asymmetric, links in the temporal gauge; modes of another lattice,
    /// gauge field or operator; too little memory
    void deflate(const Eigenmodes& modes);

    /// Sizes and costs of the set-up of SolverOptions::coherent, which the constructor computes; all 0 without inexact deflation.
    CoherentReport coherent() const;

    /// Solves D x = b from the first guess in x.
    /// @param b     right-hand side
    /// @param x     first guess in (zero is a good choice), solution out; unchanged where numbers are not finite
    /// @param stop  called before every iteration; may be empty
    /// @throws LogicError where a field belongs to another lattice
    SolveLog solve(const SpinorField& b, SpinorField& x, const krylov::StopFunction& stop = {});
    /// Does the same for fields in the memory of the solver's space: of the host on Cpu, of the device on Cuda. On Cuda only numbers of the
    /// log pass through the host.
    /// @param b     [12 volume] in the order of SpinorField::values
    /// @param x     [12 volume] first guess in, solution out
    /// @throws LogicError where a view has another size, or links are stored in the temporal gauge
    SolveLog solve(View<const std::complex<double>> b, View<std::complex<double>> x, const krylov::StopFunction& stop = {});
    /// Solves D x = b for several right-hand sides ("columns"): at once if solves_columns(), otherwise one after the other. The links are
    /// read once for several columns; each x has the same bits as in a solve of its column alone. A column for which the method fails
    /// continues alone, in a higher precision or by another method; if that fails too, the other columns that failed are not continued. The
    /// first call with another number of columns allocates the memory of `b.size()` columns.
    /// @param b     right-hand sides
    /// @param x     first guesses in, solutions out; as many as b
    /// @param stop  called before every iteration of all columns, with the largest iteration and residual of them; may be empty
    /// @return one log for each column; each has an equal share of the time
    /// @throws LogicError where a field belongs to another lattice; InputError where the columns do not fit into memory
    std::vector<SolveLog> solve(const std::vector<SpinorField>& b, std::vector<SpinorField>& x, const krylov::StopFunction& stop = {});

    /// Solves D x = b for the twelve columns of a source, by the methods of the solve() above. Sources are made on the space. Solutions
    /// stay there until the next call of a solve() of several columns; they are not defined if a column does not converge.
    /// @return one log for each column; if columns are solved one after the other, the first one that fails ends the solves and has the
    /// last log
    /// @throws LogicError where the source lies outside the lattice, or links are stored in the temporal gauge; InputError where the
    /// columns do not fit into memory (see keeps_solutions())
    std::vector<SolveLog> solve(const PropagatorSource& source, const krylov::StopFunction& stop = {});
    /// Passes the solutions of the last solve(PropagatorSource), times a factor, to `take` in the order of files. On a device the next part
    /// is copied while `take` runs.
    /// @throws LogicError where the space has no solutions
    void each_part(double factor, const TakeRows& take) const;

    /// out = D in, or D^+ in where `adjoint`, in double, on the solver's space. @throws LogicError where `in` belongs to another lattice
    void apply(const SpinorField& in, SpinorField& out, bool adjoint = false);
    /// The same of fields in the memory of the solver's space, [12 volume] each; `out` may be `in`. @throws LogicError as solve()
    void apply(View<const std::complex<double>> in, View<std::complex<double>> out, bool adjoint = false);

   private:
    using Fields = std::vector<SpinorField>;
    std::vector<SolveLog> solve_one_by_one(const Fields& b, Fields& x, const krylov::StopFunction& stop);

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace kasane::lattice
