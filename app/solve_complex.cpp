#include <app/solve_complex.hpp>
#include <kasane/core/base/error.hpp>

#include <fmt/format.h>

namespace kasane::app {

sparse::GeneralOptions complex_options(const GeneralChoices& choices, const std::string& precondition, const sparse::SolverOptions& shared,
                                       const CLI::App& app) {
    std::vector<InputProblem> problems;
    const auto refuse = [&](const char* option, const std::string& message) { problems.push_back({message, {"", 0, 0, option}}); };
    for (const char* option : {"--numbering", "--format", "--iteration", "--launch", "--level", "--single-factor", "--ssor-omega", "--tune",
                               "--drop-tolerance", "--fill", "--eigenvalues", "--block"})
        if (app.count(option) > 0) refuse(option, "has no effect on a complex matrix: leave it out");
    sparse::GeneralOptions options;
    try {
        options.method = sparse::parse_general_method(choices.method);
    } catch (const InputError& error) {
        refuse("--method", error.problems().front().message);
    }
    if (app.count("--precondition") > 0) {
        if (precondition != "auto" && precondition != "none" && precondition != "jacobi" && precondition != "ilu0")
            refuse(
                "--precondition",
                fmt::format("\"{}\" is not for complex matrices: there are auto, none, jacobi and ilu0, which is the incomplete Cholesky "
                            "factorisation of a Hermitian matrix, and multigrid for Hermitian matrices",
                            precondition));
        else
            options.precondition = sparse::parse_general_precondition(precondition);
    }
    if (app.count("--restart") > 0 && choices.method != "gmres" && choices.method != "auto")
        refuse("--restart", "has no effect with --method " + choices.method + ": leave it out, or take gmres");
    if (!problems.empty()) throw InputError(problems);
    options.ordering = shared.ordering;
    options.restart = choices.restart;
    options.rtol = shared.rtol;
    options.iteration_limit = shared.iteration_limit;
    return options;
}

Solved solve_complex(const Common& common, const std::string& file, const AnySpace& space, const sparse::ComplexCsrMatrix& A,
                     const sparse::GeneralOptions& options, const sparse::ComplexColumns& b, std::vector<std::complex<double>>& x) {
    try {
        sparse::ComplexSolver solver(space, A.view(), options);
        stop_if_interrupted();
        auto logs = iterate(common, solver, options.rtol, b, x);
        return {solver.setup().iteration, solver.setup(), std::move(logs)};
    } catch (const sparse::PreconditionError& error) {
        throw ComputationError(fmt::format("{}: {} (--precondition jacobi)", file, error.what()));
    } catch (const InputError& error) {
        auto problems = error.problems();
        for (auto& problem : problems)
            if (problem.where.file.empty() || problem.where.file == "the matrix") problem.where.file = file;
        throw InputError(problems);
    }
}

}  // namespace kasane::app
