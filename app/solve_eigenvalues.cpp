#include <app/solve_eigenvalues.hpp>
#include <kasane/core/base/counted.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/file/matrix_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kasane::app {

void check_options_of_eigenvalues(const CLI::App& app, const std::string& precondition, bool several) {
    std::vector<InputProblem> problems;
    for (const char* option :
         {"--rhs", "--output", "--ordering", "--numbering", "--format", "--iteration", "--launch", "--method", "--restart",
          "--single-factor", "--tune", "--no-tune", "--tuning-file", "--smoother", "--smoother-steps", "--cycle", "--block"})
        if (app.count(option) > 0 && !(several && std::string(option) == "--block"))  // several workers divide whole blocks
            problems.push_back({"has no effect with --eigenvalues: leave it out", {"", 0, 0, option}});
    const bool taken = precondition == "multigrid" || precondition == "jacobi" || (precondition == "none" && !several);
    if (app.count("--precondition") > 0 && !taken)
        problems.push_back({several ? "eigenvalues take the preconditioners multigrid and jacobi on several workers, not " + precondition
                                    : "eigenvalues take the preconditioners multigrid, jacobi and none, not " + precondition,
                            {"", 0, 0, "--precondition"}});
    if (!problems.empty()) throw InputError(problems);
}

int solve_eigenvalues(const Common& common, const CLI::App& app, const std::string& matrix, int count, const sparse::SolverOptions& options,
                      const WorkerChoices& choices) {
    sparse::EigenOptions how;
    how.count = count;
    if (app.count("--rtol") > 0) how.rtol = options.rtol;
    if (app.count("--max-iterations") > 0) how.iteration_limit = options.iteration_limit;
    if (app.count("--precondition") > 0) how.precondition = options.precondition;
    const bool several = has_several_workers(common, choices);
    sparse::DistributedOptions distributed;
    if (several) distributed = distributed_options(choices, how, options.block, app);
    const auto workers = place_workers(common, choices.gpus_per_rank);
    catch_interrupts();
    const auto file = sparse::read_matrix(matrix);
    log::info("{}: {} rows with {} entries", matrix, file.matrix.rows(), file.matrix.nonzeros());
    sparse::Eigenpairs found;
    try {
        Progress bar(common.progress(), "eigenvalues", 1);
        const auto stop = [&](int iteration, double residual) {
            bar.update(converged_share(residual, how.rtol), fmt::format("iteration {}, residual {:.1e}", iteration, residual));
            return interrupt_requested();
        };
        found = several ? eigenpairs_on_workers(common, matrix, workers, file.matrix, distributed, count, stop)
                        : sparse::eigenpairs(workers.here.front(), file.matrix.view(), how, stop);
    } catch (const InputError& error) {
        auto problems = error.problems();
        for (auto& problem : problems) {
            if (problem.where.file == "the matrix") problem.where.file = matrix;
            if (problem.where.key == "count") problem.where.key = "--eigenvalues";
            constexpr std::string_view solves = "conjugate gradients need";
            if (const auto at = problem.message.find(solves); at != std::string::npos)
                problem.message.replace(at, solves.size(), "eigenvalues need");
        }
        throw InputError(problems);
    }
    if (found.end == krylov::Outcome::stopped) throw Interrupted();
    const io::Json object = {{"matrix", matrix},
                             {"n", file.matrix.rows()},
                             {"nonzeros", file.matrix.nonzeros()},
                             {"device", found.device},
                             {"precondition", sparse::name(how.precondition)},
                             {"converged", found.converged()},
                             {"end", krylov::name(found.end)},
                             {"iterations", found.iterations},
                             {"eigenvalues", found.values},
                             {"residuals", found.residuals},
                             {"setup_seconds", found.setup_seconds},
                             {"solve_seconds", found.seconds}};
    auto text = fmt::format("{} rows, {} entries on {}\n{} after {} of LOBPCG with {}: set-up {:.3g} s, iterations {:.3g} s\n{:>24} {:>20}",
                            file.matrix.rows(), file.matrix.nonzeros(), found.device, krylov::name(found.end),
                            counted(found.iterations, "iteration"), sparse::name(how.precondition), found.setup_seconds, found.seconds,
                            "eigenvalue", "||A x - value x||");
    for (std::size_t j = 0; j < found.values.size(); ++j)
        text += fmt::format("\n{:>24.15g} {:>20.2e}", found.values[j], found.residuals[j]);
    print(common, object, text);
    if (found.converged()) return success;
    log::error(
        "{}: the eigenvalues did not converge: {}. Allow more iterations (--max-iterations), a larger --rtol, or --precondition multigrid",
        matrix, krylov::name(found.end));
    return computation_failed;
}

}  // namespace kasane::app
