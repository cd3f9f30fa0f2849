#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/load.hpp>
#include <kasane/core/io/atomic_file.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/run/kept_keys.hpp>
#include <kasane/run/newest_checkpoint.hpp>
#include <kasane/run/poisson/poisson_output.hpp>
#include <kasane/run/poisson/poisson_run.hpp>
#include <kasane/run/record.hpp>
#include <kasane/run/record_parts.hpp>
#include <kasane/run/report/report.hpp>
#include <kasane/run/run_texts.hpp>
#include <kasane/version.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;

std::string words(const std::vector<double>& widths) {
    const auto [least, most] = std::ranges::minmax(widths);
    return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

std::string words(const CellField& field) {
    return field.formula.empty() ? fmt::format("{} of {}", field.dataset, field.file.filename().string()) : field.formula;
}

/// What was chosen, as far as the set-up tells, for the papers.
sparse::SolverOptions chosen(const sparse::SetupFacts& setup, sparse::SolverOptions options) {
    try {
        options.ordering = sparse::Ordering::parse(setup.ordering);
        options.format = sparse::Format::parse(setup.format);
        options.iteration = sparse::parse_iteration(setup.iteration);
        options.precondition = sparse::parse_precondition(setup.precondition);
    } catch (const InputError&) {  // told in other words: what was asked for will do
    }
    return options;
}

/// The history goes on behind what there is; both norms of a new beginning are those of the iterate that it begins from.
void append(std::vector<sparse::ResidualPoint>& to, const std::vector<sparse::ResidualPoint>& from, int offset) {
    const double scale = to.empty() ? 1 : to.back().preconditioned;
    for (const auto& point : from) {
        if (!to.empty() && point.iteration == 0) continue;
        to.push_back({point.iteration + offset, point.preconditioned * scale, point.relative});
    }
}

/// One life of a run.
class PoissonRun {
   public:
    PoissonRun(const PoissonFile& file, const RunDirectory& directory, Solution before, PoissonRecord record)
        : file_(file), directory_(directory), solution_(std::move(before)), record_(std::move(record)), seconds_before_(record_.seconds) {
        record_.title = file.title;
        record_.status = "running";
        record_.message.clear();
        if (record_.started.empty()) record_.started = iso_time_now();
        record_.device = device_info(file.space);
        record_.threads = threads_of(file.space);
        warn_of_load(file.space);
        record_.simd = simd_name();
        record_.cells = file.problem.cells;
        for (std::size_t d = 0; d < 3; ++d) {
            record_.size[d] = sparse::cell_faces(file.problem, static_cast<int>(d)).back();
            record_.spacing[d] = words(file.problem.spacing[d]);
        }
        record_.boundary = file.problem.boundary;
        record_.source = words(file.source);
        record_.coefficient = words(file.coefficient);
        record_.rtol = file.solver.rtol;
        record_.iteration_limit = file.solver.iteration_limit;
        record_.notes.clear();
        record_.unused_keys = file.unused_keys;
        record_.papers = papers(file.solver);
        const int first = record_.log.iterations;
        record_.segments.push_back({iso_time_now(), name(file.space), commit, record_.threads, first, first, 0});
    }

    /// @param problem  empty: loaded here
    const PoissonRecord& go(std::optional<sparse::PoissonProblem> problem, const RunControls& controls) {
        try {
            write_record();
            Stopwatch watch;
            if (!problem) problem = load(file_);
            auto b = sparse::poisson_rhs(*problem);
            std::optional solver(set_up(*problem, watch, controls));
            solve(*solver, b, controls);
            if (interrupted_) {
                finish("interrupted");
                save_iterate();
                write_record();
                return record_;
            }
            solver.reset();  // writing takes memory of its own
            std::vector<double>().swap(b);
            write_results(*problem);
            return record_;
        } catch (const Interrupted&) {  // in the set-up: there is no new iterate to save
            finish("interrupted");
            write_record();
            return record_;
        } catch (const std::exception& error) {
            finish("failed");
            record_.message = error.what();
            try {
                write_record();
            } catch (const Error&) {  // the disk is full: the error that is on its way says so
            }
            throw;
        }
    }

    const std::vector<sparse::ResidualPoint>& history() const { return solution_.history; }

   private:
    sparse::Solver set_up(const sparse::PoissonProblem& problem, const Stopwatch& watch, const RunControls& controls) {
        const auto A = sparse::poisson_matrix(problem);
        record_.assembly_seconds = watch.seconds();
        auto options = file_.solver;
        Progress bar(controls.progress, "tuning", 1);
        options.tune_progress = [&](double share, const std::string& what) { bar.update(share, what); };
        options.check_stop = [&] { controls.throw_if_stopped(); };
        auto solver = made(A, options);
        record_.setup = solver.setup();
        record_.papers = papers(chosen(record_.setup, file_.solver));
        const auto& s = record_.setup;
        log::debug("{} unknowns, {} entries, {} colours ({}), numbering {}, format {}, preconditioner {}, iteration {}: set up in {:.3g} s",
                   s.rows, s.nonzeros, s.colors, s.ordering, s.numbering, s.format, s.precondition, s.iteration, s.total_seconds);
        log::debug("chosen by {}: {}", s.decision.by, s.decision.reason);
        for (const auto& note : s.notes) log::info("{}", note);
        record_.notes.insert(record_.notes.end(), s.notes.begin(), s.notes.end());
        return solver;
    }

    sparse::Solver made(const sparse::CsrMatrix& A, const sparse::SolverOptions& options) {
        try {
            return {file_.space, A.view(), options};
        } catch (const sparse::PreconditionError& error) {
            throw ComputationError(fmt::format("{}: solver.precondition: {}", file_.path.string(), error.what()));
        }
    }

    void solve(sparse::Solver& solver, const std::vector<double>& b, const RunControls& controls) {
        auto& x = solution_.potential;
        if (x.empty()) x.assign(b.size(), 0.0);
        solution_.cells = file_.problem.cells;
        for (const int d : {0, 1, 2}) solution_.faces[static_cast<std::size_t>(d)] = sparse::cell_faces(file_.problem, d);
        Progress progress(controls.progress, record_.title, 1);
        double farthest = 0;
        const int begun_at = record_.log.iterations;
        bool checkpointed = false;
        for (int left = file_.solver.iteration_limit; left > 0 && !interrupted_;) {
            solver.set_tolerance(file_.solver.rtol, left);
            const Stopwatch since_checkpoint;
            const auto stop = [&](int iteration, double residual) {
                if (residual > 0 && file_.solver.rtol < 1)
                    farthest = std::clamp(std::log(residual) / std::log(file_.solver.rtol), farthest, 1.0);
                progress.update(farthest,
                                fmt::format("iteration {}, ||r|| / ||b|| = {:.1e}", record_.log.iterations + iteration, residual));
                if (controls.stop()) return interrupted_ = true;
                return file_.checkpoint_every > 0 && iteration > 0 && since_checkpoint.seconds() >= file_.checkpoint_every;
            };
            const auto life = checkpointed ? solver.go_on(view(b), view(x), stop) : solver.solve(view(b), view(x), stop);
            auto& all = record_.log;
            append(solution_.history, life.history, all.iterations);
            if (auto& last = solution_.history; !last.empty() && std::isnan(last.back().relative))
                last.back().relative = life.true_residual;
            all.end = life.end;
            all.iterations += life.iterations;
            all.residual = life.residual, all.true_residual = life.true_residual, all.mean_removed = life.mean_removed;
            all.restarts += life.restarts;
            all.seconds += life.seconds, all.iteration_seconds += life.iteration_seconds;
            left = file_.solver.iteration_limit - (all.iterations - begun_at);
            if (life.end != krylov::CgEnd::stopped) {
                interrupted_ = false;  // it came to its end before it looked
                return;
            }
            if (interrupted_) return;
            if (left <= 0) all.end = krylov::CgEnd::iteration_limit;
            progress.clear();
            save_iterate();
            write_record();
            checkpointed = true;
        }
    }

    void save_iterate() {
        measure();
        solution_.record = to_json(record_);
        write_iterate(directory_.checkpoint(record_.log.iterations), solution_);
        directory_.keep_checkpoints(2);
        log::debug("iteration {}, ||b - A x|| / ||b|| = {:.2e}: checkpoint", record_.log.iterations, record_.log.true_residual);
    }

    void write_results(const sparse::PoissonProblem& problem) {
        const bool converged = record_.log.converged();
        if (!converged) record_.message = why();
        finish(converged ? "done" : "not converged");
        solution_.record = to_json(record_);
        write_solution(directory_.solution(), solution_, problem, record_, file_.resolved);
        write_xdmf(directory_.xdmf(), directory_.solution().filename().string(), problem, record_.title);
        directory_.keep_checkpoints(0);  // the solution is what the run goes on from, if it goes on
        write_record();
    }

    /// Why it did not converge, and what helps.
    std::string why() const {
        const auto& l = record_.log;
        auto text = fmt::format("not converged after {} iterations ({}): ||b - A x|| / ||b|| is {:.2e}, and {:.2e} was wanted. ",
                                l.iterations, krylov::name(l.end), l.true_residual, file_.solver.rtol);
        switch (l.end) {
            case krylov::CgEnd::iteration_limit:
                return text + fmt::format("`kasane resume {}` goes on; a new run takes a larger solver.max_iterations",
                                          directory_.path().string());
            case krylov::CgEnd::stagnated: return text + "Rounding allows no smaller residual: take a larger solver.rtol";
            case krylov::CgEnd::not_finite:
                return text + "Numbers left the range of doubles: choose other units for grid.spacing, coefficient, source and boundary";
            case krylov::CgEnd::preconditioner_not_positive: return text + "Take solver.precondition = \"jacobi\"";
            default: return text + "The coefficients or widths may span too many orders of magnitude for double precision";
        }
    }

    /// Least, greatest and mean value of the potential, and the time so far.
    void measure() {
        record_.segments.back().last_iteration = record_.log.iterations;
        record_.segments.back().seconds = life_.seconds();
        record_.seconds = seconds_before_ + life_.seconds();
        const auto& x = solution_.potential;
        if (x.empty()) return;
        const auto [least, greatest] = std::ranges::minmax_element(x);
        CompensatedSum<double> sum;
        for (const double value : x) sum.add(value);
        record_.least = *least, record_.greatest = *greatest, record_.mean = sum.value() / static_cast<double>(x.size());
    }

    void finish(const std::string& status) {
        record_.status = status;
        record_.finished = iso_time_now();
        measure();
    }

    void write_record() { write_atomically(directory_.record(), to_json(record_)); }

    const PoissonFile& file_;
    const RunDirectory& directory_;
    Solution solution_;
    PoissonRecord record_;
    double seconds_before_ = 0;
    bool interrupted_ = false;
    Stopwatch life_;
};

PoissonResult result_of(const PoissonRecord& record, std::vector<sparse::ResidualPoint> history, const RunDirectory& directory) {
    PoissonResult result{directory.path(), {}, record.status, record.message, record.seconds, record.setup, record.log};
    result.log.history = std::move(history);
    return result;
}

PoissonResult finish(const PoissonRecord& record, std::vector<sparse::ResidualPoint> history, const RunDirectory& directory, bool report) {
    auto result = result_of(record, std::move(history), directory);
    log::debug("{}: {} iterations in {:.3g} s, ||b - A x|| / ||b|| = {:.2e}", record.status, record.log.iterations, record.log.seconds,
               record.log.true_residual);
    if (record.status == "interrupted" || !report) return result;
    try {
        result.report = write_report(directory.path());
    } catch (const Error& error) {  // the computation itself is done and saved
        log::warning("no report was written: {}", error.what());
    }
    return result;
}

/// Of a run that was done when it was to be resumed: nothing is computed or written.
PoissonResult finished_before(const PoissonRecord& record, std::vector<sparse::ResidualPoint> history, const RunDirectory& directory) {
    log::info("{}: the run is done already, nothing is changed", record.title);
    auto result = result_of(record, std::move(history), directory);
    result.report = directory.existing_report();
    return result;
}

PoissonResult go(const PoissonFile& file, const RunDirectory& directory, std::optional<sparse::PoissonProblem> problem, Solution before,
                 PoissonRecord record, const RunControls& controls) {
    const auto [nx, ny, nz] = file.problem.cells;
    const int from = record.log.iterations;
    log::info("{}: {} x {} x {} cells on {}{}, in {}", file.title, nx, ny, nz, device_info(file.space).name,
              from > 0 ? fmt::format(", going on from iteration {}", from) : "", directory.path().string());
    PoissonRun run(file, directory, std::move(before), std::move(record));
    const auto& done = run.go(std::move(problem), controls);
    return finish(done, run.history(), directory, file.report);
}

}  // namespace

