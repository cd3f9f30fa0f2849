#include <bench/benchmarks.hpp>
#include <bench/sparse/box_solution.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kasane::bench {

using namespace sparse;

double SparseProblem::error(const std::vector<double>& x) const {
    double worst = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
        const double error = std::abs(x[i] / exact[i] - 1);
        if (!(error <= worst)) worst = error;  // NaN counts as the largest error
    }
    return worst;
}

const SparseProblem& SparseProblems::box(index_t side) {
    KS_VALIDATE(side <= 1290, fmt::format("--n {}: of these benchmarks n is the number of cells along an edge, and a box of more than "
                                          "1290^3 has more rows than a matrix may have. Try --n 128",
                                          side));
    if (box_ && box_->side == side) return *box_;
    box_.reset();
    PoissonProblem problem;
    problem.cells = {side, side, side};
    problem.source = source_of(problem, "i + j + k");
    box_ = SparseProblem{side, poisson_matrix(problem), poisson_rhs(problem), box_solution(side)};
    return *box_;
}

namespace {
std::string key_of(const AnySpace& on) { return name(on) + threads_label(on); }
}  // namespace

double SparseProblems::our_seconds(const AnySpace& on, index_t side) {
    const auto key = key_of(on) + fmt::format(", {}", side);
    if (const auto at = seconds_.find(key); at != seconds_.end()) return at->second;
    const auto& problem = box(side);
    Solver solver(on, problem.matrix.view());
    return seconds_[key] = measure(solver, problem).solve.seconds;
}

void SparseProblems::remember(const AnySpace& on, index_t side, double seconds) {
    seconds_[key_of(on) + fmt::format(", {}", side)] = seconds;
}

Scheme scheme(const std::string& ordering, Iteration iteration, const std::string& format, bool single_factor) {
    SolverOptions options;
    options.ordering = Ordering::parse(ordering);
    options.format = Format::parse(format);
    options.iteration = iteration;
    options.single_factor = single_factor;
    options.tune = Tuning::off;
    return {ordering + ", " + sparse::name(iteration) + (single_factor ? ", float factor" : ""), options};
}

Measured measure(Solver& solver, const SparseProblem& problem) {
    Measured measured;
    measured.setup = solver.setup();
    std::vector<double> x;
    std::vector<SolveLog> logs;
    for (double spent = 0; logs.empty() || (logs.size() < 5 && spent < 3);) {
        x.assign(problem.rhs.size(), 0.);
        logs.push_back(solver.solve(view(problem.rhs), view(x)));
        spent += logs.back().seconds;
    }
    std::sort(logs.begin(), logs.end(), [](const SolveLog& a, const SolveLog& b) { return a.seconds < b.seconds; });
    measured.log = logs[logs.size() / 2];
    measured.solve = {measured.log.seconds, (logs.back().seconds - logs.front().seconds) / measured.log.seconds};
    measured.iteration_seconds = measured.log.iteration_seconds;
    measured.error = problem.error(x);
    return measured;
}

double seconds_per_iteration(Solver& solver, const std::vector<double>& rhs, int iterations) {
    solver.set_tolerance(1e-300, iterations);
    double best = std::numeric_limits<double>::infinity();
    std::vector<double> x(rhs.size());
    for (int run = 0; run < 3; ++run) {
        std::fill(x.begin(), x.end(), 0.);
        const auto log = solver.solve(view(rhs), view(x));
        best = std::min(best, log.iteration_seconds / std::max(log.iterations, 1));
    }
    return best;
}

std::string words(const SetupFacts& setup) {
    std::string text;
    for (const auto* word : {&setup.ordering, &setup.numbering, &setup.format, &setup.precondition, &setup.iteration, &setup.launch})
        if (!word->empty()) text += (text.empty() ? "" : ", ") + *word;
    for (const auto& note : setup.notes) text += "; " + note;
    return text;
}

BenchmarkResult row_of(const std::string& name, const Measured& measured, const MemorySpeed& speed) {
    const auto& [log, setup, solve, iteration_seconds, error] = measured;
    BenchmarkResult row;
    row.name = name;
    row.n = setup.rows;
    row.seconds = solve.seconds, row.spread = solve.spread;
    row.rate = setup.bytes_per_iteration * log.iterations / iteration_seconds;
    row.unit = "bytes/s";
    row.bound = speed.triad;
    row.bound_reason = words(speed);
    row.error = error;
    const auto per_row = [&](auto value) { return static_cast<double>(value) / static_cast<double>(setup.rows); };
    row.more = {{"iterations", log.iterations},
                {"iteration_seconds", iteration_seconds},
                {"seconds_per_iteration", iteration_seconds / std::max(log.iterations, 1)},
                {"bytes_per_iteration", setup.bytes_per_iteration},
                {"bytes_per_row", per_row(setup.bytes_per_iteration)},
                {"of_read", row.rate / speed.read},
                {"colors", setup.colors},
                {"barriers", setup.barriers_per_iteration},
                {"true_residual", log.true_residual},
                {"memory_per_row", per_row(setup.bytes)},
                {"peak_per_row", per_row(setup.peak_bytes)},
                {"setup_seconds", setup.total_seconds}};
    for (const auto& [part, seconds] : setup.seconds) row.more.emplace_back("setup_" + part + "_seconds", seconds);
    row.note = words(setup);
    if (!log.converged()) row.note = fmt::format("NOT CONVERGED, {}: {}", krylov::name(log.end), row.note);
    return row;
}

BenchmarkResult absent(const std::string& name, index_t n, const std::string& reason) {
    BenchmarkResult row;
    row.name = name, row.n = n, row.note = reason, row.unit = "bytes/s";
    row.seconds = row.rate = row.error = std::numeric_limits<double>::quiet_NaN();
    return row;
}

std::vector<index_t> sides_or(const BenchmarkContext& context, const std::vector<index_t>& on_cpu, const std::vector<index_t>& on_gpu) {
    if (!context.sizes.empty()) return context.sizes;
    return std::holds_alternative<Cpu>(context.space) ? on_cpu : on_gpu;
}

std::vector<Benchmark> sparse_studies() {
    const auto shared = std::make_shared<SparseProblems>();
    return {
        sparse_triad(shared),   sparse_solve(shared),  sparse_peer_eigen(shared), sparse_peer_cusparse(shared),    sparse_colors(shared),
        sparse_formats(shared), sparse_openmp(shared), sparse_multigrid(shared),  sparse_multigrid_device(shared), sparse_general(),
        sparse_blocks(),        sparse_matrices(),     sparse_scaling()};
}

}  // namespace kasane::bench
