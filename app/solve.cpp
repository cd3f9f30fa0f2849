// kasane solve A.mtx [-b b.mtx] [-o x.mtx]: solves a sparse system, by conjugate gradients where the matrix allows them.
#include <app/command.hpp>
#include <app/solve_complex.hpp>
#include <app/solve_eigenvalues.hpp>
#include <app/solve_general.hpp>
#include <app/solve_on_workers.hpp>
#include <app/solved.hpp>
#include <kasane/run/poisson/solve_summary.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/sparse/columns.hpp>
#include <kasane/sparse/file/matrix_file.hpp>
#include <kasane/sparse/solver.hpp>
#include <kasane/sparse/tune/tuning_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;

struct SolveOptions {
    std::string matrix, rhs, solution, tuning_file;
    std::string block = "1";
    std::string ordering = "auto", numbering = "auto", format = "auto", precondition = "ic0", iteration = "auto", launch = "auto";
    std::string smoother = "chebyshev", cycle = "auto";
    sparse::SolverOptions solver;
    GeneralChoices general;
    WorkerChoices workers;
    bool tune = false, no_tune = false, force = false;
    int eigenvalues = 0;
};

/// All options that are wrong, each with its name.
sparse::SolverOptions solver_options(const SolveOptions& o, const CLI::App& app) {
    auto options = o.solver;
    std::vector<InputProblem> problems;
    const auto take = [&](const char* option, const auto& set) {
        try {
            set();
        } catch (const InputError& error) {
            for (const auto& problem : error.problems()) problems.push_back({problem.message, {"", 0, 0, option}});
        }
    };
    const auto require = [&](bool condition, const char* option, const std::string& message) {
        if (!condition) problems.push_back({message, {"", 0, 0, option}});
    };
    take("--ordering", [&] { options.ordering = sparse::Ordering::parse(o.ordering); });
    take("--numbering", [&] { options.numbering = sparse::parse_numbering(o.numbering); });
    take("--format", [&] { options.format = sparse::Format::parse(o.format); });
    if (!is_general_alone(o.precondition))
        take("--precondition", [&] {
            try {
                options.precondition = sparse::parse_precondition(o.precondition);
            } catch (const InputError& error) {
                throw InputError(std::string(error.problems().front().message) +
                                 " And ilu0, ilut and spai, which are not for --method cg.");
            }
        });
    take("--iteration", [&] { options.iteration = sparse::parse_iteration(o.iteration); });
    take("--launch", [&] { options.launch = sparse::parse_launch(o.launch); });
    take("--smoother", [&] { options.multigrid.smoother = sparse::parse_smoother(o.smoother); });
    take("--cycle", [&] { options.multigrid.cycle = sparse::parse_cycle(o.cycle); });
    for (const char* option : {"--smoother", "--smoother-steps", "--cycle"})
        require(app.count(option) == 0 || o.precondition == "multigrid" || o.precondition == "auto", option,
                "has no effect with --precondition " + o.precondition + ": leave it out, or take multigrid");
    require(options.rtol >= sparse::least_rtol && options.rtol < 1, "--rtol",
            fmt::format("is {}: it must be at least {} and below 1. Try 1e-8", options.rtol, sparse::least_rtol));
    require(options.ssor_omega > 0 && options.ssor_omega < 2, "--ssor-omega",
            fmt::format("is {}: ssor is positive definite only for values above 0 and below 2. Try 1", options.ssor_omega));
    require(app.count("--ssor-omega") == 0 || o.precondition == "ssor", "--ssor-omega",
            "has no effect with --precondition " + o.precondition + ": leave it out, or take ssor");
    require(app.count("--level") == 0 || o.precondition == "ick", "--level",
            "has no effect with --precondition " + o.precondition + ": leave it out, or take ick");
    if (o.block == "auto")
        options.block = 0;
    else if (o.block.size() == 1 && o.block[0] >= '1' && o.block[0] <= '6')
        options.block = o.block[0] - '0';
    else
        require(false, "--block", "is " + o.block + ": it must be auto, or a size from 1 (scalar rows) to 6");
    if (options.block != 1) {
        require(o.precondition == "ic0" || o.precondition == "jacobi" || o.precondition == "none", "--block",
                "has no effect with --precondition " + o.precondition + ": leave it out, or take ic0, jacobi or none");
        for (const char* option : {"--numbering", "--format", "--iteration", "--launch", "--single-factor", "--tune"})
            require(app.count(option) == 0 || options.block == 0, option, "has no effect with blocks of rows: leave it out");
    }
    options.drop_tolerance = o.general.drop_tolerance;
    options.fill = o.general.fill;
    if (options.precondition == sparse::Precondition::multigrid || options.precondition == sparse::Precondition::ict ||
        options.precondition == sparse::Precondition::ick)
        for (const char* option : {"--ordering", "--numbering", "--format", "--iteration", "--launch", "--single-factor", "--tune"})
            require(app.count(option) == 0, option, "has no effect with --precondition " + o.precondition + ": leave it out, or take ic0");
    if (!problems.empty()) throw InputError(problems);
    options.tune = o.no_tune ? sparse::Tuning::off : o.tune ? sparse::Tuning::full : sparse::Tuning::automatic;
    if (!o.tuning_file.empty()) {
        const auto why_not = sparse::why_tuning_kept(o.tuning_file);
        KS_VALIDATE(why_not.empty(), why_not, {o.tuning_file, 0, 0, "--tuning-file"});
    }
    if (!o.no_tune) options.tuning_file = o.tuning_file.empty() ? sparse::default_tuning_file() : fs::path(o.tuning_file);
    return options;
}