PoissonResult start(const PoissonFile& file, RunDirectory::Existing existing, const RunControls& controls) {
    RunDirectory::check_free(file.directory, existing);
    check_memory(file);
    auto problem = load(file);
    controls.throw_if_stopped();
    const auto directory = RunDirectory::create(file.directory, existing, {"checkpoints"});
    write_atomically(directory.run_file(), file.resolved);
    const log::FileSink log_file(directory.log());
    return go(file, directory, std::move(problem), {}, {}, controls);
}

PoissonResult resume_poisson(const fs::path& path, const std::vector<io::Setting>& settings, const RunControls& controls) {
    const auto directory = RunDirectory::open(path);
    auto newest = newest_checkpoint(directory, read_solution);
    auto& before = newest.checkpoint;
    if (!before && fs::exists(directory.solution())) before = read_solution(directory.solution());
    if (!before && directory.recorded_status() == "done")
        return finished_before(poisson_record_from_json(*content(directory.record()), directory.record()), {}, directory);
    const auto file = read_poisson_file(directory.run_file(), settings);
    PoissonRecord record;
    if (before) {
        const auto cells = [](const auto& n) { return KeptKeys{{"grid.cells", fmt::format("{} x {} x {}", n[0], n[1], n[2])}}; };
        check_kept(cells(file.problem.cells), cells(before->cells), directory.run_file());
        KS_VALIDATE(std::ranges::all_of(before->potential, [](double v) { return std::isfinite(v); }),
                    "ended with values that are not finite: there is nothing to go on from. Start a new run", {path.string(), 0, 0, ""});
        record = poisson_record_from_json(before->record, path);
        if (record.status == "done" && directory.recorded_status() == "done")
            return finished_before(record, std::move(before->history), directory);
    }
    check_memory(file);
    const log::FileSink log_file(directory.log());
    if (!before) log::warning("the run was stopped before its first checkpoint: it starts from the beginning");
    set_aside(newest.unreadable);
    directory.make_folders({"checkpoints"});
    return go(file, directory, {}, before ? std::move(*before) : Solution{}, std::move(record), controls);
}

}  // namespace kasane::run
