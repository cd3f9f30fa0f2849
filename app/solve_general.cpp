#include <app/solve_general.hpp>
#include <kasane/core/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kasane::app {
namespace {

constexpr std::array<const char*, 9> only_of_cg{"--numbering",     "--format",     "--iteration", "--launch", "--level",
                                                "--single-factor", "--ssor-omega", "--tune",      "--block"};

bool given(const CLI::App& app, const char* option) { return app.count(option) > 0; }

}  // namespace

bool is_general_alone(const std::string& precondition) {
    return precondition == "ilu0" || precondition == "ilut" || precondition == "spai";
}

void add_general_options(CLI::App& app, GeneralChoices& choices) {
    app.add_option("--method", choices.method,
                   "auto (by symmetry and sign of the matrix), cg, bicgstab, gmres or minres (symmetric, indefinite too)");
    app.add_option("--restart", choices.restart, "Iterations of a cycle of gmres")->check(whole_number(1, 1000));
    app.add_option("--drop-tolerance", choices.drop_tolerance,
                   "ilut and ict drop entries below this part of the size of their row (0 to below 1)");
    app.add_option("--fill", choices.fill, "Entries that a row of each triangle of ilut or ict may have beyond those of A")
        ->check(whole_number(0, 1'000'000));
}

std::optional<sparse::GeneralOptions> general_options(const GeneralChoices& choices, const std::string& precondition,
                                                      const sparse::SolverOptions& shared, const CLI::App& app) {
    const bool automatic = choices.method == "auto", cg = choices.method == "cg";
    const bool general_name =
        precondition == "auto" || precondition == "none" || precondition == "jacobi" || is_general_alone(precondition);
    const bool of_cg = std::ranges::any_of(only_of_cg, [&](const char* option) { return given(app, option); }) ||
                       (given(app, "--precondition") && !general_name);
    std::vector<InputProblem> problems;
    const auto refuse = [&](const char* option, const std::string& message) { problems.push_back({message, {"", 0, 0, option}}); };
    if (cg && is_general_alone(precondition))
        refuse("--precondition",
               precondition + " is for bicgstab and gmres: take " + (precondition == "ilut" ? "ict" : "ic0") + " with cg");
    for (const char* option : {"--drop-tolerance", "--fill"})
        if (given(app, option) && precondition != "ilut" && precondition != "ict")
            refuse(option, "has no effect with --precondition " + precondition + ": leave it out, or take ilut or ict");
    if (!(choices.drop_tolerance >= 0 && choices.drop_tolerance < 1))
        refuse("--drop-tolerance", fmt::format("is {}: entries below this part of their row are dropped, so it lies from 0 to below 1. "
                                               "Try 1e-3",
                                               choices.drop_tolerance));
    if (given(app, "--restart") && !automatic && choices.method != "gmres")
        refuse("--restart", "has no effect with --method " + choices.method + ": leave it out, or take gmres");
    sparse::GeneralOptions options;
    if (!cg) {
        try {
            options.method = sparse::parse_general_method(choices.method);
        } catch (const InputError& error) {
            refuse("--method", error.problems().front().message);
        }
        if (!automatic && problems.empty()) {
            for (const char* option : only_of_cg)
                if (given(app, option)) refuse(option, "has no effect with --method " + choices.method + ": leave it out, or take cg");
            if (given(app, "--precondition") && !general_name)
                refuse("--precondition", fmt::format("\"{}\" is not for --method {}: there are none, jacobi, ilu0, ilut and spai",
                                                     precondition, choices.method));
        }
    }
    if (!problems.empty()) throw InputError(problems);
    if (cg || (automatic && of_cg)) return std::nullopt;
    if (given(app, "--precondition")) options.precondition = sparse::parse_general_precondition(precondition);
    options.ordering = shared.ordering;
    options.restart = choices.restart;
    options.drop_tolerance = choices.drop_tolerance;
    options.fill = choices.fill;
    options.rtol = shared.rtol;
    options.iteration_limit = shared.iteration_limit;
    return options;
}

std::string general_advice(const sparse::SolveLog& log, sparse::GeneralMethod method, bool several) {
    using krylov::Outcome;
    using enum sparse::GeneralMethod;
    const std::string other = method == automatic ? "take --method gmres with a larger --restart"
                              : method == gmres   ? "take a larger --restart, or another preconditioner"
                              : several           ? "take --method gmres"
                                                  : "take --method gmres or auto";
    switch (log.end) {
        case Outcome::breakdown:
        case Outcome::diverged: return "a denominator of the method vanished, and new starts did not help: " + other;
        case Outcome::stagnated:
            return fmt::format(
                "||b - A x|| / ||b|| stays at {:.2e}: {}; where the matrix is singular, no x may give this right-hand side; where "
                "the residual is near rounding, ask for a larger tolerance (--rtol)",
                log.true_residual, other);
        default: return {};
    }
}

}  // namespace kasane::app
