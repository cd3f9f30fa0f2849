#include <kasane/core/base/error.hpp>
#include <kasane/sparse/iterate/entry_loads.hpp>
#include <kasane/sparse/order/orders.hpp>
#include <kasane/sparse/tune/candidates.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>

namespace kasane::sparse {
namespace {

bool has_triangles(Precondition precondition) { return precondition == Precondition::ic0 || precondition == Precondition::ssor; }

/// Rows of very different lengths: chunks are mostly padding unless rows are sorted by length within a large window.
int sigma_for(const MatrixFacts& matrix, int chunk) { return matrix.longest_row * matrix.rows > 4 * matrix.nonzeros ? 32 * chunk : 1; }
Format sell(const MatrixFacts& matrix, int chunk) { return {FormatKind::sell, chunk, sigma_for(matrix, chunk)}; }

std::vector<Ordering> orderings(const SolverOptions& asked, bool cuda, const MatrixFacts& matrix, const GraphFacts& graph) {
    if (asked.ordering.kind != OrderingKind::automatic) return {asked.ordering};
    // Without triangles the ordering affects only locality.
    if (!has_triangles(asked.precondition)) return {{OrderingKind::natural, 0, 0}, {OrderingKind::reverse_cuthill_mckee, 0, 0}};
    std::vector<Ordering> out;
    const auto take = [&](Ordering ordering) {
        if (std::ranges::find(out, ordering) == out.end()) out.push_back(ordering);
    };
    const auto cm_rcm = [&](int k) { take({OrderingKind::cm_rcm, std::max(k, graph.fewest_colors), 0}); };
    if (graph.fewest_colors == 2) cm_rcm(2);  // the first colour can be eliminated exactly: half the bytes
    cm_rcm(8);
    if (graph.fewest_colors > 8) take({OrderingKind::multicolor, 8, 0});  // levels with many conflicts: greedy colours are fewer
    if (cuda) {
        cm_rcm(4);
        cm_rcm(12);
        return out;
    }
    take({OrderingKind::block, 4, 32});
    // Many narrow colours: a barrier costs some thousand cycles, as much as some hundred rows.
    constexpr index_t wide = 1024;
    if (graph.levels > 0 && matrix.rows >= wide * graph.levels) take({OrderingKind::reverse_cuthill_mckee, 0, 0});
    if (graph.natural_levels > 0 && matrix.rows >= wide * graph.natural_levels) take({OrderingKind::natural, 0, 0});
    return out;
}

/// The ordering of the rules, unless another one is better by more than the error of its estimate (see rating.cpp).
Ordering fastest_ordering(const std::vector<TuneTrial>& trials) {
    constexpr double estimates_err_by = 1.25;
    const TuneTrial& preferred = trials.front();
    const SolverOptions best = best_of(trials);
    const auto iterations = estimated_iterations(trials);
    for (std::size_t t = 0; t < trials.size(); ++t)
        if (trials[t].options.ordering == best.ordering &&
            trials[t].seconds_per_iteration * iterations[t] * estimates_err_by < preferred.seconds_per_iteration * iterations[0])
            return best.ordering;
    // NaN where the ordering of the rules failed.
    return iterations[0] > 0 && preferred.seconds_per_iteration > 0 ? preferred.options.ordering : best.ordering;
}

bool same_choice(const SolverOptions& a, const SolverOptions& b) {
    return a.ordering == b.ordering && a.numbering == b.numbering && a.format == b.format && a.iteration == b.iteration &&
           a.launch == b.launch;
}

index_t colors_of(const Ordering& ordering, const GraphFacts& graph) {
    if (ordering.kind == OrderingKind::natural) return graph.natural_levels;
    if (ordering.colors == 0) return graph.levels;
    return ordering.colors;
}

}  // namespace

GraphFacts graph_facts(const CsrView& A) {
    const detail::Pattern graph(A);
    const auto levels = detail::reversed(detail::cuthill_mckee_levels(graph));
    return {detail::conflict_free_colors(graph, levels, 2), levels.count(), detail::natural_levels(graph).count()};
}

Format usual_format(const MatrixFacts& matrix, bool cuda, index_t colors) {
    const int chunk = cuda ? 32 : 8;
    // Colours of few chunks would consist mostly of padding.
    if (matrix.rows < 4 * chunk * std::max<index_t>(colors, 1)) return {FormatKind::csr, 1, 1};
    const Format chunks = sell(matrix, chunk);
    // Two AMD cores (Zen 4), two colours: csr is faster than chunks whose rows have columns apart (128^3: 6.4 and 7.4 ms per iteration),
    // and slower than chunks most of whose rows have neighbouring columns (128^3: 7.0 and 6.5, 58^3: 0.44 and 0.27).
    constexpr double grid = 0.8;
    if (!cuda && colors == 2 && chunks.sigma == 1 && matrix.shifted_rows < grid && prefetchers_suffice()) return {FormatKind::csr, 1, 1};
    return chunks;
}

std::vector<SolverOptions> candidates(const SolverOptions& asked, bool cuda, const MatrixFacts& matrix, const GraphFacts& graph) {
    std::vector<SolverOptions> out;
    for (const auto& ordering : orderings(asked, cuda, matrix, graph)) {
        SolverOptions options = asked;
        options.ordering = ordering;
        const bool one_color = !has_triangles(asked.precondition);
        if (options.format.kind == FormatKind::automatic)
            options.format = usual_format(matrix, cuda, one_color ? 1 : colors_of(ordering, graph));
        if (options.numbering == Numbering::automatic) options.numbering = Numbering::coalesced;
        if (options.launch == Launch::automatic && cuda) options.launch = Launch::cooperative;
        out.push_back(options);
    }
    return out;
}

std::vector<SolverOptions> variations(const SolverOptions& chosen, const SolverOptions& asked, bool cuda, const MatrixFacts& matrix) {
    std::vector<SolverOptions> out;
    const auto add = [&](auto change) {
        SolverOptions options = chosen;
        change(options);
        const bool same = options.format == chosen.format && options.numbering == chosen.numbering && options.launch == chosen.launch;
        if (!same) out.push_back(options);
    };
    if (asked.format.kind == FormatKind::automatic) {
        const auto formats = cuda ? std::vector<Format>{sell(matrix, 32), sell(matrix, 64), {FormatKind::sliced_ell, 0, 1}}
                                  : std::vector<Format>{sell(matrix, 8), sell(matrix, 4), sell(matrix, 16), {FormatKind::csr, 1, 1}};
        for (const auto& format : formats) add([&](SolverOptions& o) { o.format = format; });
    }
    if (asked.numbering == Numbering::automatic) add([](SolverOptions& o) { o.numbering = Numbering::sequential; });
    if (asked.launch == Launch::automatic && cuda) add([](SolverOptions& o) { o.launch = Launch::graph; });
    return out;
}

TuneResult tune(const SolverOptions& asked, bool cuda, const MatrixFacts& matrix, const GraphFacts& graph, const TrialFunction& trial,
                const TuneLimits& limits) {
    TuneResult result;
    std::exception_ptr failure;
    const bool limited = std::isfinite(limits.seconds);
    const auto first = candidates(asked, cuda, matrix, graph);
    constexpr double most_variations = 7;
    const double expected_trials = static_cast<double>(first.size()) + most_variations;
    const auto run = [&](const std::vector<SolverOptions>& list, bool convergence) {
        for (const auto& options : list) {
            const auto known = std::ranges::find_if(limits.known, [&](const TuneTrial& t) { return same_choice(t.options, options); });
            if (known != limits.known.end()) {
                result.trials.push_back(*known);
                result.trials.back().options = options;
                continue;
            }
            const double expected = convergence ? limits.trial_seconds : limits.variation_seconds;
            if (result.cost + expected > limits.seconds) {
                result.complete = false;
                return;
            }
            if (limits.progress)
                limits.progress(std::min(1., static_cast<double>(result.trials.size()) / expected_trials),
                                "ordering " + options.ordering.text() + ", format " + options.format.text());
            ++result.ran;
            try {
                const auto done = trial(options, convergence);
                result.cost += done.cost;
                result.disturbed = result.disturbed || done.disturbed;
                if (limited && done.disturbed) {
                    result.complete = false;
                    return;
                }
                result.trials.push_back(done);
            } catch (const Error&) {  // too large for the memory, or not applicable
                failure = std::current_exception();
                result.cost += expected;
            }
        }
    };
    run(first, first.size() > 1);
    if (result.complete && result.trials.empty()) std::rethrow_exception(failure);
    result.options = first.front();
    if (!result.complete) return result;
    const Ordering ordering = fastest_ordering(result.trials);
    const auto of_that_ordering = [&] {
        std::vector<TuneTrial> some;
        std::ranges::copy_if(result.trials, std::back_inserter(some), [&](const TuneTrial& t) { return t.options.ordering == ordering; });
        return some;
    };
    run(variations(best_of(of_that_ordering()), asked, cuda, matrix), false);
    if (result.complete) result.options = best_of(of_that_ordering());
    return result;
}

}  // namespace kasane::sparse