enum class VectorFormat { market, petsc };
VectorFormat format_of(const fs::path& file) {
    const auto extension = file.extension().string();
    if (extension == ".mtx") return VectorFormat::market;
    for (const char* petsc : {".petsc", ".bin", ".dat"})
        if (extension == petsc) return VectorFormat::petsc;
    throw InputError("has an unknown extension: .mtx is written as Matrix Market; .petsc, .bin and .dat as PETSc binary",
                     {file.string(), 0, 0, "-o"});
}

/// Checks before the solve that the solution can be written. @throws InputError
void check_output(const SolveOptions& o) {
    const fs::path file = o.solution;
    format_of(file);
    keep_inputs("-o", file, {o.matrix, o.rhs});
    keep_existing(file, o.force);
    AtomicFile probe(file);
}

void write_solution(const fs::path& file, const std::vector<std::complex<double>>& x, index_t columns) {
    sparse::write_vector_market(file, view(x), columns);
}
void write_solution(const fs::path& file, const std::vector<double>& x, index_t columns) {
    if (format_of(file) == VectorFormat::market)
        sparse::write_vector_market(file, view(x), columns);
    else
        sparse::write_vector_petsc(file, view(x));
}

void check_memory(const SolveOptions& o, const AnySpace& space, const sparse::CsrMatrix& A, const sparse::SolverOptions& options) {
    const auto gibibytes = [](std::uint64_t bytes) { return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1u << 30)); };
    const auto needed = sparse::memory_estimate(A.rows(), A.nonzeros(), options), there = available_memory(space);
    KS_VALIDATE(
        needed <= there,
        fmt::format("{} rows with {} entries need up to {} of memory on {}, and {} are free: take a device with more memory, or a smaller "
                    "system",
                    A.rows(), A.nonzeros(), gibibytes(needed), name(space), gibibytes(there)),
        {o.matrix, 0, 0, ""});
}

/// The solver; its errors on the matrix name the file.
sparse::Solver solver_of(const Common& common, const SolveOptions& o, const AnySpace& space, const sparse::CsrMatrix& A,
                         const std::optional<sparse::MatrixKind>& kind, sparse::SolverOptions options) {
    Progress bar(common.progress(), "tuning", 1);
    options.tune_progress = [&](double share, const std::string& what) { bar.update(share, what); };
    options.check_stop = stop_if_interrupted;
    try {
        return kind ? sparse::Solver(space, A.view(), *kind, options) : sparse::Solver(space, A.view(), options);
    } catch (const InputError& error) {
        auto problems = error.problems();
        for (auto& problem : problems) {
            if (problem.where.file == "the matrix") problem.where.file = o.matrix;
            if (problem.where.key == "block") problem.where.key = "--block";
        }
        throw InputError(problems);
    } catch (const sparse::PreconditionError& error) {
        throw ComputationError(fmt::format("{}: {} (--precondition jacobi)", o.matrix, error.what()));
    }
}

Solved solve_general(const Common& common, const std::string& file, const AnySpace& space, const sparse::CsrMatrix& A,
                     const sparse::MatrixKind& kind, const sparse::GeneralOptions& options, const sparse::VectorColumns& b,
                     std::vector<double>& x) {
    try {
        sparse::GeneralSolver solver(space, A.view(), kind, options);
        stop_if_interrupted();
        auto logs = iterate(common, solver, options.rtol, b, x);
        return {solver.setup().iteration, solver.setup(), std::move(logs)};
    } catch (const sparse::PreconditionError& error) {
        throw ComputationError(fmt::format("{}: {} (--precondition jacobi)", file, error.what()));
    }
}

