// kasane lattice solve CFG... --kappa K: quark propagators and single solutions on gauge configurations.
#include <app/lattice.hpp>
#include <app/lattice_solve_columns.hpp>
#include <kasane/core/base/counted.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/lattice/distributed/distributed_solver.hpp>
#include <kasane/lattice/distributed/halo_memory.hpp>
#include <kasane/lattice/file/gauge_file.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <future>
#include <limits>
#include <memory>

namespace kasane::app {
namespace {

namespace fs = std::filesystem;

lattice::Method method_named(const std::string& text) {
    using lattice::Method;
    for (const auto method :
         {Method::nested_bicgstab, Method::bicgstab, Method::cg, Method::gcr, Method::fgmres, Method::refinement, Method::automatic})
        if (text == name(method)) return method;
    return Method::nested_bicgstab;  // the option accepts no other name
}
lattice::Precision precision_named(const std::string& text) {
    return text == "half" ? lattice::Precision::half : text == "single" ? lattice::Precision::single : lattice::Precision::double_;
}
lattice::LinkReals reals_named(const std::string& text) {
    return text == "8" ? lattice::LinkReals::parameters : text == "12" ? lattice::LinkReals::two_rows : lattice::LinkReals::all;
}
lattice::GammaBasis basis_named(const std::string& text) {
    for (const auto basis : lattice::gamma_bases)
        if (text == name(basis)) return basis;
    return lattice::GammaBasis::degrand_rossi;
}

lattice::SchwarzMethod schwarz_named(const std::string& text) {
    using lattice::SchwarzMethod;
    for (const auto method : {SchwarzMethod::additive, SchwarzMethod::ras, SchwarzMethod::sap, SchwarzMethod::multiplicative})
        if (text == name(method)) return method;
    return SchwarzMethod::none;
}

/// Whether --deflate means inexact deflation.
bool is_coherent(const LatticeSolveOptions& o) { return o.deflate > 0 && o.deflation == "coherent"; }

lattice::Method default_method(const LatticeSolveOptions& o) {
    if (is_coherent(o) || o.precondition != "none") return lattice::Method::gcr;
    return o.deflate > 0 ? lattice::Method::cg : lattice::Method::bicgstab;
}

/// Whether -o names a directory of results.
bool names_directory(const std::string& output) {
    std::error_code ignored;
    return !output.empty() && (output.ends_with('/') || fs::is_directory(output, ignored) || fs::path(output).extension().empty());
}

/// All options that are wrong, each with its name.
void check_options(const LatticeSolveOptions& o, const CLI::App& app) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool condition, const char* option, const std::string& message) {
        if (!condition) problems.push_back({message, {"", 0, 0, option}});
    };
    if (o.kappas.empty() && o.masses.empty())
        problems.push_back({"--kappa is required: give the hopping parameter, any number of times, or --mass", {}});
    for (const double kappa : o.kappas)
        require(kappa > 0 && kappa < 1, "--kappa",
                fmt::format("is {}: it must be above 0 and below 1; quarks are light where it is 1/8 (no gauge field) to 0.16", kappa));
    for (const double mass : o.masses) {
        require(mass > -3.5 && std::isfinite(mass), "--mass",
                fmt::format("is {}: it must be above -3.5, where kappa = 1 / (2 m + 8) is below 1; quarks are light where it is -0.9 to 0",
                            mass));
        require(!std::isfinite(mass) || 1 / (2 * mass + 8) != 0, "--mass",
                fmt::format("is {}: kappa = 1 / (2 m + 8) is then 0 in double precision; quarks are light where it is -0.9 to 0", mass));
    }
    require(o.kappas.empty() || o.masses.empty(), "--mass", "is given together with --kappa: give one of the two");
    require(o.csw >= 0 && o.csw <= 10, "--csw",
            fmt::format("is {}: it must be from 0 (no clover term) to 10; at tree level it is 1", o.csw));
    require(o.options.rtol >= 1e-15 && o.options.rtol < 1, "--rtol",
            fmt::format("is {}: it must be at least 1e-15, the limit of double precision, and below 1. Try 1e-10", o.options.rtol));
    require(!o.half_links || o.inner == "single", "--half-links",
            o.inner == "half"   ? "has no effect with --inner half, whose links are half anyway: leave it out"
            : o.inner == "auto" ? "belongs to --inner single: give that, too, or leave it out"
                                : "has no effect with --inner double: leave it out, or take --inner single");
    const bool schwarz = o.precondition != "none";
    require(schwarz ||
                (o.block.empty() && o.options.schwarz.overlap < 0 && o.options.schwarz.cycles == 0 && o.options.schwarz.block_steps == 0),
            "--block, --overlap, --cycles and --block-steps",
            "belong to a Schwarz preconditioner: give --precondition sap (or additive, ras, multiplicative) too, or leave them out");
    require(!schwarz || (o.solver != "cg" && o.solver != "bicgstab" && o.solver != "auto"), "--precondition",
            fmt::format("has no effect with --solver {}, which has no preconditioner: take gcr, fgmres, nested-bicgstab or refinement",
                        o.solver));
    const bool coherent = is_coherent(o), exact = o.deflate > 0 && !coherent;
    require(o.deflate > 0 || o.deflation == "exact", "--deflation", "has no effect without --deflate N: give the number of vectors");
    require(coherent || o.deflation_block.empty(), "--deflation-block", "belongs to --deflation coherent: give that with --deflate N, too");
    require(!coherent || (o.solver != "cg" && o.solver != "bicgstab" && o.solver != "auto"), "--deflation coherent",
            fmt::format("is a preconditioner, which --solver {} lacks: take gcr, fgmres, nested-bicgstab or refinement", o.solver));
    require(!exact || ((o.solver.empty() || o.solver == "cg") && !schwarz), "--deflate",
            "is for conjugate gradients: leave --solver and --precondition out, or give --solver cg; or give --deflation coherent");
    require(!exact || !o.temporal_gauge, "--deflate", "and --temporal-gauge exclude each other: leave one of them out");
    require(!coherent || o.modes.empty(), "--modes", "is for exact modes: leave it or --deflation coherent out");
    require(o.modes.empty() || o.deflate > 0, "--modes", "has no effect without --deflate N: give the number of modes");
    const auto files = std::ssize(o.configurations);
    require(o.modes.empty() || (files == 1 && o.kappas.size() + o.masses.size() == 1), "--modes",
            "belongs to one configuration and one kappa: leave it out, so that modes are computed for each, or solve one at a time");
    require(o.bin == 1 || o.bin <= files / 2, "--bin",
            fmt::format("is {}: errors need at least two bins of the {} configurations{}", o.bin, files,
                        files < 4 ? "; leave it out" : fmt::format(", so at most {}", files / 2)));
    require(!o.fields || names_directory(o.solution), "--fields",
            "has no effect without a directory: give one with -o, or give -o FILE.h5 for one configuration and kappa");
    require(app.count("--basis") == 0 || !o.solution.empty(), "--basis", "has no effect without -o: give that, or leave it out");
    const auto solver = o.solver.empty() ? default_method(o) : method_named(o.solver);
    require(app.count("--krylov-length") == 0 || solver == lattice::Method::gcr || solver == lattice::Method::fgmres, "--krylov-length",
            fmt::format("has no effect with --solver {}: leave it out, or take gcr or fgmres", name(solver)));
    for (const auto& [option, block] : {std::pair{"--block", &o.block}, std::pair{"--deflation-block", &o.deflation_block}})
        require(block->empty() || block->size() == 4, option,
                fmt::format("has {}, and needs four extents: x,y,z,t", counted(block->size(), "number")));
    try {
        const int columns = LatticeSource::parse(o.source).columns();
        require(o.columns == 0 || columns > 1, "--columns",
                "has no effect with --source " + o.source + ", which has one column: leave it out");
    } catch (const InputError& error) {
        problems.push_back(error.problems().front());
    }
    if (!problems.empty()) throw InputError(problems);
}

