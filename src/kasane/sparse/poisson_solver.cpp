#include <kasane/sparse/poisson_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/reused_memory.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/multigrid/box_multigrid.hpp>
#include <kasane/sparse/poisson/tensor_scheme.hpp>
#include <kasane/sparse/rows_solve.hpp>
#include <kasane/sparse/vectors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kasane::sparse {

struct PoissonSolver::Parts {
    virtual ~Parts() = default;
    virtual SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop) = 0;
    /// The same in the memory of the space.
    virtual SolveLog solve_there(View<const double> b, View<double> x, const StopFunction& stop) = 0;
    virtual bool on_cpu() const = 0;
    PoissonSetupFacts setup;
    PoissonSolverOptions options;
};

namespace {

/// @tparam Base  PoissonSolver::Parts
template <Space S, class Base>
class PoissonSolverOn final : public Base {
   public:
    PoissonSolverOn(S on, BoxOperator<S> A, bool singular)
        : on_(on), singular_(singular), n_(A.cells().count()), memory_(on), A_(std::move(A)), M_(on, *A_, singular_) {
        for (const auto& cells : M_.grids()) this->setup.grids.push_back({cells.n[0], cells.n[1], cells.n[2]});
        this->setup.bytes = A_->bytes() + M_.bytes();
    }
    /// Of a tensor. @param diagonal  its diagonal part, which is released   @param matrix  in the memory of the host
    PoissonSolverOn(S on, BoxOperator<S> diagonal, bool singular, const CsrMatrix& matrix)
        : PoissonSolverOn(on, std::move(diagonal), singular) {
        A_.reset();
        rows_ = square_rows_on(on, matrix);
        this->setup.bytes = rows_.bytes() + M_.bytes();
    }

    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop) override {
        const Stopwatch whole;
        require_sizes(n_, b, View<const double>(x));
        require_finite(b, "the right-hand side");
        require_finite(View<const double>(x), "the first guess");
        const typename ReusedMemory<S>::Scope scope(memory_);
        Buffer<double, S> rhs(on_, n_), solution(on_, n_);
        copy_from_host(on_, rhs.view(), b);
        copy_from_host(on_, solution.view(), View<const double>(x));
        SolveLog log = iterate(rhs, solution, stop);
        copy_to_host(on_, x, View<const double>(solution.view()));
        log.seconds = whole.seconds();
        return log;
    }

    SolveLog solve_there(View<const double> b, View<double> x, const StopFunction& stop) override {
        const Stopwatch whole;
        require_sizes(n_, b, View<const double>(x));
        const typename ReusedMemory<S>::Scope scope(memory_);
        KS_VALIDATE(look_at(on_, b).finite, "the right-hand side holds a number that is not finite.");
        KS_VALIDATE(look_at(on_, View<const double>(x)).finite, "the first guess holds a number that is not finite.");
        Buffer<double, S> rhs(on_, n_), solution(on_, n_);
        subtract(on_, b, 0, rhs.view());
        subtract(on_, View<const double>(x), 0, solution.view());
        SolveLog log = iterate(rhs, solution, stop);
        subtract(on_, View<const double>(solution.view()), 0, x);
        log.seconds = whole.seconds();
        return log;
    }

    bool on_cpu() const override { return std::same_as<S, Cpu>; }

   private:
    SolveLog iterate(Buffer<double, S>& rhs, Buffer<double, S>& solution, const StopFunction& stop) {
        SolveLog log;
        CgAlgebra<S> algebra(on_);
        if (singular_) log.mean_removed = algebra.remove_mean(rhs);
        const Stopwatch iterations;
        krylov::Options how;
        how.rtol = this->options.rtol;
        how.iteration_limit = this->options.iteration_limit;
        how.true_residual_slack = 1;
        how.stop = stop;
        static_cast<krylov::SolveLog&>(log) =
            A_ ? krylov::conjugate_gradients(algebra, *A_, M_, rhs, solution, how)
               : krylov::conjugate_gradients(algebra, RowsOperator<S>{on_, rows_.view()}, M_, rhs, solution, how);
        if (singular_) algebra.remove_mean(solution);
        synchronize(on_);
        log.iteration_seconds = iterations.seconds();
        const auto residuals = std::exchange(log.residuals, {});
        for (std::size_t k = 0; k < residuals.size(); ++k)
            log.history.push_back({static_cast<int>(k), std::numeric_limits<double>::quiet_NaN(), residuals[k]});
        return log;
    }

