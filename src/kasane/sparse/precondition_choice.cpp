// The rule between jacobi, ssor, ic0 and multigrid. The iterations of ICCG are about 1.25 times the number of steps from row to row that
// information must travel: across the graph, or the distance after which the diagonal has damped it. Where no row is coupled to two rows
// that are coupled themselves, two colours are enough and an iteration of ic0 takes half of the time (the reduced iteration); elsewhere
// ssor needs as many iterations, each of which takes half of the time of those of ic0 with values of its own. On a device the set-up of ic0
// costs more: the host orders its rows.
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/aggregation/tridiagonal.hpp>
#include <kasane/sparse/block/blocked_rows.hpp>
#include <kasane/sparse/choice.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
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

struct RowSumFacts {
    double median_slack = 0;    ///< of (diagonal - sum of the sizes of the others) / diagonal
    double positive_share = 0;  ///< of the entries beside the diagonal, by size
};

RowSumFacts row_sum_facts(const CsrView& A) {
    std::vector<float> slack(static_cast<std::size_t>(A.n));
    double positive = 0, all = 0;
    for (index_t row = 0; row < A.n; ++row) {
        double diagonal = 0, others = 0;
        for (index_t e = A.begin(row); e < A.end(row); ++e) {
            if (A.column(e) == row) {
                diagonal = std::fabs(A.value[e]);
            } else {
                others += std::fabs(A.value[e]);
                positive += std::max(0., A.value[e]);
            }
        }
        all += others;
        slack[static_cast<std::size_t>(row)] = static_cast<float>(std::max(0., (diagonal - others) / diagonal));
    }
    const auto middle = slack.begin() + static_cast<std::ptrdiff_t>(slack.size() / 2);
    std::nth_element(slack.begin(), middle, slack.end());
    return {static_cast<double>(*middle), all > 0 ? positive / all : 0};
}

/// The largest share, by size, of the entries beside the diagonal that stand at one distance from it: of a box whose coefficient is large
/// along one direction it is near 1. 0 where there are more than four distances, or one alone.
double share_of_one_distance(const CsrView& A) {
    std::vector<std::pair<index_t, double>> sizes;
    double all = 0;
    for (index_t row = 0; row < A.n; ++row)
        for (index_t e = A.begin(row); e < A.end(row); ++e) {
            const index_t distance = std::abs(A.column(e) - row);
            if (distance == 0) continue;
            auto found = std::ranges::find(sizes, distance, &std::pair<index_t, double>::first);
            if (found == sizes.end()) {
                if (sizes.size() == 4) return 0;
                found = sizes.insert(sizes.end(), {distance, 0.});
            }
            found->second += std::fabs(A.value[e]);
            all += std::fabs(A.value[e]);
        }
    double largest = 0;
    for (const auto& [distance, size] : sizes) largest = std::max(largest, size);
    return sizes.size() > 1 && all > 0 ? largest / all : 0;
}

/// Whether more than a quarter of the coupling, by size, is between rows whose diagonal entries differ by more than a factor of two, as
/// where a coefficient varies from cell to cell. Coarse grids represent such a system badly.
bool is_rough(const CsrView& A) {
    std::vector<float> diagonal(static_cast<std::size_t>(A.n), 0);
    for (index_t row = 0; row < A.n; ++row)
        for (index_t e = A.begin(row); e < A.end(row); ++e)
            if (A.column(e) == row) diagonal[static_cast<std::size_t>(row)] = static_cast<float>(A.value[e]);
    double all = 0, rough = 0;
    for (index_t row = 0; row < A.n; ++row) {
        const float own = diagonal[static_cast<std::size_t>(row)];
        for (index_t e = A.begin(row); e < A.end(row); ++e) {
            if (A.column(e) == row) continue;
            const float other = diagonal[static_cast<std::size_t>(A.column(e))];
            const double size = std::fabs(A.value[e]);
            all += size;
            if (std::max(own, other) > 2 * std::min(own, other)) rough += size;
        }
    }
    return rough > all / 4;
}

/// Neighbouring rows in the middle of A, a quarter of all but 20,000 at least, and the entries among them, scaled to a diagonal of 1. Its
/// condition number is at most that of A in this scale, since it is a part of that around the diagonal.
CsrMatrix middle_rows(const CsrView& A) {
    constexpr index_t fewest = 20'000;
    const index_t n = std::min(A.n, std::max(A.n / 4, fewest)), first = (A.n - n) / 2;
    CsrMatrix part;
    std::vector<double> root;
    part.begin.push_back(0);
    for (index_t row = first; row < first + n; ++row) {
        root.push_back(1);
        for (index_t e = A.begin(row); e < A.end(row); ++e) {
            const index_t column = A.column(e);
            if (column < first || column >= first + n) continue;
            if (column == row) root.back() = 1 / std::sqrt(A.value[e]);
            part.column.push_back(static_cast<std::int32_t>(column - first));
            part.value.push_back(A.value[e]);
        }
        part.begin.push_back(static_cast<index_t>(part.column.size()));
    }
    for (std::size_t row = 0; row < root.size(); ++row)
        for (auto e = static_cast<std::size_t>(part.begin[row]); e < static_cast<std::size_t>(part.begin[row + 1]); ++e)
            part.value[e] *= root[row] * root[static_cast<std::size_t>(part.column[e])];
    return part;
}

