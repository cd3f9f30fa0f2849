// sparse.matrices: ten matrices of different origin by every named choice, by auto, and by the solvers of other libraries.
#include <bench/sparse/matrices/matrices.hpp>
#include <bench/sparse/peers/matrix_peers.hpp>
#include <bench/sparse/processor_clock.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/block/blocked_rows.hpp>
#include <kasane/sparse/general_solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::bench {

using namespace sparse;

namespace {

constexpr double rtol = 1e-8;

/// A solve from compressed rows: set-up and iterations.
struct Whole {
    SetupFacts setup;
    SolveLog log;
    std::vector<double> x;
    double seconds = 0, processor_seconds = 0;
};

Whole by_solver(const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b, Precondition precondition, int rows_per_node = 1,
                const MatrixKind* kind = nullptr) {
    const Stopwatch watch;
    SolverOptions options;
    options.near_null.rows_per_node = rows_per_node;
    options.precondition = precondition;
    options.tune = Tuning::off;
    options.rtol = rtol;
    Solver solver = kind ? Solver(on, A.view(), *kind, options) : Solver(on, A.view(), options);
    Whole out;
    out.x = solver.solve(b, &out.log);
    out.seconds = watch.seconds();
    out.setup = solver.setup();
    return out;
}

Whole by_general(const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b, GeneralMethod method,
                 GeneralPrecondition precondition, const MatrixKind* kind = nullptr) {
    const Stopwatch watch;
    GeneralOptions options;
    options.method = method;
    options.precondition = precondition;
    options.rtol = rtol;
    GeneralSolver solver = kind ? GeneralSolver(on, A.view(), *kind, options) : GeneralSolver(on, A.view(), options);
    Whole out;
    out.x = solver.solve(b, &out.log);
    out.seconds = watch.seconds();
    out.setup = solver.setup();
    return out;
}

/// As `kasane solve --precondition auto`.
Whole by_auto(const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b) {
    const Stopwatch watch;
    const auto kind = kind_of(A.view());
    Whole out = kind.positive ? by_solver(on, A, b, Precondition::automatic, 1, &kind)
                              : by_general(on, A, b, GeneralMethod::automatic, GeneralPrecondition::automatic, &kind);
    out.seconds = watch.seconds();
    return out;
}

struct Named {
    std::string name;
    std::function<Whole(const AnySpace&, const CsrMatrix&, const std::vector<double>&)> solve;
};

std::vector<Named> choices(const CsrMatrix& matrix, bool symmetric) {
    std::vector<Named> all{{"auto", by_auto}};
    if (symmetric) {
        if (const int block = block_that_fits(matrix.view()); block > 1)
            all.push_back({fmt::format("cg, multigrid, nodes of {} rows", block),
                           [block](const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b) {
                               return by_solver(on, A, b, Precondition::multigrid, block);
                           }});
        for (const auto kind :
             {Precondition::jacobi, Precondition::ssor, Precondition::ic0, Precondition::ick, Precondition::ict, Precondition::multigrid})
            all.push_back({"cg, " + sparse::name(kind), [kind](const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b) {
                               return by_solver(on, A, b, kind);
                           }});
    } else {
        for (const auto method : {GeneralMethod::bicgstab, GeneralMethod::gmres})
            for (const auto kind :
                 {GeneralPrecondition::jacobi, GeneralPrecondition::spai, GeneralPrecondition::ilu0, GeneralPrecondition::ilut})
                all.push_back({sparse::name(method) + ", " + sparse::name(kind),
                               [method, kind](const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b) {
                                   return by_general(on, A, b, method, kind);
                               }});
    }
    return all;
}

/// The runs of a choice.
struct Runs {
    Named choice;
    std::vector<Whole> all;
    std::string failure;