    S on_;
    bool singular_;
    index_t n_;               ///< cells
    ReusedMemory<S> memory_;  ///< of solves, for the next ones
    std::optional<BoxOperator<S>> A_;
    Rows<double, S> rows_;  ///< of a tensor, in place of A_
    BoxMultigrid<S> M_;
};

}  // namespace

void check_tolerance(const PoissonSolverOptions& options) {
    KS_VALIDATE(options.rtol > 0 && options.rtol < 1, fmt::format("rtol = {} must lie between 0 and 1", options.rtol));
    KS_VALIDATE(options.iteration_limit >= 1, fmt::format("iteration_limit = {} must be at least 1", options.iteration_limit));
}

bool odd_period(const PoissonProblem& problem, std::size_t direction) {
    return problem.periodic(direction) && problem.cells[direction] % 2 == 1;
}

bool geometric_multigrid_pays(const PoissonProblem& problem) {
    constexpr double largest_anisotropy = 100;  // 64^3 cells: both methods need about the same time (docs/multigrid.md)
    for (std::size_t d = 0; d < 3; ++d)
        if (odd_period(problem, d)) return false;
    // Solver does not find the null space of a matrix with positive entries beside the diagonal.
    if (!problem.has_tensor() || (problem.singular() && problem.couples_directions())) return true;
    return tensor_anisotropy(problem) <= largest_anisotropy;
}

void check_poisson_solver(const PoissonProblem& problem, const PoissonSolverOptions& options) {
    check_tolerance(options);
    for (std::size_t d = 0; d < 3; ++d)
        KS_VALIDATE(
            !odd_period(problem, d),
            fmt::format("is periodic with {} cells along {}: geometric multigrid needs an even number of them, for two colours. Take "
                        "Solver with poisson_matrix() and Precondition::multigrid",
                        problem.cells[d], "xyz"[d]),
            {"", 0, 0, face_names[2 * d]});
}

PoissonSolver::PoissonSolver(const AnySpace& on, const PoissonProblem& problem, const PoissonSolverOptions& options) {
    check_poisson_solver(problem, options);
    const Stopwatch watch;
    parts_ = std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<Parts> {
            BoxOperator<S> box(space, problem);
            if (!problem.couples_directions())
                return std::make_unique<PoissonSolverOn<S, Parts>>(space, std::move(box), problem.singular());
            const index_t entries = poisson_nonzeros(problem);
            KS_VALIDATE(entries < index_t{1} << 32,
                        fmt::format("gives a matrix of {} entries: at most 2^32 - 1 are possible. Take fewer cells", entries),
                        {"", 0, 0, "tensor"});
            return std::make_unique<PoissonSolverOn<S, Parts>>(space, std::move(box), problem.singular(), tensor_matrix(problem));
        },
        on);
    parts_->setup.seconds = watch.seconds();
    parts_->options = options;
}

