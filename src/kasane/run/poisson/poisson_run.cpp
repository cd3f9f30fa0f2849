#include <kasane/core/base/counted.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/log.hpp>
#include <kasane/core/math/compensated.hpp>
#include <kasane/run/driver/loop.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>
#include <kasane/run/poisson/poisson.hpp>
#include <kasane/run/poisson/poisson_file.hpp>
#include <kasane/run/poisson/poisson_output.hpp>
#include <kasane/run/poisson/solve_summary.hpp>
#include <kasane/sparse/distributed/distributed_poisson_solver.hpp>
#include <kasane/sparse/poisson/tensor_scheme.hpp>
#include <kasane/sparse/poisson_solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kasane::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* results = "solution.hdf5";
constexpr const char* description = "solution.xmf";

std::string words(const std::vector<double>& widths) {
    const auto [least, most] = std::ranges::minmax(widths);
    return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

/// The options that the set-up chose, for the papers.
sparse::SolverOptions chosen(const sparse::SetupFacts& setup, sparse::SolverOptions options) {
    try {
        options.ordering = sparse::Ordering::parse(setup.ordering);
        options.format = sparse::Format::parse(setup.format);
        options.iteration = sparse::parse_iteration(setup.iteration);
        options.precondition = sparse::parse_precondition(setup.precondition);
    } catch (const InputError&) {  // names that do not parse: the options of the run file
    }
    return options;
}

/// Appends a history. Norms of the new one are relative to the iterate that it begins with.
void append(std::vector<sparse::ResidualPoint>& to, const std::vector<sparse::ResidualPoint>& from, int offset) {
    const double scale = to.empty() ? 1 : to.back().preconditioned;
    for (const auto& point : from) {
        if (!to.empty() && point.iteration == 0) continue;
        to.push_back({point.iteration + offset, point.preconditioned * scale, point.relative});
    }
}

class PoissonRun : public Run {
   public:
    PoissonRun(PoissonFile file, RankCoordinator& ranks) : file_(std::move(file)), ranks_(ranks) {}

    const RunFile& file() const override { return file_; }
    Record& record() override { return record_; }
    io::Json part() const override { return part_of(record_); }
    std::vector<RunMemory> memory() const override {
        if (several()) return memory_on_workers(file_, ranks_);
        return {run::memory(file_)};
    }
    RunSize size() const override { return {cell_text(file_.problem), "cells", file_.cells}; }

    std::string memory_line(const RunMemory& memory) const override { return "memory at most: " + memory_text(memory); }
    bool results_in(const RunDirectory& directory) const override { return fs::exists(directory.path() / description); }

    Summary check(const RunControls&) override {
        load(file_);  // a formula can be infinite in a cell, or a file damaged
        const auto rows = file_.problem.rows(), nonzeros = sparse::poisson_nonzeros(file_.problem);
        return {{{"cells", file_.problem.cells}, {"n", rows}, {"nonzeros", nonzeros}},
                fmt::format("{} unknowns, {} entries", rows, nonzeros)};
    }

    void create(const RunControls& controls) override {
        problem_ = load(file_);
        controls.throw_if_stopped();
    }

    void restore(Checkpoint& from) override {
        record_ = poisson_record_from_json(from.record, file_.path);
        auto* iterate = dynamic_cast<Solution*>(&from);
        if (!iterate) return;
        const auto cells = [](const auto& n) { return KeptKeys{{"grid.cells", fmt::format("{} x {} x {}", n[0], n[1], n[2])}}; };
        check_kept(cells(file_.problem.cells), cells(iterate->cells), file_.path);
        KS_VALIDATE(std::ranges::all_of(iterate->potential, [](double v) { return std::isfinite(v); }),
                    "ended with values that are not finite: it cannot continue. Start a new run",
                    {file_.path.parent_path().string(), 0, 0, ""});
        solution_ = std::move(*iterate);
        ended_ = record_.status == "done";
    }

    std::int64_t progress() const override { return record_.log.iterations; }
    bool done() const override { return ended_; }
    double total() const override { return 1; }
    std::string headline() const override {
        return fmt::format("{} cells on {}{}", cell_text(file_.problem), device_info(file_.space).name,
                           progress() > 0 ? fmt::format(", continues from iteration {}", progress()) : "");
    }

    void begin(Loop& loop) override {
        directory_ = loop.directory().path();
        describe();
        loop.write_record();
        const Stopwatch watch;
        if (!problem_) problem_ = load(file_);
        if (ended_) return;
        b_ = sparse::poisson_rhs(*problem_);
        if (file_.multigrid && !sparse::geometric_multigrid_pays(*problem_)) {
            file_.multigrid = several();
            record_.notes.push_back(fmt::format(
                "eigenvalues of the tensor differ by a factor of up to {:.3g}, relative to its mean diagonal: multigrid is {}",
                sparse::tensor_anisotropy(*problem_),
                several()
                    ? "geometric, the only one of several workers, and may take many iterations; one worker takes smoothed aggregation"
                    : "that of the matrix, by smoothed aggregation"));
        }
        if (file_.multigrid)
            set_up_multigrid(watch);
        else
            solver_.emplace(set_up(loop, watch));
        left_ = file_.solver.iteration_limit;
        auto& x = solution_.potential;
        if (x.empty()) x.assign(b_.size(), 0.0);
        solution_.cells = file_.problem.cells;
        for (const int d : {0, 1, 2}) solution_.faces[static_cast<std::size_t>(d)] = sparse::cell_faces(file_.problem, d);
    }

    void advance(Loop& loop) override {
        const auto stop = [&](int iteration, double residual) {
            if (residual > 0 && file_.solver.rtol < 1)
                farthest_ = std::clamp(std::log(residual) / std::log(file_.solver.rtol), farthest_, 1.0);
            loop.show(farthest_, fmt::format("iteration {}, ||r|| / ||b|| = {:.1e}", record_.log.iterations + iteration, residual));
            return iteration > 0 ? loop.pause() : loop.controls().stop();
        };
        auto& x = solution_.potential;
        const auto now = solve(view(b_), view(x), stop);
        auto& all = record_.log;
        append(solution_.history, now.history, all.iterations);
        if (auto& last = solution_.history; !last.empty() && std::isnan(last.back().relative)) last.back().relative = now.true_residual;
        all.end = now.end;
        all.iterations += now.iterations, left_ -= now.iterations;
        all.residual = now.residual, all.true_residual = now.true_residual, all.mean_removed = now.mean_removed;
        all.restarts += now.restarts;
        all.seconds += now.seconds, all.iteration_seconds += now.iteration_seconds;
        if (all.end == krylov::Outcome::stopped && left_ <= 0 && !loop.controls().stop()) all.end = krylov::Outcome::iteration_limit;
        ended_ = all.end != krylov::Outcome::stopped;
        if (ended_ && open_mean_) take_out_mean(x);
    }

    /// Writes the checkpoint itself, because a copy of the solution would take much memory.
    std::function<void()> save(Loop& loop, const fs::path& path) override {
        solution_.record = loop.record();
        write_iterate(path, solution_);
        log::debug("iteration {}, ||b - A x|| / ||b|| = {:.2e}: checkpoint", record_.log.iterations, record_.log.true_residual);
        return {};
    }

    void complete(Loop& loop) override {
        solver_.reset();  // writing takes memory of its own
        multigrid_.reset();
        on_workers_.reset();
        std::vector<double>().swap(b_);
        solution_.record = loop.record();
        write_solution(directory_ / results, solution_, *problem_, record_, file_.resolved);
        write_xdmf(directory_ / description, results, *problem_, record_.title);
    }

    std::string outcome() override {
        if (record_.log.converged()) return "done";
        record_.message = why();
        return "not converged";
    }

    /// Least, greatest and mean value of the potential.
    void update() override {
        const auto& x = solution_.potential;
        if (x.empty()) return;
        const auto [least, greatest] = std::ranges::minmax_element(x);
        CompensatedSum<double> sum;
        for (const double value : x) sum.add(value);
        record_.least = *least, record_.greatest = *greatest, record_.mean = sum.value() / static_cast<double>(x.size());
    }

    Summary summary(const fs::path&) const override {
        auto log = record_.log;
        log.history = solution_.history;
        return {as_json(record_.setup, log), as_text(record_.setup, log)};
    }

   private:
    bool several() const { return file_.workers() * ranks_.size() > 1; }

    /// Records the problem.
    void describe() {
        auto& r = record_;
        r.cells = file_.problem.cells;
        for (std::size_t d = 0; d < 3; ++d) {
            r.size[d] = sparse::cell_faces(file_.problem, static_cast<int>(d)).back();
            r.spacing[d] = words(file_.problem.spacing[d]);
        }
        r.boundary = file_.problem.boundary;
        r.source = field_text(file_.source);
        r.coefficient = coefficient_text(file_);
        r.tensor = file_.problem.has_tensor();
        r.rtol = file_.solver.rtol;
        r.iteration_limit = file_.solver.iteration_limit;
        if (!ended_) r.notes.clear();  // the set-up gives them again
    }

    /// Solves from x, up to the tolerance or a stop, which a later call continues.
    sparse::SolveLog solve(View<const double> b, View<double> x, const sparse::StopFunction& stop) {
        const auto by_multigrid = [&](auto& solver) {
            solver.set_tolerance(file_.solver.rtol, std::max(1, left_));
            return solver.solve(b, x, stop);
        };
        if (multigrid_) return by_multigrid(*multigrid_);
        if (on_workers_) return by_multigrid(*on_workers_);
        solver_->set_tolerance(file_.solver.rtol, left_);
        return std::exchange(continued_, true) ? solver_->go_on(b, x, stop) : solver_->solve(b, x, stop);
    }

    void set_up_multigrid(const Stopwatch& watch) {
        record_.assembly_seconds = watch.seconds();
        const sparse::PoissonSolverOptions options{file_.solver.rtol, file_.solver.iteration_limit};
        const int workers = file_.workers() * ranks_.size();
        if (several())
            on_workers_.emplace(ranks_.workers(poisson_kind.name, file_.here), file_.here, *problem_, options);
        else
            multigrid_.emplace(file_.space, *problem_, options);
        const auto& made = several() ? on_workers_->setup() : multigrid_->setup();
        auto& s = record_.setup = {};
        s.rows = problem_->rows();
        s.nonzeros = sparse::poisson_nonzeros(*problem_);
        s.device = device_info(file_.space).name;
        if (several()) s.device = fmt::format("{} workers, the first on {}", workers, s.device);
        s.precondition = "multigrid";
        s.singular = problem_->singular();
        s.bytes = s.peak_bytes = made.bytes;
        s.bytes_per_iteration = sparse::multigrid_bytes(*problem_, !std::holds_alternative<Cpu>(file_.space)).all();
        s.total_seconds = made.seconds;
        s.seconds = {{"grids", made.seconds}};
        s.decision = {.by = "options", .reason = several() ? "several workers take multigrid" : "multigrid was asked for"};
        const auto& coarsest = made.grids.back();
        s.notes.push_back(fmt::format("multigrid of {} grids{}, the coarsest with {} x {} x {} cells", made.grids.size(),
                                      problem_->couples_directions() ? " for the diagonal part of the tensor" : "", coarsest[0],
                                      coarsest[1], coarsest[2]));
        record_.papers = papers(true, file_.solver);
        record_.notes.insert(record_.notes.end(), s.notes.begin(), s.notes.end());
        log::debug("{} unknowns, {}: set up in {:.3g} s", s.rows, s.notes.back(), s.total_seconds);
    }

    sparse::Solver set_up(Loop& loop, const Stopwatch& watch) {
        const auto& controls = loop.controls();
        const auto A = sparse::poisson_matrix(*problem_);
        record_.assembly_seconds = watch.seconds();
        auto options = file_.solver;
        Progress bar(controls.progress, "tuning", 1);
        options.tune_progress = [&](double share, const std::string& what) { bar.update(share, what); };
        options.check_stop = [&] { controls.throw_if_stopped(); };
        auto solver = make_solver(A, options);
        record_.setup = solver.setup();
        open_mean_ = problem_->singular() && !record_.setup.singular;
        record_.setup.singular = problem_->singular();
        record_.papers = papers(false, chosen(record_.setup, file_.solver));
        const auto& s = record_.setup;
        log::debug("{} unknowns, {} entries, {} colours ({}), numbering {}, format {}, preconditioner {}, iteration {}: set up in {:.3g} s",
                   s.rows, s.nonzeros, s.colors, s.ordering, s.numbering, s.format, s.precondition, s.iteration, s.total_seconds);
        log::debug("chosen by {}: {}", s.decision.by, s.decision.reason);
        for (const auto& note : s.notes) log::info("{}", note);
        record_.notes.insert(record_.notes.end(), s.notes.begin(), s.notes.end());
        return solver;
    }

    static void take_out_mean(std::vector<double>& x) {
        CompensatedSum<double> sum;
        for (const double value : x) sum.add(value);
        const double mean = sum.value() / static_cast<double>(x.size());
        for (double& value : x) value -= mean;
    }

    sparse::Solver make_solver(const sparse::CsrMatrix& A, const sparse::SolverOptions& options) {
        try {
            return {file_.space, A.view(), options};
        } catch (const sparse::PreconditionError& error) {
            throw ComputationError(fmt::format("{}: solver.precondition: {}", file_.path.string(), error.what()));
        }
    }

    /// The reason why it did not converge, and a remedy.
    std::string why() const {
        const auto& l = record_.log;
        auto text = fmt::format("not converged after {} ({}): ||b - A x|| / ||b|| is {:.2e}, and {:.2e} was requested. ",
                                counted(l.iterations, "iteration"), krylov::name(l.end), l.true_residual, file_.solver.rtol);
        switch (l.end) {
            case krylov::Outcome::iteration_limit:
                return text +
                       fmt::format("`kasane resume {}` continues; a new run needs a larger solver.max_iterations", directory_.string());
            case krylov::Outcome::stagnated: return text + "Rounding allows no smaller residual: take a larger solver.rtol";
            case krylov::Outcome::not_finite:
                return text + "Numbers left the range of doubles: choose other units for grid.spacing, coefficient, source and boundary";
            case krylov::Outcome::preconditioner_not_positive:
                return text + fmt::format("Take solver.precondition = \"{}\"", file_.multigrid ? "ic0" : "jacobi");
            default: return text + "The coefficients or widths may span too many orders of magnitude for double precision";
        }
    }

    PoissonFile file_;
    RankCoordinator& ranks_;
    PoissonRecord record_;
    fs::path directory_;
    Solution solution_;
    std::optional<sparse::PoissonProblem> problem_;
    std::vector<double> b_;
    std::optional<sparse::Solver> solver_;
    std::optional<sparse::PoissonSolver> multigrid_;              ///< in place of solver_
    std::optional<sparse::DistributedPoissonSolver> on_workers_;  ///< the same with several workers
    int left_ = 0;                                                ///< iterations that this segment may still take
    double farthest_ = 0;                                         ///< largest share that the progress bar has shown
    bool continued_ = false;                                      ///< has the solver iterated in this segment?
    bool open_mean_ = false;                                      ///< Solver did not find that constants are the null space
    bool ended_ = false;
};

std::unique_ptr<Run> read_poisson(const RunSource& source) { return std::make_unique<PoissonRun>(read_poisson_file(source), source.ranks); }

std::unique_ptr<Checkpoint> read_poisson_checkpoint(const fs::path& path) { return std::make_unique<Solution>(read_solution(path)); }

Manifest poisson_manifest(const io::Json&) { return {.files = {results, description}, .series = {}}; }

}  // namespace

const Kind poisson_kind{.name = "poisson",
                        .step = "iteration",
                        .folders = {},
                        .manifest = poisson_manifest,
                        .checkpoints_when_done = 0,
                        .results = results,
                        .read = read_poisson,
                        .read_checkpoint = read_poisson_checkpoint,
                        .page = poisson_page,
                        .worker = sparse::distributed_poisson_loop};

}  // namespace kasane::run