    void add(const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b) {
        constexpr double long_solve = 3;  // seconds, which are run once
        if (!failure.empty() || (!all.empty() && all.front().seconds > long_solve)) return;
        try {
            const ProcessorClock clock;
            all.push_back(choice.solve(on, A, b));
            all.back().processor_seconds = clock.seconds();
        } catch (const Error& failed) {  // an InputError: the memory is short
            failure = failed.what();
        }
    }
    /// By time.
    const Whole& median(double& spread) {
        std::ranges::sort(all, {}, &Whole::seconds);
        const Whole& middle = all[all.size() / 2];
        spread = (all.back().seconds - all.front().seconds) / middle.seconds;
        return middle;
    }
};

/// All choices in three rounds: a machine that is slower for some seconds is so for all of them.
std::vector<Runs> in_rounds(const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b, bool symmetric) {
    std::vector<Runs> all;
    for (auto& choice : choices(A, symmetric)) all.push_back({std::move(choice), {}, {}});
    for (int round = 0; round < 3; ++round)
        for (auto& runs : all) runs.add(on, A, b);
    return all;
}

/// What auto is compared with.
struct Best {
    std::string name;
    double seconds = INFINITY, processor_seconds = INFINITY;
    void see(const std::string& other, double its_seconds, double its_processor_seconds) {
        seconds = std::min(seconds, its_seconds);
        if (its_processor_seconds >= processor_seconds) return;
        name = other;
        processor_seconds = its_processor_seconds;
    }
};

/// auto beside the best named choice and the best peer.
BenchmarkResult comparison(const std::string& name, const CsrMatrix& A, const Whole& automatic, const Best& choice, const Best& peer) {
    BenchmarkResult row;
    row.name = name;
    row.n = A.rows();
    row.seconds = automatic.seconds;
    row.rate = automatic.log.iterations / automatic.seconds;
    row.unit = "iterations/s";
    row.more = {{"over_best_choice", automatic.seconds / choice.seconds},
                {"processor_over_best_choice", automatic.processor_seconds / choice.processor_seconds}};
    if (std::isfinite(peer.seconds)) {
        row.more.emplace_back("best_peer_over_auto", peer.seconds / automatic.seconds);
        row.more.emplace_back("processor_best_peer_over_auto", peer.processor_seconds / automatic.processor_seconds);
    }
    row.note = fmt::format("best choice {}, best peer {}, by processor time", choice.name, peer.name.empty() ? "none" : peer.name);
    return row;
}

void run_matrices(const BenchmarkContext& context) {
    Speeds speeds;
    const auto& speed = speeds.of(context.space);
    for (const index_t size : sides_or(context, {200'000}, {1'000'000}))
        for (const auto& kind : test_matrices()) {
            const CsrMatrix A = kind.make(size);
            RandomStream random(1, 0);
            std::vector<double> b(static_cast<std::size_t>(A.rows()));
            for (auto& one : b) one = 2 * random.uniform() - 1;
            const auto label = "sparse.matrices, " + kind.name + ": ";
            Whole automatic;
            automatic.seconds = automatic.processor_seconds = NAN;
            Best best_choice, best_peer;
            for (auto& runs : in_rounds(context.space, A, b, kind.symmetric)) {
                BenchmarkResult row;
                row.name = label + runs.choice.name + threads_label(context.space);
                row.n = A.rows();
                row.unit = "bytes/s";
                if (!runs.failure.empty()) {
                    context.report(absent(row.name, row.n, runs.failure));
                    continue;
                }
                const Whole& done = runs.median(row.spread);
                row.seconds = done.seconds;
                row.error = relative_residual(A, b, done.x);
                row.bound = speed.triad;
                row.bound_reason = words(speed);
                row.rate = done.setup.bytes_per_iteration * done.log.iterations / done.log.iteration_seconds;
                const bool solved = done.log.converged() && row.error <= 1.001 * rtol;
                if (runs.choice.name == "auto" && solved) automatic = done;
                if (runs.choice.name != "auto" && solved) best_choice.see(runs.choice.name, done.seconds, done.processor_seconds);
                row.more = {{"nonzeros", static_cast<double>(A.nonzeros())},
                            {"solved", solved ? 1. : 0.},
                            {"iterations", done.log.iterations},
                            {"setup_seconds", done.setup.total_seconds},
                            {"iteration_seconds", done.log.iteration_seconds},
                            {"bytes_per_row", static_cast<double>(done.setup.bytes) / static_cast<double>(A.rows())},
                            {"processor_seconds", done.processor_seconds},
                            {"times_auto", row.seconds / automatic.seconds}};
                row.note = words(done.setup);
                if (!solved) row.note = fmt::format("NOT SOLVED, {}: {}", krylov::name(done.log.end), row.note);
                context.report(row);
            }
            if (const auto* cpu = std::get_if<Cpu>(&context.space))
                solve_with_peers({A, b, kind.symmetric, rtol}, *cpu, [&](const PeerSolve& peer) {
                    const auto name = label + "peer " + peer.name + threads_label(context.space);
                    auto row = absent(name, A.rows(), peer.failure);
                    if (peer.failure.empty()) {
                        row.seconds = peer.setup_seconds + peer.solve_seconds;
                        row.rate = peer.iterations / peer.solve_seconds;
                        row.unit = "iterations/s";
                        row.error = peer.true_residual;
                        const bool solved = peer.true_residual <= 1.1 * rtol;
                        if (solved) best_peer.see(peer.name, row.seconds, peer.processor_seconds);
                        row.more = {{"solved", solved ? 1. : 0.},
                                    {"iterations", peer.iterations},
                                    {"setup_seconds", peer.setup_seconds},
                                    {"processor_seconds", peer.processor_seconds},
                                    {"times_auto", row.seconds / automatic.seconds}};
                        if (peer.bytes > 0) row.more.emplace_back("bytes_per_row", peer.bytes / static_cast<double>(A.rows()));
                        row.note = peer.version;
                    }
                    context.report(row);
                });
            context.report(comparison(label + "comparison" + threads_label(context.space), A, automatic, best_choice, best_peer));
        }
}

}  // namespace

Benchmark sparse_matrices() {
    return {"sparse.matrices",
            "Ten matrices of different origin (six of them without a grid), random right-hand side, to a true residual of 1e-8, which is "
            "the error of a row: kasane's named choices and auto from compressed rows in host memory, and on the CPU Eigen, PETSc and "
            "hypre where they were found. Seconds are those of set-up and solve together, the median of three rounds of all choices; "
            "`times_auto` is over those of auto, `processor_seconds` the time of all threads or ranks together, which other programs of "
            "the machine hardly "
            "change. A comparison has the time of auto over that of the best named choice, and of the best peer over auto. PETSc and hypre "
            "have one rank per thread, and their matrix is assembled before the clock starts. The bound is the triad of this run: caches "
            "exceed it where a matrix fits.",
            [](const BenchmarkContext& context) { run_matrices(context); }};
}

}  // namespace kasane::bench
