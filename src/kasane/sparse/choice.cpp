// Rules for what was left open. Two colours win wherever the graph has them: the first colour is eliminated exactly, so an iteration costs
// half, for a quarter more iterations.
#include <kasane/core/base/timer.hpp>
#include <kasane/sparse/choice.hpp>

#include <numeric>
#include <utility>

namespace kasane::sparse {
namespace {

/// All rows in one colour: no row waits for another, because the preconditioner has no triangles.
ColoredOrder one_color(ColoredOrder order) {
    order.color_begin = {0, static_cast<index_t>(order.row.size())};
    order.steps = 1;
    return order;
}

Format format_by_rule(const MatrixFacts& matrix, index_t colors, bool cuda) {
    const index_t chunk = cuda ? 32 : 8;
    // Colours of few rows would be padding for the most part.
    if (matrix.rows < 4 * chunk * colors) return {FormatKind::csr, 1, 1};
    const bool uneven = matrix.longest_row * matrix.rows > 4 * matrix.nonzeros;
    return {FormatKind::sell, static_cast<int>(chunk), uneven ? static_cast<int>(32 * chunk) : 1};
}

}  // namespace

void decide_rest(SolverOptions& options, const MatrixFacts& matrix, int colors, bool cuda) {
    if (options.numbering == Numbering::automatic) options.numbering = Numbering::coalesced;
    if (options.format.kind == FormatKind::automatic) options.format = format_by_rule(matrix, colors, cuda);
    if (options.launch == Launch::automatic) options.launch = Launch::cooperative;
}

template <Space S>
Choice choose(S on, const CsrView& A, const MatrixFacts& matrix, const SolverOptions& options, const MakeEngine<S>& make, PartTimes& times) {
    constexpr bool cuda = !std::same_as<S, Cpu>;
    static_cast<void>(make);
    static_cast<void>(on);
    Choice choice;
    choice.options = options;
    SolverOptions& decided = choice.options;
    Stopwatch watch;
    const bool triangular = options.precondition == Precondition::ic0 || options.precondition == Precondition::ssor;
    if (decided.ordering.kind == OrderingKind::automatic) {
        decided.ordering = triangular ? Ordering{OrderingKind::cm_rcm, 2, 0} : Ordering{OrderingKind::natural, 0, 0};
        choice.order = order_rows(A, decided.ordering);
        if (triangular && choice.order.colors() > 2) {
            decided.ordering = {OrderingKind::cm_rcm, 8, 0};
            choice.order = order_rows(A, decided.ordering);
        }
    } else {
        choice.order = order_rows(A, decided.ordering);
    }
    if (!triangular) choice.order = one_color(std::move(choice.order));
    times.add("order", watch.seconds());
    decide_rest(decided, matrix, choice.order.colors(), cuda);
    return choice;
}

template Choice choose(Cpu, const CsrView&, const MatrixFacts&, const SolverOptions&, const MakeEngine<Cpu>&, PartTimes&);
#if defined(KASANE_CUDA)
template Choice choose(Cuda, const CsrView&, const MatrixFacts&, const SolverOptions&, const MakeEngine<Cuda>&, PartTimes&);
#endif

}  // namespace kasane::sparse
