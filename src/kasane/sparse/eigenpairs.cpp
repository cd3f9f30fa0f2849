#include <kasane/sparse/eigen_start.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/krylov/lobpcg.hpp>
#include <kasane/sparse/multigrid_system.hpp>
#include <kasane/sparse/precondition/diagonal_inverse.hpp>
#include <kasane/sparse/rows_solve.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kasane::sparse {

void check_eigen_options(const EigenOptions& options, index_t rows) {
    std::vector<InputProblem> problems;
    const auto require = [&](bool good, const std::string& message, const char* key) {
        if (!good) problems.push_back({message, {"", 0, 0, key}});
    };
    const auto most = std::max<index_t>(1, rows / 5);
    require(options.count >= 1 && options.count <= most,
            fmt::format("{} eigenvalues of {} rows: ask for at least one and at most a fifth of the rows, {}", options.count, rows, most),
            "count");
    require(options.rtol > 0 && options.rtol < 1, "rtol must be above 0 and below 1. Try 1e-6.", "rtol");
    require(options.iteration_limit >= 1, "at least one iteration must be allowed. Try 500.", "iteration_limit");
    require(options.precondition == Precondition::multigrid || options.precondition == Precondition::jacobi ||
                options.precondition == Precondition::none,
            "eigenvalues take the preconditioners multigrid, jacobi and none, not " + name(options.precondition) + ".", "precondition");
    if (!problems.empty()) throw InputError(problems);
}

int eigen_block(int count, index_t rows) { return static_cast<int>(std::min<index_t>(count + std::max(2, count / 4), rows)); }

double eigen_start(int vector, index_t row) {
    return RandomStream(static_cast<std::uint64_t>(vector) + 1, static_cast<std::uint64_t>(row)).uniform() - 0.5;
}

namespace {

/// A in the memory of a space, from the host.
template <Space S>
Rows<double, S> rows_on(S on, const CsrView& A, index_t nonzeros) {
    const auto host = copied_rows(Cpu{}, A, nonzeros);
    Rows<double, S> rows;
    rows.rows = rows.columns = A.n;
    rows.begin = Buffer<std::uint32_t, S>(on, host.begin.size());
    rows.column = Buffer<std::int32_t, S>(on, host.column.size());
    rows.value = Buffer<double, S>(on, host.value.size());
    copy_from_host(on, rows.begin.view(), host.begin.view());
    copy_from_host(on, rows.column.view(), host.column.view());
    copy_from_host(on, rows.value.view(), host.value.view());
    return rows;
}

template <Space S>
Eigenpairs pairs_on(S on, const CsrView& A, const MatrixFacts& matrix, const EigenOptions& options, const StopFunction& stop,
                    const Stopwatch& whole) {
    const auto rows = rows_on(on, A, matrix.nonzeros);
    const int block = eigen_block(options.count, A.n);
    VectorAlgebra<S> algebra(on);
    std::vector<Buffer<double, S>> X;
    for (int j = 0; j < block; ++j) {
        std::vector<double> start(static_cast<std::size_t>(A.n));
        for (std::size_t i = 0; i < start.size(); ++i) start[i] = eigen_start(j, static_cast<index_t>(i));
        X.push_back(to_space(on, start));
    }
    krylov::Options how;
    how.rtol = options.rtol;
    how.iteration_limit = options.iteration_limit;
    how.stop = stop;
    const RowsOperator<S> op{on, rows.view()};
    const auto wanted = static_cast<std::size_t>(options.count);
    Eigenpairs found;
    krylov::EigenLog log;
    const auto run = [&](const auto& M) {
        found.setup_seconds = whole.seconds();
        log = krylov::lobpcg(algebra, op, M, X, wanted, how);
    };
    if (options.precondition == Precondition::multigrid)
        run(AggregationMultigrid<S>(on, rows.view(), near_null_on(on, options.near_null, A.n), false));
    else if (options.precondition == Precondition::jacobi)
        run(DiagonalInverse<S>{on, to_space(on, inverse_diagonal(A))});
    else
        run(krylov::NoPreconditioner{});
    found.seconds = whole.seconds() - found.setup_seconds;
    found.end = log.end;
    found.iterations = log.iterations;
    if (log.values.size() >= wanted) {
        found.values.assign(log.values.begin(), log.values.begin() + options.count);
        found.residuals.assign(log.residuals.begin(), log.residuals.begin() + options.count);
        for (std::size_t j = 0; j < wanted; ++j) found.vectors.push_back(to_host(X[j]));
    }
    return found;
}

}  // namespace

Eigenpairs eigenpairs(const AnySpace& on, const CsrView& A, const EigenOptions& options, const StopFunction& stop) {
    const Stopwatch whole;
    MatrixFacts matrix = check(A, "the matrix", ComponentsOf::singular);
    check_eigen_options(options, A.n);
    CsrMatrix own;
    CsrView given = A;
    if (!matrix.sorted || matrix.duplicates > 0) {
        own = canonical(A);
        given = own.view();
        matrix.nonzeros = own.nonzeros();
    }
    Eigenpairs found = std::visit([&]<Space S>(S space) { return pairs_on(space, given, matrix, options, stop, whole); }, on);
    found.device = device_info(on).name;
    return found;
}

}  // namespace kasane::sparse
