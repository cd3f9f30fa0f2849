#include <kasane/sparse/distributed/distributed_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/check_vectors.hpp>
#include <kasane/sparse/distributed/solve_led.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/matrix/kind.hpp>
#include <kasane/sparse/prepared_system.hpp>

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <variant>

namespace kasane::sparse {
namespace {

constexpr int usual_coarse_rows = 256, most_coarse_rows = 4096;

void check_options(const DistributedOptions& options) {
    const auto kind = options.precondition;
    KS_VALIDATE(kind == Precondition::jacobi || kind == Precondition::ic0 || kind == Precondition::multigrid,
                fmt::format("the preconditioner {} is for one worker: on several there are jacobi, ic0 and multigrid", name(kind)));
    KS_VALIDATE(options.overlap >= 0 && options.overlap <= 8,
                fmt::format("overlap = {}: it must be 0 to 8 layers of rows", options.overlap));
    KS_VALIDATE(options.overlap == 0 || kind != Precondition::jacobi,
                "jacobi has no subdomains: leave the overlap out, or take ic0 or multigrid");
    const int coarse = options.coarse_rows.value_or(0);
    KS_VALIDATE(
        coarse >= 0 && coarse <= most_coarse_rows,
        fmt::format("coarse_rows = {}: it must be 0 to {}, because every worker inverts the coarse system", coarse, most_coarse_rows));
    KS_VALIDATE(options.rtol > 0 && options.rtol < 1, fmt::format("rtol = {}: it must be above 0 and below 1. Try 1e-8", options.rtol));
    KS_VALIDATE(options.iteration_limit >= 1, fmt::format("iteration_limit = {}: it must be at least 1", options.iteration_limit));
}

}  // namespace

struct DistributedSolver::Parts {
    DistributedOptions options;
    SetupFacts facts;
    RowOwners owners;
    std::optional<PartSolvers<RowPart>> solvers = {};
};

DistributedSolver::DistributedSolver(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const CsrView& A,
                                     const DistributedOptions& options, const std::string& source)
    : parts_(new Parts{options, {}, {}}) {
    auto& [own_options, facts, owners, solvers] = *parts_;
    const Stopwatch watch;
    PartTimes times;
    bool positive = false, conjugate = false;
    const auto prepare = [&]() -> PartSolvers<RowPart>::Prepared {
        check_options(options);
        const auto kind = kind_of(A, source);
        KS_VALIDATE(kind.zero_diagonals == 0,
                    fmt::format("{} diagonal entries are zero: rows are permuted on one worker alone. Start it there", kind.zero_diagonals),
                    {source, 0, 0, ""});
        KS_VALIDATE(A.n >= workers.size(),
                    fmt::format("{} rows cannot be divided among {} workers: take at most {}", A.n, workers.size(), A.n),
                    {source, 0, 0, ""});
        positive = kind.positive;
        conjugate = positive && options.overlap == 0;
        facts.singular = positive && check(A, source).singular;
        CsrMatrix own;
        CsrView given = A;
        if (!kind.sorted || kind.duplicates) own = canonical(A), given = own.view();
        facts.rows = A.n;
        facts.nonzeros = given.begin(A.n);
        times.add("check", watch.seconds());
        const Stopwatch dividing;
        owners = owners_of_rows(given, workers.size(), kind.symmetric);
        auto parts = divide_rows(given, owners, options.overlap);
        times.add("divide", dividing.seconds());
        const int usual = std::holds_alternative<Cpu>(here.front()) ? usual_coarse_rows : 0;
        const bool joined = positive && workers.size() > 1;
        return {{.kind = here.front().index(),
                 .precondition = options.precondition,
                 .positive = positive,
                 .conjugate = conjugate,
                 .coarse_rows = joined ? options.coarse_rows.value_or(usual) : 0},
                std::move(parts)};
    };
    const Stopwatch making;
    solvers.emplace(workers, here, prepare);
    times.add("factor", making.seconds());

    facts.padded_rows = facts.rows;
    facts.stored_entries = facts.nonzeros;
    facts.device = fmt::format("{} workers, the first on {}", workers.size(), device_info(here.front()).name);
    facts.format = std::holds_alternative<Cpu>(here.front()) ? "csr" : "sell:32:1";
    facts.precondition = options.precondition == Precondition::ic0 && !positive ? "ilu0" : name(options.precondition);
    if (options.overlap > 0) facts.precondition += fmt::format(" in subdomains with {} layers of overlap", options.overlap);
    if (const auto rows = solvers->first().coarse_rows(); rows > 0)
        facts.precondition += fmt::format(" and a coarse system of {} rows", rows);
    facts.iteration = conjugate ? "cg" : "bicgstab";
    facts.shift = solvers->shift();
    facts.bytes = facts.peak_bytes = solvers->bytes();
    facts.seconds = times.parts();
    facts.total_seconds = watch.seconds();
    facts.decision = {"options", "several workers", 0, 0};
    facts.notes.push_back(fmt::format(
        "{} workers have neighbouring rows in the order {}, and solve by {}; {:.2g}% of the entries couple rows of different workers.",
        workers.size(), owners.ordering, facts.iteration, 100 * owners.cut));
    if (facts.shift > 0)
        facts.notes.push_back(fmt::format(
            "The diagonal was shifted by {} of the largest entry of each row where factors were not positive definite.", facts.shift));
}

DistributedSolver::~DistributedSolver() = default;

const SetupFacts& DistributedSolver::setup() const { return parts_->facts; }

SolveLog DistributedSolver::solve(View<const double> b, View<double> x, const StopFunction& stop) {
    auto& [options, facts, owners, solvers] = *parts_;
    require_sizes(facts.rows, b, View<const double>(x));
    const auto in_order = [&](View<const double> v) {
        std::vector<double> sorted(owners.order.size());
        for (std::size_t k = 0; k < sorted.size(); ++k) sorted[k] = v[owners.order[k]];
        return sorted;
    };
    auto right = in_order(b), solution = in_order(View<const double>(x));
    const auto log =
        solve_led(*solvers, right, solution, owners.begin, facts.singular, true, {options.rtol, options.iteration_limit}, stop);
    for (std::size_t k = 0; k < solution.size(); ++k) x[owners.order[k]] = solution[k];
    return log;
}

void distributed_solver_loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    PartSolvers<RowPart>::loop(workers, here);
}

}  // namespace kasane::sparse
