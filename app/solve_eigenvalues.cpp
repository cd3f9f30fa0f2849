#include <app/solve_eigenvalues.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/sparse/eigenpairs.hpp>
#include <kasane/sparse/file/matrix_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace kasane::app {
namespace {

/// Options that are given and have no effect on eigenvalues.
void refuse_options_of_solves(const CLI::App& app) {
    std::vector<InputProblem> problems;
    for (const char* option : {"--rhs", "--output", "--ordering", "--numbering", "--format", "--iteration", "--launch", "--method",
                               "--restart", "--single-factor", "--tune", "--smoother", "--smoother-steps", "--cycle"})
        if (app.count(option) > 0) problems.push_back({"has no effect with --eigenvalues: leave it out", {"", 0, 0, option}});
    if (!problems.empty()) throw InputError(problems);
}

}  // namespace

int solve_eigenvalues(const Common& common, const CLI::App& app, const std::string& matrix, int count, const sparse::SolverOptions& options,
                      const WorkerChoices& choices) {
    refuse_options_of_solves(app);
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
    {
        Progress bar(common.progress(), "eigenvalues", 1);
        const auto stop = [&](int iteration, double residual) {
            bar.update(converged_share(residual, how.rtol), fmt::format("iteration {}, residual {:.1e}", iteration, residual));
            return interrupt_requested();
        };
        found = several ? eigenpairs_on_workers(common, matrix, workers, file.matrix, distributed, count, stop)
                        : sparse::eigenpairs(workers.here.front(), file.matrix.view(), how, stop);
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
    auto text = fmt::format(
        "{} rows, {} entries on {}\n{} after {} iterations of LOBPCG with {}: set-up {:.3g} s, iterations {:.3g} s\n{:>24} {:>20}",
        file.matrix.rows(), file.matrix.nonzeros(), found.device, krylov::name(found.end), found.iterations, sparse::name(how.precondition),
        found.setup_seconds, found.seconds, "eigenvalue", "||A x - value x||");
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
