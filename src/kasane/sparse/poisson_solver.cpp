#include <kasane/sparse/poisson_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/multigrid/box_multigrid.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::sparse {

struct PoissonSolver::Parts {
    virtual ~Parts() = default;
    virtual SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop) = 0;
    PoissonSetupFacts setup;
    PoissonSolverOptions options;
};

namespace {

/// @tparam Base  PoissonSolver::Parts
template <Space S, class Base>
class PoissonSolverOn final : public Base {
   public:
    PoissonSolverOn(S on, const PoissonProblem& problem)
        : on_(on), singular_(problem.singular()), A_(on, problem), M_(on, A_, singular_), algebra_(on) {
        for (const auto& cells : M_.grids()) this->setup.grids.push_back({cells.n[0], cells.n[1], cells.n[2]});
        this->setup.bytes = A_.bytes() + M_.bytes();
    }

    SolveLog solve(View<const double> b, View<double> x, const StopFunction& stop) override {
        const Stopwatch whole;
        const index_t n = A_.cells().count();
        require_sizes(n, b, View<const double>(x));
        require_finite(b, "the right-hand side");
        require_finite(View<const double>(x), "the first guess");
        Buffer<double, S> rhs(on_, n), solution(on_, n);
        copy_from_host(on_, rhs.view(), b);
        copy_from_host(on_, solution.view(), View<const double>(x));
        SolveLog log;
        if (singular_) log.mean_removed = algebra_.remove_mean(rhs);
        const Stopwatch iterations;
        krylov::Options how;
        how.rtol = this->options.rtol;
        how.iteration_limit = this->options.iteration_limit;
        how.true_residual_slack = 1;
        how.stop = stop;
        static_cast<krylov::SolveLog&>(log) = krylov::conjugate_gradients(algebra_, A_, M_, rhs, solution, how);
        if (singular_) algebra_.remove_mean(solution);
        synchronize(on_);
        log.iteration_seconds = iterations.seconds();
        copy_to_host(on_, x, View<const double>(solution.view()));
        const auto residuals = std::exchange(log.residuals, {});
        for (std::size_t k = 0; k < residuals.size(); ++k)
            log.history.push_back({static_cast<int>(k), residuals[k] / residuals.front(), residuals[k]});
        log.seconds = whole.seconds();
        return log;
    }

   private:
    S on_;
    bool singular_;
    BoxOperator<S> A_;
    BoxMultigrid<S> M_;
    VectorAlgebra<S> algebra_;
};

}  // namespace

void check_tolerance(const PoissonSolverOptions& options) {
    KS_VALIDATE(options.rtol > 0 && options.rtol < 1, fmt::format("rtol = {} must lie between 0 and 1", options.rtol));
    KS_VALIDATE(options.iteration_limit >= 1, fmt::format("iteration_limit = {} must be at least 1", options.iteration_limit));
}

void check_poisson_solver(const PoissonProblem& problem, const PoissonSolverOptions& options) {
    check_tolerance(options);
    KS_VALIDATE(!problem.has_tensor(), "is a tensor: geometric multigrid has scalar coefficients. Take Solver with poisson_matrix()",
                {"", 0, 0, "tensor"});
    for (std::size_t d = 0; d < 3; ++d)
        KS_VALIDATE(!problem.periodic(d), "is periodic: geometric multigrid has no periodic grids. Take Solver with poisson_matrix()",
                    {"", 0, 0, face_names[2 * d]});
}

PoissonSolver::PoissonSolver(const AnySpace& on, const PoissonProblem& problem, const PoissonSolverOptions& options) {
    check_poisson_solver(problem, options);
    const Stopwatch watch;
    parts_ = std::visit(
        [&]<Space S>(S space) -> std::unique_ptr<Parts> { return std::make_unique<PoissonSolverOn<S, Parts>>(space, problem); }, on);
    parts_->setup.seconds = watch.seconds();
    parts_->options = options;
}

PoissonSolver::~PoissonSolver() = default;
PoissonSolver::PoissonSolver(PoissonSolver&&) noexcept = default;
PoissonSolver& PoissonSolver::operator=(PoissonSolver&&) noexcept = default;

SolveLog PoissonSolver::solve(View<const double> b, View<double> x, const StopFunction& stop) { return parts_->solve(b, x, stop); }
const PoissonSetupFacts& PoissonSolver::setup() const { return parts_->setup; }

void PoissonSolver::set_tolerance(double rtol, int iteration_limit) {
    check_tolerance({rtol, iteration_limit});
    parts_->options = {rtol, iteration_limit};
}

double multigrid_bytes(const PoissonProblem& problem) {
    // A cell of a grid, in floats: first half sweep 3 faces, b, x; three more of 3, b, 2 x each (a half sweep touches all lines); residual
    // 3 + b + x + r; restriction r + 3 shares; prolongation 3 shares + 2 x. Grids together 8/7. In doubles: product 3 faces, in, out;
    // norm of r, narrowing and widening 3 and 3 floats; r.z 2, direction 3, p.q 2, step 6.
    const double grids = 8. / 7 * 4 * (5 + 3 * 6 + 6 + 4 + 5), vectors = 8 * (5 + 1 + 1 + 1 + 2 + 3 + 2 + 6) + 4 * 3;
    return static_cast<double>(problem.rows()) * (grids + vectors);
}

std::uint64_t poisson_solver_memory(const PoissonProblem& problem) {
    // A cell: conductances in double 24; of the grids 36 (faces, shares, three vectors) and 8/7 of that where all directions are joined, up
    // to twice where one is; right-hand side, solution and four vectors of the iteration 48; the host's copy of the conductances 8.
    return static_cast<std::uint64_t>(problem.rows()) * (24 + 72 + 48 + 8) + (std::uint64_t{8} << 20);
}

}  // namespace kasane::sparse
