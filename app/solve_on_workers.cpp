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

namespace {

using Problems = std::vector<InputProblem>;

void refuse_options_of_one_worker(const CLI::App& app, Problems& problems,
                                  const char* message = "is for one worker: leave it out, or start one rank") {
    for (const char* option :
         {"--ordering", "--numbering", "--format", "--iteration", "--launch", "--single-factor", "--ssor-omega", "--tune", "--tuning-file",
          "--drop-tolerance", "--fill", "--level", "--smoother", "--smoother-steps", "--cycle"})
        if (app.count(option) > 0) problems.push_back({message, {"", 0, 0, option}});
}

}  // namespace

sparse::DistributedOptions distributed_options(const WorkerChoices& choices, const GeneralChoices& general, std::string precondition,
                                               const sparse::SolverOptions& shared, const CLI::App& app, bool complex) {
    Problems problems;
    const auto refuse = [&](const char* option, const std::string& message) { problems.push_back({message, {"", 0, 0, option}}); };
    refuse_options_of_one_worker(app, problems);
    if (complex && app.count("--eigenvalues") > 0) refuse("--eigenvalues", "has no effect on a complex matrix: leave it out");
    auto method = sparse::GeneralMethod::automatic;
    try {
        method = sparse::parse_general_method(general.method);
    } catch (const InputError& error) {
        refuse("--method", error.problems().front().message);
    }
    const bool minres = method == sparse::GeneralMethod::minres;
    if (app.count("--restart") > 0 && method != sparse::GeneralMethod::gmres)
        refuse("--restart", "has no effect with --method " + general.method + ": leave it out, or take gmres");
    if (minres && app.count("--precondition") == 0) precondition = "jacobi";
    const bool factors = precondition == "ic0" || precondition == "ilu0";
    if (!factors && precondition != "jacobi" && precondition != "multigrid")
        refuse("--precondition", fmt::format("{} is for one worker: on several there are ic0 (ilu0), jacobi and multigrid", precondition));
    else if (minres && precondition != "jacobi")
        refuse("--precondition",
               fmt::format("minres needs a symmetric positive definite preconditioner, which {0} is not for every symmetric matrix. Take "
                           "jacobi, or gmres with {0}",
                           precondition));
    if (minres && app.count("--coarse") > 0) refuse("--coarse", "has no effect with --method minres: leave it out");
    if (complex && app.count("--block") > 0) refuse("--block", "has no effect on a complex matrix: leave it out");
    if (choices.overlap > 0 && (minres || method == sparse::GeneralMethod::cg))
        refuse("--overlap",
               fmt::format(
                   "makes a preconditioner that is not symmetric, and {} needs a symmetric one: leave it out, or take bicgstab or gmres",
                   general.method));
    else if (precondition == "jacobi" && choices.overlap > 0)
        refuse("--overlap", "has no effect with --precondition jacobi: leave it out, or take ic0 or multigrid");
    if (!problems.empty()) throw InputError(problems);
    return {.precondition = factors ? sparse::Precondition::ic0 : sparse::parse_precondition(precondition),
            .overlap = choices.overlap,
            .coarse_rows = choices.coarse,
            .block = shared.block,
            .method = method,
            .restart = general.restart,
            .rtol = shared.rtol,
            .iteration_limit = shared.iteration_limit};
}

sparse::DistributedOptions distributed_options(const WorkerChoices& choices, const sparse::EigenOptions& how, int block,
                                               const CLI::App& app) {
    Problems problems;
    refuse_options_of_one_worker(app, problems);
    if (app.count("--overlap") > 0)
        problems.push_back(
            {"makes a preconditioner that is not symmetric, and eigenvalues need a symmetric one: leave it out", {"", 0, 0, "--overlap"}});
    if (!problems.empty()) throw InputError(problems);
    return {.precondition = how.precondition,
            .coarse_rows = choices.coarse,
            .block = block,
            .method = sparse::GeneralMethod::cg,
            .rtol = how.rtol,
            .iteration_limit = how.iteration_limit};
}

sparse::DistributedOptions complex_multigrid_options(const GeneralChoices& general, const sparse::SolverOptions& shared,
                                                     const CLI::App& app) {
    Problems problems;
    refuse_options_of_one_worker(app, problems, "has no effect on multigrid of a complex matrix: leave it out");
    if (!problems.empty()) throw InputError(problems);
    return distributed_options({}, general, "multigrid", shared, app, true);
}

void refuse_options_of_workers(const CLI::App& app) {
    for (const char* option : {"--overlap", "--coarse"})
        KS_VALIDATE(app.count(option) == 0, "has no effect on one worker: leave it out, or start several ranks", {"", 0, 0, option});
}

namespace {

/// body(solver), with the other ranks in a worker loop.
template <class User, class Matrix, class Body>
auto with_solver(const char* loop, const Common& common, const std::string& file, const Workers& workers, const Matrix& A,
                 const sparse::DistributedOptions& options, const Body& body) {
    auto& ranks = *common.ranks;
    try {
        sparse::DistributedSolverOf<User> solver(ranks.workers(loop, workers.here), workers.here, A.view(), options, file);
        return body(solver);
    } catch (const sparse::PreconditionError& error) {
        throw ComputationError(fmt::format("{}: {} (--precondition jacobi)", file, error.what()));
    } catch (const InputError& error) {
        ranks.end_if_others_wait();
        auto problems = error.problems();
        for (auto& problem : problems)
            if (problem.where.key == "block") problem.where.key = "--block";
        throw InputError(problems);
    } catch (...) {
        ranks.end_if_others_wait();
        throw;
    }
}

template <class User, class Matrix, class Columns>
Solved solve_by_loop(const char* loop, const Common& common, const std::string& file, const Workers& workers, const Matrix& A,
                     const sparse::DistributedOptions& options, const Columns& b, std::vector<User>& x) {
    return with_solver<User>(loop, common, file, workers, A, options, [&](sparse::DistributedSolverOf<User>& solver) -> Solved {
        auto logs = iterate(common, solver, options.rtol, b, x);
        return {solver.setup().iteration, solver.setup(), std::move(logs)};
    });
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
sparse::Eigenpairs eigenpairs_on_workers(const Common& common, const std::string& file, const Workers& workers, const sparse::CsrMatrix& A,
                                         const sparse::DistributedOptions& options, int count, const sparse::StopFunction& stop) {
    return with_solver<double>(solve_loop, common, file, workers, A, options,
                               [&](sparse::DistributedSolver& solver) { return solver.eigenpairs(count, stop); });
}

void run_solve_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    sparse::distributed_solver_loop(communicator, here);
}
void run_complex_solve_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    sparse::distributed_complex_solver_loop(communicator, here);
}

}  // namespace kasane::app