/// --inner. Several workers and preconditioners take half by default, in which less is sent and read.
lattice::Precision inner_precision(const LatticeSolveOptions& o, const Workers& workers, const lattice::Extents& extents) {
    if (o.inner != "auto") return precision_named(o.inner);
    const bool alone = workers.count == 1 && o.precondition == "none" && !is_coherent(o);
    return alone ? lattice::default_inner_precision(workers.here.front(), extents) : lattice::Precision::half;
}

/// The options of a solver for a lattice on one or all of these workers.
lattice::SolverOptions solver_options(const LatticeSolveOptions& o, const Workers& workers, const lattice::Extents& extents) {
    auto options = o.options;
    options.schwarz.method = schwarz_named(o.precondition);
    std::copy(o.block.begin(), o.block.end(), options.schwarz.block);
    if (is_coherent(o)) {
        options.coherent.vectors = o.deflate;
        std::copy(o.deflation_block.begin(), o.deflation_block.end(), options.coherent.block);
    }
    options.method = o.solver.empty() ? default_method(o) : method_named(o.solver);
    const bool exact = o.deflate > 0 && !is_coherent(o);
    options.schur = o.schur == "asymmetric" || exact ? lattice::Schur::asymmetric : lattice::Schur::symmetric;
    options.inner = inner_precision(o, workers, extents);
    options.outer_links = {reals_named(o.links), false, o.temporal_gauge};
    options.inner_links = {reals_named(o.inner_links), options.inner == lattice::Precision::half || o.half_links, o.temporal_gauge};
    return options;
}

