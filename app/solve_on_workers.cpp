#include <app/solve_on_workers.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <fmt/format.h>

#include <utility>

namespace kasane::app {

void add_worker_options(CLI::App& app, WorkerChoices& choices) {
    add_gpus_per_rank(app, choices.gpus_per_rank);
    app.add_option("--overlap", choices.overlap, "Layers of other workers' rows in a worker's subdomain (restricted additive Schwarz)")
        ->check(whole_number(0, 8))
        ->group(workers_group);
    app.add_option("--coarse", choices.coarse,
                   "Rows of the coarse system that joins the workers' subdomains, about; 0: none; default: 256 on CPUs, 0 on devices")
        ->check(whole_number(0, 4096))
        ->group(workers_group);
}

bool has_several_workers(const Common& common, const WorkerChoices& choices) { return common.ranks->size() * choices.gpus_per_rank > 1; }

sparse::DistributedOptions distributed_options(const WorkerChoices& choices, const std::string& precondition,
                                               const sparse::SolverOptions& shared, const CLI::App& app, bool complex) {
    std::vector<InputProblem> problems;
    const auto refuse = [&](const char* option, const std::string& message) { problems.push_back({message, {"", 0, 0, option}}); };
    for (const char* option :
         {"--ordering", "--numbering", "--format", "--iteration", "--launch", "--single-factor", "--ssor-omega", "--tune", "--tuning-file",
          "--restart", "--drop-tolerance", "--fill", "--level", "--eigenvalues", "--smoother", "--smoother-steps", "--cycle"})
        if (app.count(option) > 0) refuse(option, "is for one worker: leave it out, or start one rank");
    if (app.count("--method") > 0)
        refuse("--method", "is for one worker: on several, the method follows from the matrix and from --overlap. Leave it out");
    const bool factors = precondition == "ic0" || precondition == "ilu0";
    if (!factors && precondition != "jacobi" && precondition != "multigrid")
        refuse("--precondition", fmt::format("{} is for one worker: on several there are ic0 (ilu0), jacobi and multigrid", precondition));
    if (complex && precondition == "multigrid") refuse("--precondition", "multigrid is for real matrices: take ic0 (ilu0) or jacobi");
    if (complex && app.count("--block") > 0) refuse("--block", "has no effect on a complex matrix: leave it out");
    if (complex && app.count("--coarse") > 0) refuse("--coarse", "has no effect on a complex matrix: leave it out");
    if (precondition == "jacobi" && choices.overlap > 0)
        refuse("--overlap", "has no effect with --precondition jacobi: leave it out, or take ic0 or multigrid");
    if (!problems.empty()) throw InputError(problems);
    return {.precondition = factors ? sparse::Precondition::ic0 : sparse::parse_precondition(precondition),
            .overlap = choices.overlap,
            .coarse_rows = choices.coarse,
            .block = shared.block,
            .rtol = shared.rtol,
            .iteration_limit = shared.iteration_limit};
}

void refuse_options_of_workers(const CLI::App& app) {
    for (const char* option : {"--overlap", "--coarse"})
        KS_VALIDATE(app.count(option) == 0, "has no effect on one worker: leave it out, or start several ranks", {"", 0, 0, option});
}

namespace {

template <class User, class Matrix, class Columns>
Solved solve_by_loop(const char* loop, const Common& common, const std::string& file, const Workers& workers, const Matrix& A,
                     const sparse::DistributedOptions& options, const Columns& b, std::vector<User>& x) {
    auto& ranks = *common.ranks;
    try {
        sparse::DistributedSolverOf<User> solver(ranks.workers(loop, workers.here), workers.here, A.view(), options, file);
        auto logs = iterate(common, solver, options.rtol, b, x);
        return {solver.setup().iteration, solver.setup(), std::move(logs)};
    } catch (const sparse::PreconditionError& error) {
        throw ComputationError(fmt::format("{}: {} (--precondition jacobi)", file, error.what()));
    } catch (...) {
        ranks.end_if_others_wait();
        throw;
    }
}

}  // namespace

Solved solve_on_workers(const Common& common, const std::string& file, const Workers& workers, const sparse::CsrMatrix& A,
                        const sparse::DistributedOptions& options, const sparse::VectorColumns& b, std::vector<double>& x) {
    return solve_by_loop(solve_loop, common, file, workers, A, options, b, x);
}
Solved solve_on_workers(const Common& common, const std::string& file, const Workers& workers, const sparse::ComplexCsrMatrix& A,
                        const sparse::DistributedOptions& options, const sparse::ComplexColumns& b, std::vector<std::complex<double>>& x) {
    return solve_by_loop(complex_solve_loop, common, file, workers, A, options, b, x);
}

void run_solve_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    sparse::distributed_solver_loop(communicator, here);
}
void run_complex_solve_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    sparse::distributed_complex_solver_loop(communicator, here);
}

}  // namespace kasane::app