/// The matrix turned out not to be positive definite.
bool not_positive(const sparse::SolveLog& log) {
    return log.end == krylov::Outcome::operator_not_positive || log.end == krylov::Outcome::preconditioner_not_positive;
}

io::Json columns_json(const std::vector<sparse::SolveLog>& logs) {
    auto all = io::Json::array();
    for (const auto& log : logs)
        all.push_back({{"converged", log.converged()},
                       {"end", krylov::name(log.end)},
                       {"iterations", log.iterations},
                       {"relative_residual", log.true_residual},
                       {"solve_seconds", log.seconds}});
    return all;
}

/// By conjugate gradients where they were asked for, or where the matrix may be positive definite and no other method was.
/// @param A  emptied once it is not needed
Solved solve_alone(const Common& common, const SolveOptions& o, const AnySpace& space, sparse::CsrMatrix& A,
                   const sparse::SolverOptions& options, const std::optional<sparse::GeneralOptions>& general,
                   const sparse::VectorColumns& b, std::vector<double>& x) {
    const bool automatic = general && general->method == sparse::GeneralMethod::automatic;
    std::optional<sparse::MatrixKind> kind;
    if (general) kind = sparse::kind_of(A.view(), o.matrix);
    const bool by_cg = !general || (automatic && is_symmetric(general->precondition) && kind->positive);
    Solved solved;
    std::string why_not_cg;
    if (by_cg) {
        check_memory(o, space, A, options);
        try {
            auto solver = solver_of(common, o, space, A, kind, options);
            if (!automatic) A = {};
            stop_if_interrupted();
            auto logs = iterate(common, solver, options.rtol, b, x);
            solved = {"cg", solver.setup(), std::move(logs)};
            if (const auto failed = std::ranges::find_if(solved.logs, not_positive); failed != solved.logs.end())
                why_not_cg = krylov::name(failed->end);
        } catch (const ComputationError& error) {
            if (!automatic) throw;
            why_not_cg = error.what();
        }
    }
    if (!by_cg || (automatic && !why_not_cg.empty())) {
        std::ranges::fill(x, 0.);
        solved = solve_general(common, o.matrix, space, A, *kind, *general, b, x);
        if (by_cg) solved.setup.notes.insert(solved.setup.notes.begin(), "conjugate gradients failed: " + why_not_cg);
    }
    return solved;
}

/// What was read.
struct Read {
    std::string format;
    index_t duplicates;
    double seconds;
};

/// Writes x and prints the result. @param x  [columns * rows] of double or std::complex<double>   @param advice  of a log that did not
/// converge; may be empty
template <class Number>
int conclude(const Common& common, const SolveOptions& o, Solved& solved, const Read& read, const std::vector<Number>& x,
             const std::function<std::string(const sparse::SolveLog&)>& advice) {
    auto& [method, setup, logs] = solved;
    const auto shown = solved.shown();
    const auto& log = logs[shown];
    setup.notes.insert(setup.notes.end(), log.notes.begin(), log.notes.end());
    if (logs.size() > 1)
        setup.notes.insert(setup.notes.begin(),
                           fmt::format("of {} right-hand sides, column {} is shown: {}", logs.size(), shown + 1,
                                       log.converged() ? "it took the most iterations" : "it is the first that did not converge"));
    if (o.rhs.empty()) setup.notes.insert(setup.notes.begin(), "no right-hand side was given (-b): it is 1 in every row");
    if (read.duplicates > 0)
        setup.notes.insert(setup.notes.begin(),
                           fmt::format("{} duplicate entries were added to others with the same row and column", read.duplicates));
    auto object = run::as_json(setup, log);
    auto text = run::as_text(setup, log);
    object["method"] = method;
    object["matrix"] = o.matrix;
    object["matrix_format"] = read.format;
    object["right_hand_side"] = o.rhs.empty() ? io::Json(nullptr) : io::Json(o.rhs);
    if (logs.size() > 1) object["columns"] = columns_json(logs);
    object["read_seconds"] = read.seconds;
    object["solution"] = nullptr;
    const bool finite = std::ranges::all_of(x, [](const Number& value) { return std::isfinite(std::abs(value)); });
    const bool attempted = log.outside_range == 0;
    if (!o.solution.empty() && finite && attempted) {
        write_solution(o.solution, x, static_cast<index_t>(x.size()) / setup.rows);
        object["solution"] = o.solution;
        text += log.converged() ? fmt::format("\nx: {}", o.solution) : fmt::format("\nx, not converged: {}", o.solution);
    }
    print(common, object, text);
    if (log.converged()) return success;
    const auto written = o.solution.empty() || !attempted ? ""
                         : finite                         ? "; the last x was written"
                                                          : "; x holds numbers that are not finite and was not written";
    auto reason = advice ? advice(log) : std::string();
    if (reason.empty()) reason = run::advice(log);
    if (log.end == krylov::Outcome::operator_not_positive) reason += ": take --method minres or gmres";
    log::error("{}: not solved: {}{}", o.matrix, reason, written);
    return computation_failed;
}