/// @throws InputError with these problems of the options, if there are any
void refuse_blocks(const std::vector<std::string>& schwarz, const std::vector<std::string>& coherent) {
    std::vector<InputProblem> problems;
    for (const auto& problem : schwarz) problems.push_back({problem, {"", 0, 0, "--precondition"}});
    for (const auto& problem : coherent) problems.push_back({problem, {"", 0, 0, "--deflation coherent"}});
    if (!problems.empty()) throw InputError(problems);
}
/// @throws InputError unless the blocks of a Schwarz preconditioner and of a coherent subspace fit the lattice
void check_blocks(const lattice::SolverOptions& options, const lattice::Extents& extents) {
    std::vector<std::string> schwarz, coherent;
    if (options.schwarz.method != lattice::SchwarzMethod::none) schwarz = problems_of(chosen(options.schwarz, extents), extents);
    if (options.coherent.vectors != 0) coherent = problems_of(chosen(options.coherent, extents), extents);
    refuse_blocks(schwarz, coherent);
}

/// Checks before the solve that the results can be written. @throws InputError
void check_output(const LatticeSolveOptions& o, bool propagator) {
    const fs::path file = o.solution;
    const auto extension = file.extension().string();
    KS_VALIDATE(extension == ".h5" || extension == ".hdf5", "is written as HDF5: give it a name that ends in .h5 or .hdf5",
                {o.solution, 0, 0, "-o"});
    std::error_code ignored;
    KS_VALIDATE(!fs::equivalent(file, o.configuration, ignored), "is the gauge configuration: give the solution another name",
                {o.solution, 0, 0, "-o"});
    KS_VALIDATE(o.modes.empty() || file.lexically_normal() != fs::path(o.modes).lexically_normal(),
                "is the file of --modes: give the solution another name", {o.solution, 0, 0, "-o"});
    for (const auto& path : {file, propagator ? fs::path(page_of(o.solution)) : file}) keep_existing(path, o.force);
    AtomicFile probe(file);
    if (!o.modes.empty() && !fs::exists(o.modes)) AtomicFile of_modes(o.modes);
}

