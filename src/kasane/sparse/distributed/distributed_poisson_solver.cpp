#include <kasane/sparse/distributed/distributed_poisson_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/distributed/solve_led.hpp>
#include <kasane/sparse/multigrid/box_multigrid.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace kasane::sparse {

struct DistributedPoissonSolver::Parts {
    PoissonSolverOptions options;
    PoissonSetupFacts facts;
    bool singular = false;
    std::vector<index_t> begin;  ///< first cell of each worker, and their number
    std::optional<PartSolvers<BoxPart>> solvers = {};
};

DistributedPoissonSolver::DistributedPoissonSolver(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here,
                                                   const PoissonProblem& problem, const PoissonSolverOptions& options)
    : parts_(new Parts{options, {}, false, {}}) {
    const Stopwatch watch;
    const auto prepare = [&]() -> PartSolvers<BoxPart>::Prepared {
        check_poisson_solver(problem, options);
        validate(problem);
        const auto slabs = slabs_of(problem.cells[2], workers.size());
        for (const auto first : slabs) parts_->begin.push_back(problem.cells[0] * problem.cells[1] * first);
        return {{.kind = here.front().index()}, divide_box(problem, slabs)};
    };
    parts_->singular = problem.singular();
    parts_->solvers.emplace(workers, here, prepare);
    parts_->facts = {parts_->solvers->first().grids(), parts_->solvers->bytes(), watch.seconds()};
}

DistributedPoissonSolver::~DistributedPoissonSolver() = default;

SolveLog DistributedPoissonSolver::solve(View<const double> b, View<double> x, const StopFunction& stop) {
    auto& [options, facts, singular, begin, solvers] = *parts_;
    require_sizes(begin.back(), b, View<const double>(x));
    std::vector<double> right(b.begin(), b.end()), solution(x.begin(), x.end());
    auto log = solve_led(*solvers, right, solution, begin, singular, false, {options.rtol, options.iteration_limit}, stop);
    std::ranges::copy(solution, x.begin());
    return log;
}

const PoissonSetupFacts& DistributedPoissonSolver::setup() const { return parts_->facts; }

void DistributedPoissonSolver::set_tolerance(double rtol, int iteration_limit) {
    check_tolerance({rtol, iteration_limit});
    parts_->options = {rtol, iteration_limit};
}

std::uint64_t distributed_poisson_memory(const PoissonProblem& problem, int workers) {
    const auto begin = slabs_of(problem.cells[2], workers);
    std::int32_t planes = 0;  // of the largest slab, with those of its neighbours
    for (std::size_t w = 0; w + 1 < begin.size(); ++w) planes = std::max(planes, begin[w + 1] - begin[w] + 2);
    const bool periodic = problem.periodic(0) || problem.periodic(1) || problem.periodic(2);
    return poisson_solver_memory(problem) / static_cast<std::uint64_t>(problem.cells[2]) * static_cast<std::uint64_t>(planes) +
           grids_memory(most_whole_cells(problem.rows(), begin), periodic);
}

void distributed_poisson_loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    PartSolvers<BoxPart>::loop(workers, here);
}

}  // namespace kasane::sparse
