// The rule between jacobi, ssor, ic0 and multigrid. The iterations of ICCG are about 1.25 times the number of steps from row to row that
// information must travel: across the graph, or the distance after which the diagonal has damped it. Where no row is coupled to two rows
// that are coupled themselves, two colours are enough and an iteration of ic0 takes half of the time (the reduced iteration); elsewhere
// ssor needs as many iterations, each of which takes half of the time of those of ic0 with values of its own. On a device the set-up of ic0
// costs more: the host orders its rows.
#include <kasane/sparse/block/blocked_rows.hpp>
#include <kasane/sparse/choice.hpp>
#include <kasane/sparse/condition.hpp>
#include <kasane/sparse/matrix/samples.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace kasane::sparse {
namespace {

struct SearchFacts {
    index_t depth = 0;        ///< levels of a breadth-first search from the first row of each part of the graph: the largest number
    bool two_colours = true;  ///< no row is coupled to another one of its level
};

/// The search ends at `enough` levels, or at `enough_of_others` where two colours are not enough.
SearchFacts search_graph(const CsrView& A, index_t enough, index_t enough_of_others) {
    SearchFacts facts;
    std::vector<char> seen(static_cast<std::size_t>(A.n), 0);  // 1 and 2 by turns, level by level
    std::vector<std::int32_t> front, next;
    for (index_t start = 0; start < A.n; ++start) {
        if (seen[static_cast<std::size_t>(start)]) continue;
        char here = 1;
        seen[static_cast<std::size_t>(start)] = here;
        front.assign(1, static_cast<std::int32_t>(start));
        for (index_t depth = 1; !front.empty(); ++depth, std::swap(front, next)) {
            facts.depth = std::max(facts.depth, depth);
            if (facts.depth >= (facts.two_colours ? enough : enough_of_others)) return facts;
            next.clear();
            const auto there = static_cast<char>(3 - here);
            for (const auto row : front)
                for (index_t e = A.begin(row); e < A.end(row); ++e) {
                    auto& other = seen[static_cast<std::size_t>(A.column(e))];
                    if (other == here && A.column(e) != row) facts.two_colours = false;
                    if (other) continue;
                    other = there;
                    next.push_back(static_cast<std::int32_t>(A.column(e)));
                }
            here = there;
        }
    }
    return facts;
}

constexpr double per_step = 1.25, damping = 6, most_positive = 0.1;

/// Iterations of ICCG, about.
double iterations_of_iccg(const SearchFacts& graph, const RowSumFacts& sums) {
    const double damped = sums.median_slack > 0 ? damping / std::sqrt(sums.median_slack) : INFINITY;
    return per_step * std::min(static_cast<double>(graph.depth), damped);
}

std::string few_iterations(const char* kind, double iterations) {
    return fmt::format("{} was chosen: ICCG would take about {:.0f} iterations, less time than a set-up of multigrid.", kind, iterations);
}
std::string many_iterations(double worth_a_setup) {
    return fmt::format("multigrid was chosen: its set-up takes less time than {:.0f} iterations of ICCG, which would take more.",
                       worth_a_setup);
}

PreconditionChoice by_rule_on_device(const CsrView& A) {
    // Seconds for set-up and solve on an H200, ic0 over multigrid (docs/multigrid.md): 0.8 with 110,592 rows, 1.0 to 1.1 with 200,000, 1.3
    // to 1.8 with 262,144, 2.1 to 3.5 above, with 50 iterations too.
    constexpr index_t least_rows = 200'000;
    constexpr double worth_a_setup = 40;
    if (A.n < least_rows)
        return {Precondition::ic0, fmt::format("ic0 was chosen: on a device multigrid is faster from {} rows on.", least_rows)};
    const auto sums = row_sum_facts(A);
    if (sums.positive_share > most_positive)
        return {Precondition::ic0,
                "ic0 was chosen: many entries beside the diagonal are positive, so that constants are not enough as near-null vectors."};
    const auto enough = static_cast<index_t>(worth_a_setup / per_step) + 1;
    const double iterations = iterations_of_iccg(search_graph(A, enough, enough), sums);
    if (iterations > worth_a_setup) return {Precondition::multigrid, many_iterations(worth_a_setup)};
    return {Precondition::ic0, few_iterations("ic0", iterations)};
}

PreconditionChoice by_rule_on_cpu(const CsrView& A) {
    // The time of a set-up of multigrid in iterations: of ic0 with two colours, and of ssor (docs/multigrid.md).
    constexpr double worth_a_setup = 220, worth_with_ssor = 60;
    // Flat cells whose coupling is 100 times as strong along one direction (a share of 0.98): of 195,112 rows ick takes 0.20 s with one
    // thread, ic0 0.38, multigrid 0.31; with two threads 0.18, 0.20, 0.17, and with a share of 0.93 0.31, 0.21, 0.15 (AMD EPYC).
    constexpr double one_direction = 0.95;
    // "box, random" with 195,112 rows: ic0 0.74 s with 232 iterations, multigrid 1.2 s with 31.
    constexpr double worth_where_rough = 375;
    // A beam of 45,600 rows, estimate 52: ssor 184 iterations and 1.60 s, multigrid with nodes of 3 rows 1.33 s.
    constexpr double of_elasticity = 1.3;
    constexpr double few = 15;               // an order of the rows for ssor takes longer than the iterations that it saves
    constexpr double well_conditioned = 20;  // some forty iterations with jacobi, whose set-up is the shortest
    constexpr index_t rows_of_neighbourhood = 4096;
    const auto sums = row_sum_facts(A);
    const bool many_positive = sums.positive_share > most_positive;
    const auto near = middle_neighbourhood(A, rows_of_neighbourhood);
    if (many_positive || !near.two_colours)
        if (const double condition = least_condition(near.scaled, well_conditioned); condition <= well_conditioned)
            return {Precondition::jacobi, fmt::format("jacobi was chosen: the condition number is about {:.1f}.", condition), 1, true};
    const auto graph =
        search_graph(A, static_cast<index_t>(worth_where_rough / per_step) + 1, static_cast<index_t>(worth_with_ssor / per_step) + 1);
    const double iterations = iterations_of_iccg(graph, sums);
    if (graph.two_colours && !many_positive) {
        if (iterations > worth_with_ssor && iterations <= worth_a_setup && share_of_one_distance(A) >= one_direction)
            return {Precondition::ick,
                    "ick was chosen: most of the coupling is along one direction, whose lines its factor solves almost exactly."};
        if (iterations <= worth_a_setup || (iterations <= worth_where_rough && is_rough(A)))
            return {Precondition::ic0, few_iterations("ic0", iterations)};
        return {Precondition::multigrid, many_iterations(worth_a_setup)};
    }
    if (iterations <= few) return {Precondition::jacobi, few_iterations("jacobi", iterations), 1, true};
    if (iterations * (many_positive ? of_elasticity : 1) <= worth_with_ssor)
        return {Precondition::ssor, few_iterations("ssor", iterations)};
    if (!many_positive) return {Precondition::multigrid, many_iterations(worth_with_ssor)};
    if (const int block = block_that_fits(A); block > 1)
        return {Precondition::multigrid,
                fmt::format("multigrid was chosen, with nodes of {} rows: they are coupled to the same rows, and many entries beside the "
                            "diagonal are positive, as in elasticity.",
                            block),
                block};
    return {Precondition::ssor,
            "ssor was chosen: many entries beside the diagonal are positive, so that constants are not enough as near-null vectors."};
}

}  // namespace

IterationEstimate iterations_by_rule(const CsrView& A, double enough) {
    const auto levels = static_cast<index_t>(enough / per_step) + 1;
    const auto graph = search_graph(A, levels, levels);
    return {iterations_of_iccg(graph, row_sum_facts(A)), graph.two_colours};
}

PreconditionChoice precondition_by_rule(const CsrView& A, bool cuda) { return cuda ? by_rule_on_device(A) : by_rule_on_cpu(A); }

}  // namespace kasane::sparse