/// Logs the memory that is needed, and refuses a lattice that does not fit. The solver's count includes the caller's links and the columns
/// that are solved at once; the other columns are added. With several workers the root rank has all fields of the host, and each device its
/// share.
/// @param together  configurations at a time on this host, one on each worker, whose links are kept for the next kappa; 0: one solution
void check_memory(const LatticeSolveOptions& o, const Workers& workers, const LatticeSolveResult& result, int together = 0) {
    const auto& n = result.extents;
    const auto& solver = result.memory;
    const int columns = result.columns;
    const auto sites = static_cast<double>(n.volume());
    const auto& space = workers.here.front();
    const bool shared = std::holds_alternative<Cpu>(space);
    double host = solver.host + (result.on_space ? 0 : 192. * (columns - result.columns_at_once));
    double device = solver.device * (shared ? workers.on_this_host : 1) / workers.count;
    if (workers.count > 1) host += solver.host * workers.on_this_host / workers.count;  // links and fields of the workers
    if (together > 0) {
        constexpr double links = 576;
        host = (host + links) * together;
        if (shared) device *= together;
    }
    if (shared) host += device, device = 0;
    if (shared)
        log::info("memory: {:.0f} bytes per site, {} in all", host, size_text(host * sites));
    else
        log::info("memory: {:.0f} bytes per site on {}, {:.0f} on the host; {} and {} in all", device, name(space), host,
                  size_text(device * sites), size_text(host * sites));
    const bool keeps_vectors = o.solver == "gcr" || o.solver == "fgmres" || (o.solver.empty() && default_method(o) == lattice::Method::gcr);
    const auto remedy = keeps_vectors ? ", or a shorter --krylov-length" : columns > 1 ? ", or a random source, which has one column" : "";
    const auto require = [&](double needed, const AnySpace& where) {
        const auto there = static_cast<double>(available_memory(where));
        KS_VALIDATE(needed * sites <= there,
                    fmt::format("{} sites need {} of memory on {}, and {} are free: take a device with more memory, a smaller lattice{}",
                                lattice::text(n), size_text(needed * sites), name(where), size_text(there), remedy),
                    {o.configuration, 0, 0, ""});
    };
    if (!shared) require(device, space);
    require(host, Cpu{});
}

/// The number of columns that are solved at once: --columns, or on a device all that fit into memory, on a CPU one.
int chosen_columns(const LatticeSolveOptions& o, const Workers& workers, const LatticeSolveResult& result, bool log_number) {
    const int wanted = std::min(o.columns > 0 ? o.columns : result.columns, result.columns);
    if (wanted == 1 || workers.count > 1) return 1;
    const int columns = o.columns > 0 && solves_columns(result.options)
                            ? wanted
                            : columns_at_once(workers.here.front(), result.extents, result.facts.parameters, result.options, wanted);
    if (log_number)
        log::info("columns: {} of {} at once{}", columns, result.columns,
                  columns == wanted                 ? ""
                  : !solves_columns(result.options) ? fmt::format("; {} solves one after the other", name(result.options.method))
                  : std::holds_alternative<Cpu>(workers.here.front()) ? "; on a CPU one after the other is faster"
                                                                      : ", because more do not fit into memory");
    return columns;
}

/// Chooses the number of columns at once and where solutions are kept, and counts the memory for them.
void choose_columns(const LatticeSolveOptions& o, const Workers& workers, const lattice::RankGrid& grid, LatticeSolveResult& result,
                    bool log_number) {
    const auto& parameters = result.facts.parameters;
    const auto& space = workers.here.front();
    result.columns_at_once = chosen_columns(o, workers, result, log_number);
    result.memory = lattice::memory_per_site(parameters, result.options, grid.local(), result.columns_at_once);
    if (workers.count > 1)
        result.memory.device +=
            halo_bytes(grid, parameters, result.options, !std::holds_alternative<Cpu>(space)) / static_cast<double>(grid.local().volume());
    const bool all = result.columns == 12 && (result.columns_at_once == 12 || !solves_columns(result.options));
    result.on_space = workers.count == 1 && all && keeps_solutions(space, result.extents, parameters, result.options);
    if (result.on_space) {
        result.memory.device += lattice::kept_bytes_per_site(result.options);
        result.memory.host -= 2 * 192. * result.columns_at_once;  // right-hand sides and solutions
    }
}

