// Solves the finite-volume Poisson problem on a box by conjugate gradients with geometric multigrid. The number of iterations hardly
// depends on the number of cells. No matrix is stored, except that of a tensor that couples directions; the multigrid is then that of its
// diagonal part. Invariants: the result is that of Solver up to the tolerance; it does not depend on threads or device beyond rounding; a
// solve that does not converge returns its log and never throws for a numerical reason.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/sparse/options/solve_log.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace kasane::sparse {

/// Options of a PoissonSolver.
struct PoissonSolverOptions {
    double rtol = 1e-8;          ///< tolerance of ||b - A x|| / ||b||
    int iteration_limit = 1000;  ///< of conjugate gradients
};

/// Results and costs of the set-up.
struct PoissonSetupFacts {
    std::vector<std::array<int, 3>> grids;  ///< cells of each grid, the finest first
    std::uint64_t bytes = 0;                ///< of the arrays that the solver holds, without the vectors of a solve
    double seconds = 0;                     ///< of the set-up
};

/// Solves A x = b of one problem (eq. 3 of [HOHNI17]) for any number of right-hand sides.
class PoissonSolver {
   public:
    /// @param on       the CPU or a CUDA device
    /// @param problem  not kept; its source is not used
    /// @throws InputError as validate(), for odd_period(), options out of range, and a tensor's matrix of 2^32 entries or more
    PoissonSolver(const AnySpace& on, const PoissonProblem& problem, const PoissonSolverOptions& options = {});
    /// Makes the solver for the matrix of such a problem, as poisson_matrix() builds it. The amount by which a diagonal entry exceeds the
    /// other entries of its row is the conductance of faces that hold the potential; an amount below 1e-12 of the entry counts as 0.
    /// @param on     the CPU or a CUDA device   @param A  in the memory of `on`; not kept; columns need not ascend
    /// @param cells  along x, y, z: row i + cells[0] (j + cells[1] k) is cell (i, j, k)
    /// @throws InputError with the row where A is no such matrix, for cells that do not multiply to its rows, and for options out of range
    static PoissonSolver of_matrix(const AnySpace& on, const CsrView& A, const std::array<index_t, 3>& cells,
                                   const PoissonSolverOptions& options = {});
    /// Frees all memory.
    ~PoissonSolver();
    /// Takes the other solver's arrays; it may then only be destroyed or assigned to.
    PoissonSolver(PoissonSolver&&) noexcept;
    /// Takes the other solver's arrays; it may then only be destroyed or assigned to.
    PoissonSolver& operator=(PoissonSolver&&) noexcept;

    /// Solves A x = b from the first guess in x. Where no face holds the potential, the mean of b is subtracted, and x has no mean.
    /// @param b     [cells] host memory   @param x  [cells] host memory: first guess in, solution out
    /// @param stop  called before every iteration; may be empty
    /// @throws LogicError: another size than the problem's; InputError: NaN or infinity in b or x
    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop = {});

#if defined(KASANE_CUDA)
    /// As solve(), with b and x [cells] in the memory of the device. @throws LogicError where the solver is on the CPU, or for another
    /// size; InputError: NaN or infinity in b or x
    SolveLog solve_on_device(View<const double> b, View<double> x, const StopFunction& stop = {});
#endif

    /// Results and costs of the set-up.
    const PoissonSetupFacts& setup() const;
    /// Changes options that need no new set-up. @throws InputError: out of range
    void set_tolerance(double rtol, int iteration_limit);

   private:
    struct Parts;
    explicit PoissonSolver(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

/// Checks the tolerance and the limit of iterations. @throws InputError: out of range
void check_tolerance(const PoissonSolverOptions& options);
/// Whether a direction is periodic with an odd number of cells. Geometric multigrid does not support that, because neighbours must have two
/// different colours.
bool odd_period(const PoissonProblem& problem, std::size_t direction);
/// Whether PoissonSolver is expected to be faster than Solver with Precondition::multigrid, for a set-up and a solve on a CPU: there is no
/// odd_period(), and no tensor of eigenvalues that are too far apart, relative to the mean diagonal (docs/multigrid.md). Also true for a
/// singular() problem with couplings, whose null space Solver does not find. The problem must be valid.
bool geometric_multigrid_pays(const PoissonProblem& problem);
/// Checks the options for a problem. @throws InputError for options out of range and odd_period()
void check_poisson_solver(const PoissonProblem& problem, const PoissonSolverOptions& options);
/// Bytes that an iteration must move at least, if every array is read or written once in each pass that uses it.
struct MultigridBytes {
    double finest = 0;                              ///< conjugate gradients, and the cycle on the finest grid
    double coarse = 0;                              ///< the cycle on the other grids
    double all() const { return finest + coarse; }  ///< their sum
};
/// Bytes of an iteration of a PoissonSolver. @param on_device  on a CUDA device, where passes are joined
MultigridBytes multigrid_bytes(const PoissonProblem& problem, bool on_device);
/// Largest number of bytes that a PoissonSolver, its set-up and a solve allocate on the space.
std::uint64_t poisson_solver_memory(const PoissonProblem& problem);

}  // namespace kasane::sparse
