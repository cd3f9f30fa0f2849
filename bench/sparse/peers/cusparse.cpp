// sparse.solve.peer.cusparse: the speed of cuSPARSE on the same box, in natural and in coloured order.
#include <bench/sparse/peers/cusparse.hpp>
#include <bench/sparse/sparse_studies.hpp>

#include <fmt/format.h>

#if defined(KASANE_CUDA)
#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#endif

namespace kasane::bench {

using namespace sparse;

namespace {

constexpr const char* cusparse_case = "sparse.solve.peer.cusparse";

#if defined(KASANE_CUDA)
/// The plugin's function, from beside the command or the loader's own paths. @throws ComputationError with the loader's reason
CusparsePeer load() {
    std::error_code error;
    const auto beside = std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / cusparse_module;
    void* module = dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    std::string reason;
    if (!module) {
        reason = dlerror();
        module = dlopen(cusparse_module, RTLD_NOW | RTLD_LOCAL);
    }
    if (!module) throw ComputationError("the cuSPARSE plugin cannot be loaded: " + reason);
    auto* function = dlsym(module, cusparse_function);  // never closed: CUDA libraries leave objects that outlive it
    if (!function) throw ComputationError(std::string(cusparse_module) + " is of another version: it has no " + cusparse_function);
    return reinterpret_cast<CusparsePeer>(function);
}

/// P A P^T with columns ascending, and the old number of each new row.
struct Reordered {
    std::vector<std::int32_t> old_row, begin, column;
    std::vector<double> value;

    Reordered(const CsrMatrix& A, const Ordering& ordering) {
        const auto rows = static_cast<std::size_t>(A.rows());
        if (ordering.kind == OrderingKind::natural) {
            for (std::size_t i = 0; i < rows; ++i) old_row.push_back(static_cast<std::int32_t>(i));
        } else {
            old_row = order_rows(A.view(), ordering).row;
        }
        std::vector<std::int32_t> new_row(rows);
        for (std::size_t i = 0; i < rows; ++i) new_row[static_cast<std::size_t>(old_row[i])] = static_cast<std::int32_t>(i);
        column.reserve(A.column.size());
        value.reserve(A.value.size());
        begin.push_back(0);
        std::vector<std::pair<std::int32_t, double>> row;
        for (const auto old : old_row) {
            row.clear();
            for (auto e = A.begin[static_cast<std::size_t>(old)]; e < A.begin[static_cast<std::size_t>(old) + 1]; ++e)
                row.emplace_back(new_row[static_cast<std::size_t>(A.column[static_cast<std::size_t>(e)])],
                                 A.value[static_cast<std::size_t>(e)]);
            std::sort(row.begin(), row.end());
            for (const auto& [c, v] : row) column.push_back(c), value.push_back(v);
            begin.push_back(static_cast<std::int32_t>(column.size()));
        }
    }
};

void solve_with_cusparse(const BenchmarkContext& context, SparseProblems& problems, Cuda on, index_t side, const std::string& order,
                         CusparsePeer peer) {
    const auto& problem = problems.box(side);
    const auto name = fmt::format("{}, {}", cusparse_case, order);
    const Reordered A(problem.matrix, Ordering::parse(order));
    const auto rows = problem.rhs.size();
    std::vector<double> b(rows), found(rows), x(rows);
    for (std::size_t i = 0; i < rows; ++i) b[i] = problem.rhs[static_cast<std::size_t>(A.old_row[i])];
    CusparseSystem system;
    system.device = on.device;
    system.rows = static_cast<std::int32_t>(rows);
    system.nonzeros = A.begin.back();
    system.begin = A.begin.data(), system.column = A.column.data(), system.value = A.value.data(), system.b = b.data();
    CusparseSolve solved;
    char why[512] = {};
    if (!peer(system, found.data(), solved, why, sizeof why)) {
        context.report(absent(name, problem.rows(), why));
        return;
    }
    for (std::size_t i = 0; i < rows; ++i) x[static_cast<std::size_t>(A.old_row[i])] = found[i];
    BenchmarkResult row;
    row.name = name;
    row.n = problem.rows();
    row.seconds = solved.solve_seconds;
    row.rate = solved.iterations / solved.solve_seconds;
    row.unit = "iterations/s";
    row.error = problem.error(x);
    const double ours = problems.our_seconds(on, side);
    row.more = {{"iterations", solved.iterations},
                {"seconds_per_iteration", solved.solve_seconds / std::max(solved.iterations, 1)},
                {"residual", solved.residual},
                {"factor_seconds", solved.factor_seconds},
                {"analysis_seconds", solved.analysis_seconds},
                {"our_seconds", ours},
                {"times_ours", row.seconds / ours}};
    row.note = fmt::format("cuSPARSE {}", solved.version);
    if (!(solved.residual <= system.tolerance)) row.note = "NOT CONVERGED: " + row.note;
    context.report(row);
}
#endif

void run_cusparse([[maybe_unused]] const BenchmarkContext& context, [[maybe_unused]] SparseProblems& problems) {
#if defined(KASANE_CUDA)
    const auto* on = std::get_if<Cuda>(&context.space);
    if (!on) return;
    CusparsePeer peer = nullptr;
    std::string reason;
    try {
        peer = load();
    } catch (const ComputationError& error) {
        reason = error.what();
    }
    for (const auto side : sides_or(context, {}, {128})) {
        if (!peer) {
            context.report(absent(cusparse_case, side * side * side, reason));
            continue;
        }
        for (const std::string order : {"natural", "cm-rcm:8", "cm-rcm:2"}) solve_with_cusparse(context, problems, *on, side, order, peer);
    }
#endif
}

}  // namespace

Benchmark sparse_peer_cusparse(const SharedSparse& shared) {
    return {
        cusparse_case,
        "Conjugate gradients combined from cuSPARSE's csric02, SpSV and SpMV and cuBLAS's dot products as in their samples, on the box "
        "of `sparse.solve` to the same tolerance, the matrix in natural, CM-RCM(8) and CM-RCM(2) order (CUDA alone). Seconds are those of "
        "the iterations with matrix and vectors on the device, the best of three; `factor_seconds` of csric02, `analysis_seconds` of "
        "SpSV's analysis. `times_ours` is over `our_seconds`: a solve with everything left to `auto` in the same run, which also copies b "
        "and x between host and device.",
        [shared](const BenchmarkContext& context) { run_cusparse(context, *shared); }};
}

}  // namespace kasane::bench
