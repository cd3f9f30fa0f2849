#include <kasane/sparse/distributed/distributed_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/distributed/part_solvers.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/matrix/kind.hpp>
#include <kasane/sparse/prepared_system.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

namespace kasane::sparse {
namespace {

enum class Command : std::int64_t { make, solve, end };

template <class T>
void broadcast(comm::Communicator& ranks, T& what) {
    static_assert(std::is_trivially_copyable_v<T>);
    ranks.broadcast(&what, sizeof(T), 0);
}

void check_options(const DistributedOptions& options) {
    const auto kind = options.precondition;
    KS_VALIDATE(kind == Precondition::jacobi || kind == Precondition::ic0 || kind == Precondition::multigrid,
                fmt::format("the preconditioner {} is for one worker: on several there are jacobi, ic0 and multigrid", name(kind)));
    KS_VALIDATE(options.overlap >= 0 && options.overlap <= 8,
                fmt::format("overlap = {}: it must be 0 to 8 layers of rows", options.overlap));
    KS_VALIDATE(options.overlap == 0 || kind != Precondition::jacobi,
                "jacobi has no subdomains: leave the overlap out, or take ic0 or multigrid");
    KS_VALIDATE(options.rtol > 0 && options.rtol < 1, fmt::format("rtol = {}: it must be above 0 and below 1. Try 1e-8", options.rtol));
    KS_VALIDATE(options.iteration_limit >= 1, fmt::format("iteration_limit = {}: it must be at least 1", options.iteration_limit));
}

}  // namespace

struct DistributedSolver::Parts {
    comm::WorkerCommunicator& workers;
    DistributedOptions options;
    SetupFacts facts;
    RowOwners owners;
    std::unique_ptr<PartSolvers> solvers = nullptr;
};

DistributedSolver::DistributedSolver(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const CsrView& A,
                                     const DistributedOptions& options, const std::string& source)
    : parts_(new Parts{workers, options, {}, {}}) {
    auto& ranks = workers.ranks();
    auto& facts = parts_->facts;
    const Stopwatch watch;
    PartTimes times;
    PartSetup setup;
    std::vector<RowPart> divided;
    Command command = Command::make;
    try {
        check_options(options);
        const auto kind = kind_of(A, source);
        KS_VALIDATE(kind.zero_diagonals == 0,
                    fmt::format("{} diagonal entries are zero: rows are permuted on one worker alone. Start it there", kind.zero_diagonals),
                    {source, 0, 0, ""});
        KS_VALIDATE(A.n >= workers.size(),
                    fmt::format("{} rows cannot be divided among {} workers: take at most {}", A.n, workers.size(), A.n),
                    {source, 0, 0, ""});
        facts.singular = kind.positive && check(A, source).singular;
        CsrMatrix own;
        CsrView given = A;
        if (!kind.sorted || kind.duplicates) own = canonical(A), given = own.view();
        facts.rows = A.n;
        facts.nonzeros = given.begin(A.n);
        times.add("check", watch.seconds());
        const Stopwatch dividing;
        parts_->owners = owners_of_rows(given, workers.size(), kind.symmetric);
        divided = divide_rows(given, parts_->owners, options.overlap);
        times.add("divide", dividing.seconds());
        setup = {.precondition = options.precondition,
                 .positive = kind.positive,
                 .conjugate = kind.positive && options.overlap == 0,
                 .kind = here.front().index(),
                 .rtol = options.rtol,
                 .iteration_limit = options.iteration_limit};
    } catch (...) {
        command = Command::end;  // the other ranks wait for their first command
        broadcast(ranks, command);
        throw;
    }
    broadcast(ranks, command);
    broadcast(ranks, setup);
    const Stopwatch making;
    parts_->solvers = std::make_unique<PartSolvers>(workers, here, setup, std::move(divided));
    times.add("factor", making.seconds());

    facts.padded_rows = facts.rows;
    facts.stored_entries = facts.nonzeros;
    facts.device = fmt::format("{} workers, the first on {}", workers.size(), device_info(here.front()).name);
    facts.format = setup.kind == 0 ? "csr" : "sell:32:1";
    facts.precondition = options.precondition == Precondition::ic0 && setup.positive == 0 ? "ilu0" : name(options.precondition);
    if (options.overlap > 0) facts.precondition += fmt::format(" in subdomains with {} layers of overlap", options.overlap);
    facts.iteration = setup.conjugate != 0 ? "cg" : "bicgstab";
    facts.shift = parts_->solvers->shift();
    facts.bytes = facts.peak_bytes = parts_->solvers->bytes();
    facts.seconds = times.parts();
    facts.total_seconds = watch.seconds();
    facts.decision = {"options", "several workers", 0, 0};
    facts.notes.push_back(fmt::format(
        "{} workers have neighbouring rows in the order {}, and solve by {}; {:.2g}% of the entries couple rows of different workers.",
        workers.size(), parts_->owners.ordering, facts.iteration, 100 * parts_->owners.cut));
    if (facts.shift > 0)
        facts.notes.push_back(fmt::format(
            "The diagonal was shifted by {} of the largest entry of each row where factors were not positive definite.", facts.shift));
}

DistributedSolver::~DistributedSolver() {
    try {
        Command command = Command::end;
        broadcast(parts_->workers.ranks(), command);
    } catch (...) {  // a rank that does not answer any more has reported its failure
    }
}

const SetupFacts& DistributedSolver::setup() const { return parts_->facts; }

SolveLog DistributedSolver::solve(View<const double> b, View<double> x, const StopFunction& stop) {
    auto& [workers, options, facts, owners, solvers] = *parts_;
    require_sizes(facts.rows, b, View<const double>(x));
    require_finite(b, "the right-hand side");
    require_finite(View<const double>(x), "the first guess");
    const Stopwatch watch;
    const auto mean_of = [](const auto& v) { return std::accumulate(v.begin(), v.end(), 0.) / static_cast<double>(v.size()); };
    const auto norm_of = [](const auto& v) {
        return std::sqrt(std::transform_reduce(v.begin(), v.end(), 0., std::plus<>{}, [](double one) { return one * one; }));
    };

    const auto in_order = [&](View<const double> v) {
        std::vector<double> sorted(owners.order.size());
        for (std::size_t k = 0; k < sorted.size(); ++k) sorted[k] = v[owners.order[k]];
        return sorted;
    };
    auto right = in_order(b), solution = in_order(View<const double>(x));
    double removed = 0;
    if (facts.singular) {
        const double all = norm_of(right);
        removed = mean_of(right);
        const double outside = std::fabs(removed) * std::sqrt(static_cast<double>(right.size()));
        if (outside > options.rtol * all) {
            auto log = outside_range(outside / all);
            log.mean_removed = removed;
            std::fill(x.begin(), x.end(), 0.);
            return log;
        }
        for (double& one : right) one -= removed;
    }
    Command command = Command::solve;
    broadcast(workers.ranks(), command);
    const Stopwatch iterations;
    auto log = solvers->solve(right, solution, owners.begin, stop);
    log.iteration_seconds = iterations.seconds();
    const double shift = facts.singular ? mean_of(solution) : 0;
    for (std::size_t k = 0; k < solution.size(); ++k) x[owners.order[k]] = solution[k] - shift;
    log.mean_removed = removed;
    const auto residuals = std::exchange(log.residuals, {});
    for (std::size_t k = 0; k < residuals.size(); ++k)
        log.history.push_back({static_cast<int>(k), std::numeric_limits<double>::quiet_NaN(), residuals[k]});
    if (log.converged() && !std::ranges::all_of(solution, [](double one) { return std::isfinite(one); }))
        log.end = krylov::Outcome::not_finite;
    log.seconds = watch.seconds();
    return log;
}

void distributed_solver_loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    auto& ranks = workers.ranks();
    Command command;
    broadcast(ranks, command);
    if (command != Command::make) return;  // the root rank refused its input
    PartSetup setup;
    broadcast(ranks, setup);
    std::unique_ptr<PartSolvers> solvers;
    try {
        solvers = std::make_unique<PartSolvers>(workers, here, setup, std::vector<RowPart>{});
    } catch (const Error&) {
        return;  // all ranks throw it, and the root rank reports it
    }
    for (;;) {
        broadcast(ranks, command);
        if (command == Command::end) return;
        std::vector<double> none;
        solvers->solve(none, none, {}, {});
    }
}

}  // namespace kasane::sparse