/// The right-hand sides of -b, or ones. @param columns  columns(file, rows)
template <class Columns>
Columns right_sides(const SolveOptions& o, index_t rows, Columns (*columns)(const fs::path&, index_t)) {
    if (o.rhs.empty()) return {std::vector<typename decltype(Columns::values)::value_type>(static_cast<std::size_t>(rows), 1.0), 1};
    return columns(o.rhs, rows);
}

int solve_complex_file(const Common& common, const SolveOptions& o, const sparse::SolverOptions& shared, const CLI::App& app) {
    const bool several = has_several_workers(common, o.workers), multigrid = o.precondition == "multigrid";
    sparse::GeneralOptions options;
    sparse::DistributedOptions distributed;
    if (!several) refuse_options_of_workers(app);
    if (several)
        distributed = distributed_options(o.workers, o.general, o.precondition, shared, app, true);
    else if (multigrid)
        distributed = complex_multigrid_options(o.general, shared, app);
    else
        options = complex_options(o.general, o.precondition, shared, app);
    KS_VALIDATE(o.solution.empty() || format_of(o.solution) == VectorFormat::market,
                "cannot hold complex numbers: take a name that ends with .mtx", {o.solution, 0, 0, "-o"});
    if (!o.solution.empty()) check_output(o);
    const auto workers = place_workers(common, o.workers.gpus_per_rank);
    catch_interrupts();
    const Stopwatch watch;
    const auto file = sparse::read_complex_matrix(o.matrix);
    const auto rows = file.matrix.rows();
    const auto b = right_sides(o, rows, sparse::read_complex_columns);
    const double read_seconds = watch.seconds();
    log::info("{}: {} rows with {} complex entries, read in {:.2g} s", o.matrix, rows, file.matrix.nonzeros(), read_seconds);
    stop_if_interrupted();
    std::vector<std::complex<double>> x(b.values.size(), 0.0);
    auto solved = several || multigrid ? solve_on_workers(common, o.matrix, workers, file.matrix, distributed, b, x)
                                       : solve_complex(common, o.matrix, workers.here.front(), file.matrix, options, b, x);
    return conclude(common, o, solved, {"Matrix Market", file.duplicates, read_seconds}, x, [&](const sparse::SolveLog& log) {
        return general_advice(log, several || multigrid ? distributed.method : options.method, several);
    });
}

int solve(const Common& common, const SolveOptions& o, const CLI::App& app) {
    const bool several = has_several_workers(common, o.workers);
    if (o.eigenvalues > 0) check_options_of_eigenvalues(app, o.precondition, several);
    auto options = solver_options(o, app);
    if (fs::is_regular_file(o.matrix) && sparse::holds_complex_numbers(o.matrix)) return solve_complex_file(common, o, options, app);
    std::optional<sparse::GeneralOptions> general;
    sparse::DistributedOptions distributed;
    if (several) {
        if (o.eigenvalues == 0) distributed = distributed_options(o.workers, o.general, o.precondition, options, app, false);
    } else {
        refuse_options_of_workers(app);
        general = general_options(o.general, o.precondition, options, app);
    }
    if (o.eigenvalues > 0) return solve_eigenvalues(common, app, o.matrix, o.eigenvalues, options, o.workers);
    if (!o.solution.empty()) check_output(o);
    const auto workers = place_workers(common, o.workers.gpus_per_rank);
    catch_interrupts();
    const Stopwatch watch;
    auto file = sparse::read_matrix(o.matrix);
    const auto rows = file.matrix.rows();
    const auto b = right_sides(o, rows, sparse::read_columns);
    KS_VALIDATE(b.columns == 1 || o.solution.empty() || format_of(o.solution) == VectorFormat::market,
                fmt::format("cannot hold {} columns: take a name that ends with .mtx", b.columns), {o.solution, 0, 0, "-o"});
    const double read_seconds = watch.seconds();
    log::info("{}: {} rows with {} entries, read in {:.2g} s", o.matrix, rows, file.matrix.nonzeros(), read_seconds);
    stop_if_interrupted();
    std::vector<double> x(b.values.size(), 0.0);
    auto solved = several ? solve_on_workers(common, o.matrix, workers, file.matrix, distributed, b, x)
                          : solve_alone(common, o, workers.here.front(), file.matrix, options, general, b, x);
    const bool by_general = solved.method != "cg";
    const auto method = several ? distributed.method : general ? general->method : sparse::GeneralMethod::cg;
    return conclude(common, o, solved, {file.format, file.duplicates, read_seconds}, x,
                    [&](const sparse::SolveLog& log) { return by_general ? general_advice(log, method, several) : std::string(); });
}

}  // namespace