/// Creates the contexts of CUDA devices, which takes up to a second, while the caller reads the configuration. Where it fails, the caller's
/// first use of the device reports why. @returns to be kept until then
std::vector<std::future<void>> start_devices(const Workers& workers) {
    std::vector<std::future<void>> all;
    for (const auto& space : workers.here)
        if (!std::holds_alternative<Cpu>(space)) all.push_back(std::async(std::launch::async, [space] { synchronize(space); }));
    return all;
}

/// Solves for one configuration and kappa. @returns the exit status
int solve(const Common& common, const LatticeSolveOptions& o) {
    if (!o.solution.empty()) check_output(o, columns_of(o) == 12);
    const auto shape = parsed_grid(o.grid);
    const auto workers = place_workers(common, o.gpus_per_rank);
    catch_interrupts();
    const auto devices = start_devices(workers);
    const Stopwatch watch;
    auto gauge = lattice::read_gauge(o.configuration);
    const double reading = watch.seconds();
    auto result = solve_configuration(common, workers, shape, gauge, o, false, true);
    result.wall.reading = reading;
    auto text = as_text(result);
    if (!result.solution.empty()) text += fmt::format("\n{}: {}", result.columns == 12 ? "propagator" : "solution", result.solution);
    if (!result.page.empty()) text += fmt::format("\ncorrelators drawn: {}", result.page);
    print(common, as_json(result), text);
    if (result.converged()) return success;
    log::error("{}: {}{}", o.configuration, failure_text(result), o.solution.empty() ? "" : "; nothing was written");
    return computation_failed;
}

}  // namespace

LatticeSolveResult solve_configuration(const Common& common, const Workers& workers, const std::optional<lattice::GridShape>& shape,
                                       lattice::GaugeFile& gauge, const LatticeSolveOptions& o, bool keep_links, bool log_memory) {
    const Stopwatch watch;
    const auto source = LatticeSource::parse(o.source);
    const auto extents = gauge.field.extents;
    source.check(extents);
    const auto grid = grid_of(shape, extents, workers.count);

    LatticeSolveResult result;
    result.extents = extents;
    result.gauge_format = name(gauge.facts.format);
    result.device = name(workers.here.front());
    result.grid = grid.shape();
    result.options = solver_options(o, workers, extents);
    result.columns = source.columns();
    result.notes = gauge.facts.notes;
    auto& facts = result.facts;
    facts.parameters = {o.kappa, o.csw, o.boundary == "periodic" ? lattice::Boundary::periodic : lattice::Boundary::antiperiodic};
    facts.basis = basis_named(o.basis);
    facts.source = o.source;
    facts.gauge_file = o.configuration;
    facts.plaquette = lattice::plaquette(gauge.field).mean();
    facts.solver = name(result.options.method);
    if (workers.count > 1)
        refuse_blocks(schwarz_problems(result.options, grid), coherent_problems(result.options, grid));
    else
        check_blocks(result.options, extents);
    if (workers.count > 1) {
        const auto& schwarz = result.options.schwarz;
        const int overlap = schwarz.method == lattice::SchwarzMethod::none ? 0 : chosen(schwarz, grid.local()).overlap;
        log::info("grid: {}; each sends {} half spinors in a hop{}", grid.text(), grid.face_sites(),
                  overlap == 0 ? "" : fmt::format(", and {} spinors of a residual to overlapping blocks", grid.border_sites(overlap)));
    }
    choose_columns(o, workers, grid, result, log_memory);
    if (log_memory) check_memory(o, workers, result);

    result.wall.setup = watch.seconds();
    const auto rows = solve_columns(common, workers, grid, gauge.field, o, keep_links, source, result);
    for (const auto& log : result.logs) facts.relative_residuals.push_back(log.true_residual);
    if (result.converged()) write_solutions(o, source, rows, result);
    return result;
}

