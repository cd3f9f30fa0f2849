// sparse.matrices: ten matrices of different origin by every named choice, by auto, and by the solvers of other libraries.
#include <bench/sparse/matrices/matrices.hpp>
#include <bench/sparse/peers/matrix_peers.hpp>
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/general_solver.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace kasane::bench {

using namespace sparse;

namespace {

constexpr double rtol = 1e-8;

/// ||b - A x|| / ||b||.
double relative_residual(const CsrMatrix& A, const std::vector<double>& b, const std::vector<double>& x) {
    double r2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        double r = b[i];
        for (auto e = static_cast<std::size_t>(A.begin[i]); e < static_cast<std::size_t>(A.begin[i + 1]); ++e)
            r -= A.value[e] * x[static_cast<std::size_t>(A.column[e])];
        r2 += r * r, b2 += b[i] * b[i];
    }
    return std::sqrt(r2 / b2);
}

/// A solve from compressed rows: set-up and iterations.
struct Whole {
    SetupFacts setup;
    SolveLog log;
    std::vector<double> x;
    double seconds = 0;
};

Whole by_solver(const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b, Precondition precondition) {
    const Stopwatch watch;
    SolverOptions options;
    options.precondition = precondition;
    options.tune = Tuning::off;
    options.rtol = rtol;
    Solver solver(on, A.view(), options);
    Whole out;
    out.x = solver.solve(b, &out.log);
    out.seconds = watch.seconds();
    out.setup = solver.setup();
    return out;
}

Whole by_general(const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b, GeneralMethod method,
                 GeneralPrecondition precondition) {
    const Stopwatch watch;
    GeneralOptions options;
    options.method = method;
    options.precondition = precondition;
    options.rtol = rtol;
    GeneralSolver solver(on, A.view(), options);
    Whole out;
    out.x = solver.solve(b, &out.log);
    out.seconds = watch.seconds();
    out.setup = solver.setup();
    return out;
}

/// As `kasane solve --precondition auto`.
Whole by_auto(const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b) {
    const Stopwatch watch;
    const bool positive = kind_of(A.view()).positive;
    Whole out = positive ? by_solver(on, A, b, Precondition::automatic)
                         : by_general(on, A, b, GeneralMethod::automatic, GeneralPrecondition::automatic);
    out.seconds = watch.seconds();
    return out;
}

struct Named {
    std::string name;
    std::function<Whole(const AnySpace&, const CsrMatrix&, const std::vector<double>&)> solve;
};

std::vector<Named> choices(bool symmetric) {
    std::vector<Named> all{{"auto", by_auto}};
    if (symmetric) {
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

/// The median of three, or one where a solve takes more than three seconds.
Whole median(const Named& choice, const AnySpace& on, const CsrMatrix& A, const std::vector<double>& b, double& spread) {
    std::vector<Whole> runs;
    while (runs.size() < 3 && (runs.empty() || runs.front().seconds < 3)) runs.push_back(choice.solve(on, A, b));
    std::ranges::sort(runs, {}, &Whole::seconds);
    spread = (runs.back().seconds - runs.front().seconds) / runs[runs.size() / 2].seconds;
    return runs[runs.size() / 2];
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
            double automatic = NAN;
            for (const auto& choice : choices(kind.symmetric)) {
                BenchmarkResult row;
                row.name = label + choice.name + threads_label(context.space);
                row.n = A.rows();
                row.unit = "bytes/s";
                try {
                    const Whole done = median(choice, context.space, A, b, row.spread);
                    row.seconds = done.seconds;
                    row.error = relative_residual(A, b, done.x);
                    row.bound = speed.triad;
                    row.bound_reason = words(speed);
                    row.rate = done.setup.bytes_per_iteration * done.log.iterations / done.log.iteration_seconds;
                    const bool solved = done.log.converged() && row.error <= 1.001 * rtol;
                    if (choice.name == "auto" && solved) automatic = row.seconds;
                    row.more = {{"nonzeros", static_cast<double>(A.nonzeros())},
                                {"solved", solved ? 1. : 0.},
                                {"iterations", done.log.iterations},
                                {"setup_seconds", done.setup.total_seconds},
                                {"iteration_seconds", done.log.iteration_seconds},
                                {"bytes_per_row", static_cast<double>(done.setup.bytes) / static_cast<double>(A.rows())},
                                {"times_auto", row.seconds / automatic}};
                    row.note = words(done.setup);
                    if (!solved) row.note = fmt::format("NOT SOLVED, {}: {}", krylov::name(done.log.end), row.note);
                } catch (const ComputationError& failed) {
                    row = absent(row.name, row.n, failed.what());
                }
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
                        row.more = {{"solved", peer.true_residual <= 1.1 * rtol ? 1. : 0.},
                                    {"iterations", peer.iterations},
                                    {"setup_seconds", peer.setup_seconds},
                                    {"times_auto", row.seconds / automatic}};
                        row.note = peer.version;
                    }
                    context.report(row);
                });
        }
}

}  // namespace

Benchmark sparse_matrices() {
    return {"sparse.matrices",
            "Ten matrices of different origin (six of them without a grid), random right-hand side, to a true residual of 1e-8, which is "
            "the error of a row: kasane's named choices and auto from compressed rows in host memory, and on the CPU Eigen, PETSc and "
            "hypre where they were found. Seconds are those of set-up and solve together, the median of three; `times_auto` is over "
            "those of auto. PETSc and hypre have one rank per thread, and their matrix is assembled before the clock starts.",
            [](const BenchmarkContext& context) { run_matrices(context); }};
}

}  // namespace kasane::bench