PoissonSolver::PoissonSolver(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

PoissonSolver PoissonSolver::of_matrix(const AnySpace& on, const CsrView& A, const std::array<index_t, 3>& cells,
                                       const PoissonSolverOptions& options) {
    check_tolerance(options);
    const Stopwatch watch;
    BoxCells box;
    index_t rows = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        KS_VALIDATE(
            cells[d] >= 1 && cells[d] <= most_rows / rows,
            fmt::format("cells = {}, {}, {} must be at least 1 and multiply to at most {}", cells[0], cells[1], cells[2], most_rows));
        rows *= cells[d];
        box.n[d] = static_cast<int>(cells[d]);
    }
    auto parts = std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<Parts> {
            auto faces = faces_of_matrix(space, A, box);
            const bool singular = faces.singular;
            KS_VALIDATE(faces.largest > 0, "the matrix has no positive conductance.");
            return std::make_unique<PoissonSolverOn<S, Parts>>(space, BoxOperator<S>(space, std::move(faces)), singular);
        },
        on);
    parts->setup.seconds = watch.seconds();
    parts->options = options;
    return PoissonSolver(std::move(parts));
}

PoissonSolver::~PoissonSolver() = default;
PoissonSolver::PoissonSolver(PoissonSolver&&) noexcept = default;
PoissonSolver& PoissonSolver::operator=(PoissonSolver&&) noexcept = default;

SolveLog PoissonSolver::solve(View<const double> b, View<double> x, const StopFunction& stop) { return parts_->solve(b, x, stop); }
#if defined(KASANE_CUDA)
SolveLog PoissonSolver::solve_on_device(View<const double> b, View<double> x, const StopFunction& stop) {
    KS_REQUIRE(!parts_->on_cpu(), "the solver is on the CPU: give it host memory, or make it for a CUDA device.");
    return parts_->solve_there(b, x, stop);
}
#endif
const PoissonSetupFacts& PoissonSolver::setup() const { return parts_->setup; }

void PoissonSolver::set_tolerance(double rtol, int iteration_limit) {
    check_tolerance({rtol, iteration_limit});
    parts_->options = {rtol, iteration_limit};
}

namespace {
/// Of the matrix on the space.
std::uint64_t matrix_bytes(const PoissonProblem& problem) {
    return 4 * static_cast<std::uint64_t>(problem.rows() + 1) + 12 * static_cast<std::uint64_t>(poisson_nonzeros(problem));
}
}  // namespace

MultigridBytes multigrid_bytes(const PoissonProblem& problem, bool on_device) {
    // A cell of a grid, in floats; r, shares and the inverse of the diagonal are of every second cell. Both half sweeps from 0: 3 faces,
    // inverse, b, x; residual 3 + b + x + r; restriction r + 3 shares; prolongation 3 shares + 2 x; two half sweeps of 3, b, 2 x each (a
    // half sweep touches all lines). Grids together 8/7.
    const double grid = 4 * (5.5 + 5.5 + 2 + 3.5 + 2 * 6);
    // Conjugate gradients in doubles: product 3 faces, in, out. Device: r.z of a float and r; direction of a float and 2 p; step p, q, 2 x,
    // 2 r and a float. CPU: norm 1, narrowing and widening a double and a float each, r.z 2, direction 3, p.q 2, step 6.
    const double vectors = on_device ? 8 * (5 + 1 + 2 + 6) + 4 * 3 : 8 * (5 + 1 + 2 + 2 + 3 + 2 + 6) + 4 * 2;
    const auto cells = static_cast<double>(problem.rows());
    const double matrix = problem.couples_directions() ? static_cast<double>(matrix_bytes(problem)) - 8 * 3 * cells : 0;  // for the faces
    return {cells * (vectors + grid) + matrix, cells * grid / 7};
}

std::uint64_t poisson_solver_memory(const PoissonProblem& problem) {
    // A cell: conductances in double 24, right-hand side, solution and four vectors of the iteration 48, the host's copy of the
    // conductances 8. The matrix of a tensor replaces the conductances in double.
    const bool periodic = problem.periodic(0) || problem.periodic(1) || problem.periodic(2);
    const std::uint64_t matrix = problem.couples_directions() ? matrix_bytes(problem) : 0;
    return static_cast<std::uint64_t>(problem.rows()) * (24 + 48 + 8) + grids_memory(problem.rows(), periodic) + matrix +
           (std::uint64_t{8} << 20);
}

}  // namespace kasane::sparse