/// A lower bound of the condition number of A scaled to a diagonal of 1: the largest over the smallest Ritz value of some steps of Lanczos'
/// method on a part of A, or of as many as exceed `enough`.
double least_condition(const CsrView& A, double enough) {
    constexpr int steps = 10;
    const CsrMatrix part = middle_rows(A);
    const auto n = static_cast<std::size_t>(part.rows());
    std::vector<double> v(n), w(n), before(n, 0.), alphas, betas;
    RandomStream random(1, 0);
    double square = 0, ratio = 1, beta = 0;
    for (auto& one : v) {
        one = random.uniform() - 0.5;
        square += one * one;
    }
    for (auto& one : v) one /= std::sqrt(square);
    for (int step = 0; step < steps && ratio <= enough; ++step) {
        double alpha = 0, next2 = 0;
        for (std::size_t row = 0; row < n; ++row) {
            double sum = 0;
            for (auto e = static_cast<std::size_t>(part.begin[row]); e < static_cast<std::size_t>(part.begin[row + 1]); ++e)
                sum += part.value[e] * v[static_cast<std::size_t>(part.column[e])];
            w[row] = sum - beta * before[row];
            alpha += w[row] * v[row];
        }
        for (std::size_t row = 0; row < n; ++row) {
            w[row] -= alpha * v[row];
            next2 += w[row] * w[row];
        }
        alphas.push_back(alpha);
        std::vector<double> negative;
        for (const double one : alphas) negative.push_back(-one);
        const double least = -largest_of_tridiagonal(negative, betas);
        ratio = least > 0 ? largest_of_tridiagonal(alphas, betas) / least : INFINITY;
        beta = std::sqrt(next2);
        if (!(beta > 1e-8)) break;
        betas.push_back(beta);
        std::swap(before, v);
        for (std::size_t row = 0; row < n; ++row) v[row] = w[row] / beta;
    }
    return ratio;
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
    constexpr double worth_a_setup = 180, worth_with_ssor = 60;
    // "box, random" with 195,112 rows: ic0 0.74 s with 232 iterations, multigrid 1.2 s with 31.
    constexpr double worth_where_rough = 375;
    // With a coefficient of 1, 10 and 100 along the axes, one thread: ick 0.21 s, ic0 0.27, multigrid 0.29 with 97,336 rows; 3.4, 3.9, 4.5
    // with 804,357, where 425 is not reached.
    constexpr double worth_with_ick = 425, one_direction = 0.8;
    // A beam of 45,600 rows, estimate 52: ssor 184 iterations and 1.60 s, multigrid with nodes of 3 rows 1.33 s.
    constexpr double of_elasticity = 1.3;
    constexpr double few = 15;               // an order of the rows for ssor takes longer than the iterations that it saves
    constexpr double well_conditioned = 20;  // some forty iterations with jacobi, whose set-up is the shortest
    const auto sums = row_sum_facts(A);
    const bool many_positive = sums.positive_share > most_positive;
    const auto well_conditioned_choice = [&]() -> std::optional<PreconditionChoice> {
        const double condition = least_condition(A, well_conditioned);
        if (condition > well_conditioned) return std::nullopt;
        return PreconditionChoice{Precondition::jacobi, fmt::format("jacobi was chosen: the condition number is about {:.1f}.", condition),
                                  1, true};
    };
    // Where hardly any entry beside the diagonal is positive, only a matrix with few iterations can be well conditioned: the product is
    // saved.
    if (many_positive)
        if (auto choice = well_conditioned_choice()) return *choice;
    const auto graph =
        search_graph(A, static_cast<index_t>(worth_with_ick / per_step) + 1, static_cast<index_t>(worth_with_ssor / per_step) + 1);
    const double iterations = iterations_of_iccg(graph, sums);
    if (graph.two_colours && !many_positive) {
        if (iterations > worth_with_ssor && iterations <= worth_with_ick && share_of_one_distance(A) >= one_direction)
            return {Precondition::ick,
                    "ick was chosen: most of the coupling is along one direction, whose lines its factor solves almost exactly."};
        if (iterations <= worth_a_setup || (iterations <= worth_where_rough && is_rough(A)))
            return {Precondition::ic0, few_iterations("ic0", iterations)};
        return {Precondition::multigrid, many_iterations(worth_a_setup)};
    }
    if (iterations <= few) return {Precondition::jacobi, few_iterations("jacobi", iterations), 1, true};
    if (!many_positive && iterations <= worth_with_ssor)
        if (auto choice = well_conditioned_choice()) return *choice;
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
