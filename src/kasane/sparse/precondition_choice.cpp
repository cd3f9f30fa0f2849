// The rule between ic0 and multigrid. The iterations of ICCG are about 1.25 times the number of steps from row to row that information must
// travel: across the graph, or the distance after which the diagonal has damped it. On a CPU a set-up of multigrid takes the time of some
// 200 of them. On a device the set-up of ic0 costs more: the host orders its rows.
#include <kasane/sparse/choice.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::sparse {
namespace {

/// Number of levels of a breadth-first search from the first row of each part of the graph: the largest, or `enough` if it is not less.
index_t depth_of_graph(const CsrView& A, index_t enough) {
    std::vector<char> seen(static_cast<std::size_t>(A.n), 0);
    std::vector<std::int32_t> front, next;
    index_t deepest = 0;
    for (index_t start = 0; start < A.n; ++start) {
        if (seen[static_cast<std::size_t>(start)]) continue;
        seen[static_cast<std::size_t>(start)] = 1;
        front.assign(1, static_cast<std::int32_t>(start));
        for (index_t depth = 1; !front.empty(); ++depth, std::swap(front, next)) {
            deepest = std::max(deepest, depth);
            if (deepest >= enough) return enough;
            next.clear();
            for (const auto row : front)
                for (index_t e = A.begin(row); e < A.end(row); ++e) {
                    const auto other = static_cast<std::size_t>(A.column(e));
                    if (seen[other]) continue;
                    seen[other] = 1;
                    next.push_back(static_cast<std::int32_t>(other));
                }
        }
    }
    return deepest;
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
                diagonal = A.value[e];
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

}  // namespace

PreconditionChoice precondition_by_rule(const CsrView& A, bool cuda) {
    // Seconds for set-up and solve, ic0 over multigrid (docs/multigrid.md). CPU: 0.7 at 90 iterations of ICCG, 1.0 to 1.1 at 170 to
    // 270, 1.2 to 1.7 at 230 to 510, 4 above. H200: 0.8 with 110,592 rows, 1.0 to 1.1 with 200,000, 1.3 to 1.8 with 262,144, 2.1 to 3.5
    // above, with 50 iterations too.
    constexpr double per_step = 1.25, damping = 6, most_positive = 0.1;
    constexpr index_t least_rows = 200'000;  // on a device
    const double worth_a_setup = cuda ? 40 : 200;
    if (cuda && A.n < least_rows)
        return {Precondition::ic0, fmt::format("ic0 was chosen: a set-up of multigrid pays on a device from {} rows on.", least_rows)};
    const auto facts = row_sum_facts(A);
    if (facts.positive_share > most_positive)
        return {Precondition::ic0,
                "ic0 was chosen: many entries beside the diagonal are positive, so that constants are not enough as near-null vectors."};
    const auto enough = static_cast<index_t>(worth_a_setup / per_step) + 1;
    const double damped = facts.median_slack > 0 ? damping / std::sqrt(facts.median_slack) : INFINITY;
    const double iterations = per_step * std::min(static_cast<double>(depth_of_graph(A, enough)), damped);
    const bool multigrid = iterations > worth_a_setup;
    return {
        multigrid ? Precondition::multigrid : Precondition::ic0,
        multigrid
            ? fmt::format("multigrid was chosen: its set-up takes less time than {:.0f} iterations of ICCG, which would take more.",
                          worth_a_setup)
            : fmt::format("ic0 was chosen: ICCG would take about {:.0f} iterations, less time than a set-up of multigrid.", iterations)};
}

}  // namespace kasane::sparse
