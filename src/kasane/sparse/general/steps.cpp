#include <kasane/core/base/error.hpp>
#include <kasane/sparse/general/steps.hpp>

#include <fmt/format.h>

namespace kasane::sparse {

void check_general_options(const GeneralOptions& options) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool good, const std::string& message, const char* key) {
        if (!good) problems.push_back({message, {"", 0, 0, key}});
    };
    require(options.rtol > 0 && options.rtol < 1, fmt::format("rtol = {}: must be above 0 and below 1. Try 1e-8", options.rtol), "rtol");
    require(options.iteration_limit >= 1, "at least one iteration must be allowed. Try 10000", "iteration_limit");
    require(options.restart >= 1 && options.restart <= 1000,
            fmt::format("restart = {}: a cycle of gmres has 1 to 1000 iterations. Try 30", options.restart), "restart");
    require(options.ordering.kind != OrderingKind::block,
            "ilu0 and ilut have no block orderings. Take auto, natural, mc:K, cm, rcm or cm-rcm:K", "ordering");
    require(
        options.drop_tolerance >= 0 && options.drop_tolerance < 1,
        fmt::format("drop_tolerance = {}: ilut drops entries below this part of the norm of their row, so it lies from 0 to below 1. Try "
                    "1e-3",
                    options.drop_tolerance),
        "drop_tolerance");
    require(options.fill >= 0, fmt::format("fill = {}: a row of ilut has 0 or more entries beyond those of A. Try 10", options.fill),
            "fill");
    if (!problems.empty()) throw InputError(problems);
}

std::vector<GeneralStep> steps_for(const MatrixKind& kind, const GeneralOptions& options, bool fill_first) {
    using enum GeneralMethod;
    using Kind = GeneralPrecondition;
    KS_VALIDATE(
        options.method != minres || is_symmetric(options.precondition),
        fmt::format("minres needs a symmetric positive definite preconditioner, which {0} is not. Take jacobi or none, or gmres with "
                    "{0}",
                    name(options.precondition)),
        {"", 0, 0, "precondition"});
    KS_VALIDATE(options.method != minres || kind.symmetric,
                fmt::format("minres needs a symmetric matrix, and {}. Take bicgstab, gmres or auto", kind.asymmetry), {"", 0, 0, "method"});
    KS_VALIDATE(options.method != cg, "cg is not a method of GeneralSolver: take Solver for a symmetric positive definite matrix",
                {"", 0, 0, "method"});
    const bool open = options.precondition == Kind::automatic;
    const auto factors = open ? Kind::ilu0 : options.precondition, diagonal = open ? Kind::jacobi : options.precondition;
    if (options.method == minres) return {{minres, diagonal}};
    if (options.method != automatic) {
        std::vector<GeneralStep> steps{{options.method, factors}};
        if (open) steps.push_back({options.method, diagonal});
        return steps;
    }
    const bool short_recurrence = kind.symmetric && is_symmetric(options.precondition);
    std::vector<GeneralStep> steps;
    if (short_recurrence)
        steps.push_back({minres, diagonal});
    else if (!open || !fill_first)
        steps.push_back({bicgstab, factors});
    // Where ilu0 is too poor, fill-in costs less than many iterations.
    if (open && !short_recurrence) steps.push_back({bicgstab, Kind::ilut});
    steps.push_back({gmres, open && !short_recurrence ? Kind::ilut : factors});
    if (open) steps.push_back({gmres, diagonal});
    return steps;
}

std::vector<GeneralStep> complex_steps_for(const ComplexKind& kind, const GeneralOptions& options) {
    using enum GeneralMethod;
    using Kind = GeneralPrecondition;
    KS_VALIDATE(options.precondition != Kind::ilut && options.precondition != Kind::spai,
                fmt::format("{} is for real matrices. Take ilu0, jacobi or none", name(options.precondition)), {"", 0, 0, "precondition"});
    KS_VALIDATE(options.method != minres, "minres is for real matrices. Take bicgstab, gmres or auto", {"", 0, 0, "method"});
    KS_VALIDATE(options.method != cg || kind.hermitian,
                fmt::format("cg needs a Hermitian matrix, and {}. Take bicgstab, gmres or auto", kind.text), {"", 0, 0, "method"});
    const bool open = options.precondition == Kind::automatic;
    const auto factors = open ? Kind::ilu0 : options.precondition;
    std::vector<GeneralStep> steps;
    const auto add = [&](GeneralMethod method) {
        steps.push_back({method, factors});
        if (open) steps.push_back({method, Kind::jacobi});
    };
    if (options.method != automatic) {
        add(options.method);
        return steps;
    }
    steps.push_back({kind.positive ? cg : bicgstab, factors});
    add(gmres);
    return steps;
}

}  // namespace kasane::sparse