Action add_solve(CLI::App& app, const Common& common) {
    auto options = std::make_shared<SolveOptions>();
    auto& o = *options;
    app.add_option("MATRIX", o.matrix, "Matrix Market or PETSc binary: square; complex in Matrix Market")->required();
    app.add_option("-b,--rhs", o.rhs,
                   "Right-hand side, or several as columns of one array: Matrix Market or PETSc binary (default: 1 in every row)")
        ->type_name("FILE");
    app.add_option("-o,--output", o.solution, "Write x: .mtx as Matrix Market; .petsc, .bin or .dat as PETSc binary")->type_name("FILE");
    app.add_flag("--force", o.force, "Overwrite the output file if it exists");
    app.add_option("--rtol", o.solver.rtol, "Solved where ||b - A x|| / ||b|| is below this");
    app.add_option("--max-iterations", o.solver.iteration_limit, "Stop after this number of iterations")
        ->check(whole_number(1, std::numeric_limits<int>::max()));
    add_general_options(app, o.general);
    add_worker_options(app, o.workers);
    app.add_option("--precondition", o.precondition,
                   "ic0, ick (with --level), ict (with --drop-tolerance and --fill), ssor, jacobi, none, multigrid (smoothed aggregation), "
                   "or auto: ic0 or "
                   "multigrid by rule; ilu0, ilut (with "
                   "the same), spai, jacobi or none where the method is not cg");
    app.add_option("--level", o.solver.level, "k of ick, IC(k): levels of fill")->check(whole_number(0, 9));
    app.add_option("--block", o.block,
                   "Rows of dense blocks of the matrix, 2 to 6, or auto, for cg with ic0, jacobi or none: fewer bytes, as in elasticity");
    app.add_option("--ssor-omega", o.solver.ssor_omega, "Relaxation of ssor, above 0 and below 2");
    app.add_option("--smoother", o.smoother, "Of multigrid: chebyshev, gauss-seidel (by colours) or jacobi (damped)");
    app.add_option("--smoother-steps", o.solver.multigrid.steps, "Degree or sweeps of the smoother before and after the coarse level")
        ->check(whole_number(1, 10));
    app.add_option(
        "--cycle", o.cycle,
        "Of multigrid: v, w, k (two iterations of conjugate gradients on each level) or auto (v on the two finest levels, then w)");
    app.add_flag("--single-factor", o.solver.single_factor, "Keep the triangles of the factor in single precision (plain iteration only)");
    app.add_option("--eigenvalues", o.eigenvalues,
                   "Find this number of the smallest eigenvalues of A in place of x (preconditioner multigrid, jacobi or none)")
        ->check(whole_number(1, std::numeric_limits<int>::max()))
        ->default_str("");
    const std::string how = "Method of computation; x is the same up to rounding (auto: by rule, or by an earlier timing)";
    app.add_option("--ordering", o.ordering, "auto, natural, mc:K, cm, rcm, cm-rcm:K or block:B:K")->group(how);
    app.add_option("--numbering", o.numbering, "auto, coalesced or sequential")->group(how);
    app.add_option("--format", o.format, "auto, csr, ell, sliced-ell or sell:C:SIGMA")->group(how);
    app.add_option("--iteration", o.iteration, "auto, plain, eisenstat or reduced")->group(how);
    app.add_option("--launch", o.launch, "On CUDA devices: auto, cooperative or graph")->group(how);
    auto* tuning =
        app.add_option("--tuning-file", o.tuning_file, "File of measured times and choices (default: in the user's cache directory)");
    tuning->type_name("FILE")->group(how);
    auto* full = app.add_flag("--tune", o.tune, "Time all candidates before the solve, and keep the fastest")->group(how);
    app.add_flag("--no-tune", o.no_tune, "Choose by rule, time nothing")->excludes(tuning)->excludes(full)->group(how);
    return [options, &common, &app] { return solve(common, *options, app); };
}

}  // namespace kasane::app
