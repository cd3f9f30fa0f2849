#include <kasane/core/base/counted.hpp>
#include <kasane/sparse/distributed/distributed_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/block/block.hpp>
#include <kasane/sparse/distributed/block_division.hpp>
#include <kasane/sparse/distributed/row_division.hpp>
#include <kasane/sparse/distributed/scaled_parts.hpp>
#include <kasane/sparse/distributed/solve_led.hpp>
#include <kasane/sparse/eigen_start.hpp>
#include <kasane/sparse/general/number.hpp>
#include <kasane/sparse/matrix/examined_complex.hpp>
#include <kasane/sparse/prepared_system.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <concepts>
#include <optional>
#include <utility>
#include <variant>

namespace kasane::sparse {
namespace {

constexpr int usual_coarse_rows = 256, most_coarse_rows = 4096;

void check_options(const DistributedOptions& options, bool real) {
    const auto kind = options.precondition;
    const Where block{"", 0, 0, "block"};
    KS_VALIDATE(real || options.block == 1, "rows of blocks are for real matrices: leave the block out", block);
    KS_VALIDATE(options.block >= 0 && options.block <= most_block,
                fmt::format("is {}: blocks have 2 to {} rows; 1: scalar rows, 0: the size that fits", options.block, most_block), block);
    KS_VALIDATE(options.block <= 1 || kind != Precondition::multigrid,
                "multigrid has no rows of blocks: leave the block out, or take ic0 or jacobi", block);
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
    KS_VALIDATE(options.restart >= 1 && options.restart <= 1000,
                fmt::format("restart = {}: a cycle of gmres has 1 to 1000 iterations. Try 30", options.restart));
    const bool minres = options.method == GeneralMethod::minres;
    KS_VALIDATE(options.overlap == 0 || (options.method != GeneralMethod::cg && !minres),
                fmt::format("overlap = {}: subdomains with overlap are not a symmetric preconditioner, which {} needs. Leave the overlap "
                            "out, or take bicgstab or gmres",
                            options.overlap, name(options.method)));
    KS_VALIDATE(!minres || kind == Precondition::jacobi,
                fmt::format("minres needs a symmetric positive definite preconditioner, which {0} is not for every symmetric matrix. Take "
                            "jacobi, or gmres with {0}",
                            name(kind)));
    KS_VALIDATE(!minres || coarse == 0, "minres has no coarse system: leave coarse_rows out");
}

/// A matrix before it is divided.
template <class User>
struct Checked {
    CsrView pattern;  ///< canonical
    const User* values = nullptr;
    MatrixOf<User> own = {};  ///< where the caller's is not canonical
    index_t zero_diagonals = 0;
    bool symmetric = false;      ///< or Hermitian
    bool positive = false;       ///< it may be positive definite
    bool singular = false;       ///< constants are the null space
    std::string asymmetry = {};  ///< where it is not symmetric, or not Hermitian: the reason
    Scaling scaling = {};        ///< of a complex matrix; `values` are scaled
    std::vector<User> scaled = {};
};

Checked<double> checked(const CsrView& A, const std::string& source) {
    const auto kind = kind_of(A, source);
    Checked<double> out{A, A.value};
    out.zero_diagonals = kind.zero_diagonals;
    out.symmetric = kind.symmetric;
    out.asymmetry = kind.asymmetry;
    out.positive = kind.positive;
    out.singular = kind.positive && check(A, source, ComponentsOf::singular).singular;
    if (!kind.sorted || kind.duplicates) out.own = canonical(A), out.pattern = out.own.view(), out.values = out.own.value.data();
    return out;
}

Checked<std::complex<double>> checked(const ComplexCsrView& A, const std::string& source) {
    ExaminedComplex examined(A, source);
    Checked<std::complex<double>> out{examined.given.pattern, examined.given.value};
    out.own = std::move(examined.own);
    out.zero_diagonals = examined.structure.zero_diagonals;
    out.symmetric = examined.structure.symmetric;
    out.positive = examined.kind.positive;
    if (!examined.kind.hermitian) out.asymmetry = examined.kind.text;
    CsrView sizes = out.pattern;
    sizes.value = examined.magnitude.data();
    out.scaling = scaling_of(sizes, examined.structure.symmetric, true);
    if (out.scaling.used) {
        out.scaled = scaled_values(out.pattern, out.values, out.scaling);
        out.values = out.scaled.data();
    }
    return out;
}

/// Tests of one worker: whether the method is for this kind of matrix. Conjugate gradients that were asked for are tried on any
/// symmetric matrix with a positive diagonal. @throws InputError
void require_kind(Checked<double>& matrix, const CsrView& A, GeneralMethod method, Precondition, const std::string& source) {
    KS_VALIDATE(method != GeneralMethod::minres || matrix.symmetric,
                fmt::format("minres needs a symmetric matrix, and {}. Take bicgstab, gmres or auto", matrix.asymmetry),
                {"", 0, 0, "method"});
    if (method != GeneralMethod::cg || matrix.positive) return;
    matrix.singular = check(A, source).singular;
    matrix.positive = true;
}
void require_kind(const Checked<std::complex<double>>& matrix, const ComplexCsrView&, GeneralMethod method, Precondition precondition,
                  const std::string& source) {
    KS_VALIDATE(method != GeneralMethod::minres, "minres is for real matrices. Take bicgstab, gmres or auto", {"", 0, 0, "method"});
    KS_VALIDATE(
        matrix.positive || precondition != Precondition::multigrid,
        "multigrid of complex numbers is for Hermitian matrices that may be positive definite, and this one is not. Take ic0 or jacobi",
        {source, 0, 0, ""});
    KS_VALIDATE(method != GeneralMethod::cg || matrix.asymmetry.empty(),
                fmt::format("cg needs a Hermitian matrix, and {}. Take bicgstab, gmres or auto", matrix.asymmetry), {"", 0, 0, "method"});
}

/// The size of blocks that was asked for, or that fits, by the rule of a Solver; 1: scalar rows. @throws InputError
int block_for(const Checked<double>& matrix, const DistributedOptions& options, int workers, bool device, const std::string& source) {
    const auto& A = matrix.pattern;
    if (options.block == 0) {
        const bool has_blocks = matrix.positive && options.precondition != Precondition::multigrid;
        const int block = has_blocks && (!device || options.precondition == Precondition::ic0) ? block_that_fits(A) : 1;
        return A.n / block >= workers ? block : 1;
    }
    const int block = options.block;
    if (block == 1) return 1;
    KS_VALIDATE(
        matrix.positive,
        fmt::format("is {}: rows of blocks are for matrices that may be positive definite, and this one is not. Leave the block out",
                    block),
        {source, 0, 0, "block"});
    KS_VALIDATE(
        A.n % block == 0,
        fmt::format("is {}, and the matrix has {} rows, which are not a multiple of it: take a size that divides them, or 1", block, A.n),
        {source, 0, 0, "block"});
    KS_VALIDATE(A.n / block >= workers,
                fmt::format("{} rows of blocks cannot be divided among {} workers: take at most {} workers, or a smaller size of blocks",
                            A.n / block, workers, A.n / block),
                {source, 0, 0, "block"});
    return block;
}

}  // namespace

template <class User>
struct DistributedSolverOf<User>::Parts {
    DistributedOptions options;
    SetupFacts facts;
    RowOwners owners;
    Scaling scaling = {};
    std::optional<PartSolvers<RowPartOf<User>>> solvers = {};
};

template <class User>
DistributedSolverOf<User>::DistributedSolverOf(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const Matrix& A,
                                               const DistributedOptions& options, const std::string& source)
    : parts_(new Parts{options, {}, {}}) {
    auto& [own_options, facts, owners, scaling, solvers] = *parts_;
    const Stopwatch watch;
    PartTimes times;
    bool positive = false;
    auto method = options.method;
    int block = 1;
    const auto prepare = [&]() -> typename PartSolvers<RowPartOf<User>>::Prepared {
        check_options(options, std::same_as<User, double>);
        auto matrix = checked(A, source);
        require_kind(matrix, A, method, options.precondition, source);
        const auto n = matrix.pattern.n;
        KS_VALIDATE(
            matrix.zero_diagonals == 0 || method == GeneralMethod::minres,
            fmt::format("{} diagonal entries are zero: rows are permuted on one worker alone. Start it there", matrix.zero_diagonals),
            {source, 0, 0, ""});
        KS_VALIDATE(n >= workers.size(), fmt::format("{} rows cannot be divided among {} workers: take at most {}", n, workers.size(), n),
                    {source, 0, 0, ""});
        positive = matrix.positive;
        if (method == GeneralMethod::automatic) method = positive && options.overlap == 0 ? GeneralMethod::cg : GeneralMethod::bicgstab;
        facts.singular = matrix.singular;
        facts.rows = n;
        facts.nonzeros = matrix.pattern.begin(n);
        times.add("check", watch.seconds());
        const Stopwatch dividing;
        std::vector<RowPartOf<User>> parts;
        if constexpr (std::same_as<User, double>) {
            block = block_for(matrix, options, workers.size(), !std::holds_alternative<Cpu>(here.front()), source);
            if (block > 1) {
                const auto rows = blocked_rows(matrix.pattern, block);
                owners = owners_of_blocks(rows, workers.size());
                const auto filled = filled_blocks(matrix.pattern, rows);
                facts.stored_entries = filled.nonzeros();
                parts = divide_rows(filled.view(), owners, options.overlap);
            }
        }
        if (block == 1) {
            owners = owners_of_rows(matrix.pattern, workers.size(), matrix.symmetric);
            parts = divide_rows(matrix.pattern, matrix.values, owners, options.overlap);
        }
        scaling = std::move(matrix.scaling);
        if (scaling.used)
            for (auto& part : parts)
                for (const auto row : part.row) part.row_scale.push_back(scaling.row[at(row)]);
        times.add("divide", dividing.seconds());
        const int usual = std::holds_alternative<Cpu>(here.front()) ? usual_coarse_rows : 0;
        const bool joined = positive && method != GeneralMethod::minres && workers.size() > 1;
        return {{.kind = here.front().index(),
                 .precondition = options.precondition,
                 .positive = positive,
                 .method = method,
                 .restart = std::min<index_t>(options.restart, n),
                 .block = block,
                 .coarse_rows = joined ? options.coarse_rows.value_or(usual) : 0},
                std::move(parts)};
    };
    const Stopwatch making;
    solvers.emplace(workers, here, prepare);
    times.add("factor", making.seconds());

    facts.padded_rows = facts.rows;
    if (block == 1) facts.stored_entries = facts.nonzeros;
    facts.device = device_info(here.front()).name;
    const bool alone = workers.size() == 1;
    if (!alone) facts.device = fmt::format("{} workers, the first on {}", workers.size(), facts.device);
    facts.format = block > 1 ? fmt::format("bsr:{}", block) : std::holds_alternative<Cpu>(here.front()) ? "csr" : "sell:32:1";
    facts.precondition = options.precondition == Precondition::ic0 && !positive ? "ilu0" : name(options.precondition);
    if (options.overlap > 0) facts.precondition += fmt::format(" in subdomains with {} of overlap", counted(options.overlap, "layer"));
    if (const auto rows = solvers->first().coarse_rows(); rows > 0)
        facts.precondition += fmt::format(" and a coarse system of {} rows", rows);
    facts.iteration = name(method);
    facts.shift = solvers->shift();
    facts.bytes = facts.peak_bytes = solvers->bytes();
    facts.seconds = times.parts();
    facts.total_seconds = watch.seconds();
    facts.decision = {"options", alone ? "one subdomain, the whole matrix" : "several workers", 0, 0};
    if (!alone)
        facts.notes.push_back(fmt::format(
            "{} workers have neighbouring rows in the order {}, and solve by {}; {:.2g}% of the entries couple rows of different workers.",
            workers.size(), owners.ordering, facts.iteration, 100 * owners.cut));
    if (block > 1)
        facts.notes.push_back(fmt::format("rows of {0} x {0} blocks, which hold {1:.2f} times the entries of the matrix", block,
                                          static_cast<double>(facts.stored_entries) / static_cast<double>(facts.nonzeros)));
    if (scaling.used) facts.notes.push_back(scaling.note());
    if (facts.shift > 0)
        facts.notes.push_back(fmt::format(
            "The diagonal was shifted by {} of the largest entry of each row where factors were not positive definite.", facts.shift));
}

template <class User>
DistributedSolverOf<User>::~DistributedSolverOf() = default;

template <class User>
const SetupFacts& DistributedSolverOf<User>::setup() const {
    return parts_->facts;
}

template <class User>
SolveLog DistributedSolverOf<User>::solve(View<const User> b, View<User> x, const StopFunction& stop) {
    auto& [options, facts, owners, scaling, solvers] = *parts_;
    KS_REQUIRE(b.n == facts.rows && x.n == facts.rows,
               fmt::format("right-hand side and solution have {} and {} rows, the matrix {}.", b.n, x.n, facts.rows));
    const auto in_order = [&](View<const User> v) {
        std::vector<User> sorted(owners.order.size());
        for (std::size_t k = 0; k < sorted.size(); ++k) sorted[k] = v[owners.order[k]];
        return sorted;
    };
    const auto solve_in_order = [&](View<const User> of_b, View<const User> of_x) {
        auto right = in_order(of_b), solution = in_order(of_x);
        const auto log =
            solve_led(*solvers, right, solution, owners.begin, facts.singular, true, {options.rtol, options.iteration_limit}, stop);
        for (std::size_t k = 0; k < solution.size(); ++k) x[owners.order[k]] = solution[k];
        return log;
    };
    if constexpr (!std::same_as<User, double>) {
        if (scaling.used) {
            require_finite(b, "the right-hand side");
            require_finite(View<const User>(x), "the first guess");
            std::vector<User> scaled_b(b.begin(), b.end()), scaled_x(x.begin(), x.end());
            const int exponent = scale_vectors(scaling, scaled_b, scaled_x);
            auto log = solve_in_order(view(scaled_b), view(scaled_x));
            unscale_solution(scaling, exponent, x);
            if (log.converged() && !std::ranges::all_of(x, [](const User& one) { return is_finite(one); }))
                log.end = krylov::Outcome::not_finite;  // x itself leaves the range of doubles
            return log;
        }
    }
    return solve_in_order(b, x);
}

template <class User>
Eigenpairs DistributedSolverOf<User>::eigenpairs(int count, const StopFunction& stop)
    requires std::same_as<User, double>
{
    const Stopwatch watch;
    auto& [options, facts, owners, scaling, solvers] = *parts_;
    KS_VALIDATE(facts.iteration == name(GeneralMethod::cg),
                "eigenvalues are those of a symmetric matrix, with subdomains that do not overlap: make the solver with method cg");
    check_eigen_options({.count = count, .rtol = options.rtol, .iteration_limit = options.iteration_limit}, facts.rows);
    std::vector<std::vector<double>> X(static_cast<std::size_t>(eigen_block(count, facts.rows)));
    for (int j = 0; j < static_cast<int>(X.size()); ++j)
        for (const auto row : owners.order) X[static_cast<std::size_t>(j)].push_back(eigen_start(j, row));
    auto found = solvers->eigenpairs(X, count, owners.begin, {options.rtol, options.iteration_limit}, stop);
    for (int j = 0; j < std::ssize(found.values); ++j) {
        auto& vector = found.vectors.emplace_back(static_cast<std::size_t>(facts.rows));
        for (std::size_t k = 0; k < vector.size(); ++k) vector[at(owners.order[k])] = X[static_cast<std::size_t>(j)][k];
    }
    found.setup_seconds = facts.total_seconds;
    found.seconds = watch.seconds();
    found.device = facts.device;
    return found;
}

template class DistributedSolverOf<double>;
template class DistributedSolverOf<std::complex<double>>;

void distributed_solver_loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    PartSolvers<RowPart>::loop(workers, here);
}
void distributed_complex_solver_loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
    PartSolvers<RowPartOf<std::complex<double>>>::loop(workers, here);
}

}  // namespace kasane::sparse