void check_solve_memory(const LatticeSolveOptions& o, const Workers& workers, const lattice::Extents& extents, int together) {
    const Workers one{{workers.here.front()}, 1, 1};
    LatticeSolveResult result;
    result.extents = extents;
    result.options = solver_options(o, one, extents);
    result.columns = columns_of(o);
    result.facts.parameters = {o.kappa, o.csw};
    // On a CPU the columns at once follow the memory that is left.
    auto counted = o;
    if (std::holds_alternative<Cpu>(workers.here.front())) counted.columns = std::clamp(o.columns, 1, result.columns);
    choose_columns(counted, one, lattice::RankGrid::chosen(extents, 1), result, false);
    check_memory(o, one, result, together);
}

void check_extents_of(const LatticeSolveOptions& o, const Workers& workers, const lattice::Extents& extents) {
    LatticeSource::parse(o.source).check(extents);
    check_blocks(solver_options(o, workers, extents), extents);
}

int columns_of(const LatticeSolveOptions& o) { return LatticeSource::parse(o.source).columns(); }

std::string failure_text(const LatticeSolveResult& result) { return "not solved: " + advice(result.logs.back().end); }

Action add_lattice_solve(CLI::App& app, const Common& common) {
    auto options = std::make_shared<LatticeSolveOptions>();
    auto& o = *options;
    app.add_option("CFG", o.configurations, "Gauge configurations: NERSC, ILDG (LIME), MILC v5 or openQCD")->required();
    app.add_option("--kappa", o.kappas, "Hopping parameter, 1 / (2 m + 8) (any number of times)")->delimiter(',')->allow_extra_args(false);
    app.add_option("--mass", o.masses, "Bare mass m in place of --kappa (any number of times)")->delimiter(',')->allow_extra_args(false);
    app.add_option("--csw", o.csw, "Coefficient of the clover term; 0: Wilson quarks");
    app.add_option("--boundary", o.boundary, "Of the quarks in time")->check(CLI::IsMember({"periodic", "antiperiodic"}));
    app.add_option("--source", o.source,
                   "point:x,y,z,t or wall:t (12 columns: a propagator); random:seed (Gaussian) or z2:seed (one solution)");
    app.add_option("--rtol", o.options.rtol, "Solved where the true ||b - D x|| / ||b|| is below this");
    app.add_option("--max-iterations", o.options.iteration_limit, "Stop a column after this number of iterations")
        ->check(whole_number(1, std::numeric_limits<int>::max()));
    app.add_option(
           "-o,--output", o.solution,
           "HDF5 file of the fields; the correlators of a propagator are drawn in the .html beside it. Or a directory: a JSON file for "
           "each configuration and kappa, and tables; existing results are used again")
        ->type_name("FILE.h5|DIRECTORY");
    app.add_flag("--fields", o.fields, "With a directory: also the fields, as HDF5");
    app.add_option("--bin", o.bin, "Neighbouring configurations in a bin of the jackknife")
        ->check(whole_number(1, std::numeric_limits<int>::max()));
    app.add_option("--basis", o.basis, "Gamma matrices of the written fields")
        ->check(CLI::IsMember({"degrand-rossi", "ukqcd", "chiral", "dirac-pauli"}));
    app.add_flag("--force", o.force, "Overwrite the output files if they exist");
    const std::string how = "How it is computed: the same x up to --rtol";
    const auto add_extents = [&](const char* option, std::vector<int>& extents, const char* help) {
        app.add_option(option, extents, help)
            ->delimiter(',')
            ->allow_extra_args(false)
            ->check(whole_number(1, std::numeric_limits<int>::max()))
            ->type_name("X,Y,Z,T")
            ->group(how);
    };
    app.add_option("--solver", o.solver,
                   "Outer method; left out: bicgstab, with --precondition or --deflation coherent gcr, with --deflate cg")
        ->check(CLI::IsMember({"nested-bicgstab", "bicgstab", "cg", "gcr", "fgmres", "refinement", "auto"}))
        ->group(how);
    app.add_option("--deflate", o.deflate, "Deflate by this number of the lowest eigenmodes of D^+ D, or of near-null vectors")
        ->check(whole_number(1, 10'000))
        ->default_str("")
        ->group(how);
    app.add_option(
           "--deflation", o.deflation,
           "By eigenmodes (exact, in conjugate gradients) or by blocks of near-null vectors (coherent: local coherence, in flexible "
           "methods)")
        ->check(CLI::IsMember({"exact", "coherent"}))
        ->group(how);
    add_extents("--deflation-block", o.deflation_block, "Extents of these blocks: x,y,z,t");
    app.add_option("--modes", o.modes, "HDF5 file of these modes: used where it exists, otherwise written")
        ->type_name("FILE.h5")
        ->group(how);
    app.add_option("--precondition", o.precondition, "Schwarz preconditioner in place of the inner solver")
        ->check(CLI::IsMember({"none", "sap", "additive", "ras", "multiplicative"}))
        ->group(how);
    add_extents("--block", o.block, "Extents of its blocks: x,y,z,t");
    app.add_option("--overlap", o.options.schwarz.overlap, "Sites by which ras and multiplicative extend a block on each side")
        ->check(whole_number(0, 1000))
        ->default_str("")
        ->group(how);
    app.add_option("--cycles", o.options.schwarz.cycles, "Applications of all blocks in the preconditioner")
        ->check(whole_number(1, 1000))
        ->default_str("")
        ->group(how);
    app.add_option("--block-steps", o.options.schwarz.block_steps, "Minimal residual iterations in a block")
        ->check(whole_number(1, 1000))
        ->default_str("")
        ->group(how);
    app.add_option("--inner", o.inner, "Precision of the inner solver; auto: single for few sites on a GPU, otherwise half")
        ->check(CLI::IsMember({"auto", "half", "single", "double"}))
        ->group(how);
    app.add_option("--columns", o.columns,
                   "Columns of a propagator that are solved at once; left out: on a GPU as many as fit into memory, on a CPU one")
        ->check(whole_number(1, 12))
        ->default_str("")
        ->group(how);
    app.add_option("--schur", o.schur, "Even-odd preconditioning")->check(CLI::IsMember({"symmetric", "asymmetric"}))->group(how);
    app.add_option("--links", o.links, "Real numbers per link of the double operator")->check(CLI::IsMember({"18", "12", "8"}))->group(how);
    app.add_option("--inner-links", o.inner_links, "Real numbers per link of the inner operator")
        ->check(CLI::IsMember({"18", "12", "8"}))
        ->group(how);
    app.add_flag("--half-links", o.half_links, "With --inner single: links of 16 bits")->group(how);
    app.add_flag("--temporal-gauge", o.temporal_gauge, "Solve in temporal gauge, where time links but those of the last slice are 1")
        ->group(how);
    app.add_option("--krylov-length", o.options.krylov_length, "Vectors that gcr and fgmres keep")
        ->check(whole_number(2, 1000))
        ->group(how);
    add_workers(app, o.grid, o.gpus_per_rank);
    return [options, &common, &app] {
        auto& o = *options;
        check_options(o, app);
        for (const double mass : o.masses) o.kappas.push_back(1 / (2 * mass + 8));
        if (o.configurations.size() > 1 || o.kappas.size() > 1 || names_directory(o.solution))
            return solve_many(common, place_workers(common, o.gpus_per_rank), parsed_grid(o.grid), o);
        o.configuration = o.configurations.front(), o.kappa = o.kappas.front();
        return solve(common, o);
    };
}

}  // namespace kasane::app
