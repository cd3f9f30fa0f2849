#include <kasane/sparse/block_system.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/general/arrangement.hpp>
#include <kasane/sparse/rows_solve.hpp>

#include <numeric>
#include <utility>

namespace kasane::sparse {
namespace {

/// out = A in and out = M^-1 in, in the form of krylov.
template <Space S>
struct BlockOperator {
    const BlockFactors<S>& factors;
    template <class Algebra>
    void apply(Algebra&, const Buffer<double, S>& in, Buffer<double, S>& out) const {
        factors.multiply(in, out);
    }
};
template <Space S>
struct BlockPreconditionerOf {
    const BlockFactors<S>& factors;
    template <class Algebra>
    void apply(Algebra&, const Buffer<double, S>& in, Buffer<double, S>& out) const {
        factors.precondition(in, out);
    }
};

BlockPreconditioner kind_of_blocks(Precondition precondition) {
    return precondition == Precondition::ic0      ? BlockPreconditioner::ic0
           : precondition == Precondition::jacobi ? BlockPreconditioner::jacobi
                                                  : BlockPreconditioner::none;
}

/// The smallest shift of the diagonal with which all pivots are positive.
template <Space S>
double set_values_with_positive_pivots(BlockFactors<S>& factors, const std::vector<double>& values) {
    for (double shift = 0; shift < 2; shift = shift == 0 ? 1e-3 : 2 * shift)
        if (factors.set_values(values, shift)) return shift;
    throw PreconditionError(
        "the factorisation by blocks finds pivots that are not positive, even with twice the diagonal: the matrix is far "
        "from positive definite. Take jacobi without blocks, or gmres where it is indefinite");
}

}  // namespace

template <Space S>
BlockSystem<S> prepare_blocks(S on, const CsrView& A, int block, const SolverOptions& options) {
    BlockSystem<S> system{on, options, blocked_rows(A, block), nullptr, {}, "natural", "", {}, 0};
    const auto& rows = system.rows;
    std::vector<std::int32_t> order(static_cast<std::size_t>(rows.rows()));
    std::iota(order.begin(), order.end(), 0);
    system.color_begin = {0, rows.rows()};
    if (options.precondition == Precondition::ic0) {
        auto colored = options.ordering.kind == OrderingKind::automatic ? automatic_order(rows.pattern(), !std::same_as<S, Cpu>)
                                                                        : order_rows(rows.pattern(), options.ordering);
        order = std::move(colored.row);
        system.color_begin = std::move(colored.color_begin);
        system.ordering = colored.asked.text();
        system.note = std::move(colored.note);
    }
    std::vector<std::int32_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
    const auto pattern = slice_rows(rows.pattern(), order, place, lanes_of<S>);
    system.factors = make_block_factors(on, pattern, system.color_begin, block, kind_of_blocks(options.precondition));
    system.row = to_space(on, order);
    update_blocks(system, A);
    return system;
}

template <Space S>
void update_blocks(BlockSystem<S>& system, const CsrView& A) {
    system.shift = set_values_with_positive_pivots(*system.factors, block_values(A, system.rows));
}

template <Space S>
SolveLog solve_prepared(BlockSystem<S>& system, View<const double> b, View<double> x, bool mean_free, Start, const StopFunction& stop) {
    const S on = system.on;
    const int block = system.rows.block;
    const auto row = View<const std::int32_t>(system.row.view());
    Buffer<double, S> right(on, b.n), solution(on, x.n);
    permute_blocks(on, row, block, false, b, right.view());
    permute_blocks(on, row, block, false, View<const double>(x), solution.view());
    const auto log = solve_rows(on, BlockOperator<S>{*system.factors}, BlockPreconditionerOf<S>{*system.factors}, system.options,
                                View<const double>(right.view()), solution.view(), mean_free, stop);
    permute_blocks(on, row, block, true, View<const double>(solution.view()), x);
    synchronize(on);
    return log;
}

template <Space S>
double bytes_per_iteration(const BlockSystem<S>& system) {
    // In and out of the product and, for ic0, of both triangles.
    const double n = static_cast<double>(system.rows.rows()) * system.rows.block;
    const double passes = system.options.precondition == Precondition::ic0 ? 2 + 4 : 2 + 2;
    return system.factors->bytes_per_iteration() + 8 * n * (passes + vectors_of_iteration(false));
}

template BlockSystem<Cpu> prepare_blocks(Cpu, const CsrView&, int, const SolverOptions&);
template void update_blocks(BlockSystem<Cpu>&, const CsrView&);
template SolveLog solve_prepared(BlockSystem<Cpu>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double bytes_per_iteration(const BlockSystem<Cpu>&);
#if defined(KASANE_CUDA)
template BlockSystem<Cuda> prepare_blocks(Cuda, const CsrView&, int, const SolverOptions&);
template void update_blocks(BlockSystem<Cuda>&, const CsrView&);
template SolveLog solve_prepared(BlockSystem<Cuda>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double bytes_per_iteration(const BlockSystem<Cuda>&);
#endif

}  // namespace kasane::sparse
