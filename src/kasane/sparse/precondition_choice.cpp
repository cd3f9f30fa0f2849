// The rule between jacobi, ssor, ic0 and multigrid. The iterations of ICCG are about 1.25 times the number of steps from row to row that
// information must travel: across the graph, or the distance after which the diagonal has damped it. On a CPU a set-up of multigrid takes
// the time of some 200 of them. On a device the set-up of ic0 costs more: the host orders its rows. CPU alone: where a few trial iterations
// show that the diagonal is enough, nothing is ordered; where the graph has triangles, ic0 needs values of its own, so that ssor takes half
// of its bytes per iteration and no factorisation, for about as many iterations.
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/choice.hpp>
#include <kasane/sparse/precondition/factor.hpp>

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

/// Sum of term(row), added in one order for any number of threads.
template <class Term>
double ordered_sum(index_t rows, const Term& term) {
    constexpr index_t chunk = 4096;
    std::vector<double> part(static_cast<std::size_t>((rows + chunk - 1) / chunk), 0.);
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < part.size(); ++k) {
        const index_t first = static_cast<index_t>(k) * chunk, last = std::min(rows, first + chunk);
        for (index_t row = first; row < last; ++row) part[k] += term(static_cast<std::size_t>(row));
    }
    double sum = 0;
    for (const double one : part) sum += one;
    return sum;
}

/// Iterations of conjugate gradients with the diagonal for eight digits, from the rate of the last four of six on white noise; infinite
/// where the residual does not fall. The rate falls later where small eigenvalues are few: the number is a lower estimate.
double jacobi_iterations(const CsrView& A) {
    constexpr int steps = 6, first_of_rate = 2;
    const auto rows = static_cast<std::size_t>(A.n);
    std::vector<double> inverse(rows), r(rows), p(rows, 0.), q(rows);
#pragma omp parallel for schedule(static)
    for (std::size_t i = 0; i < rows; ++i) {
        const auto row = static_cast<index_t>(i);
        for (index_t e = A.begin(row); e < A.end(row); ++e)
            if (A.column(e) == row) inverse[i] = 1 / A.value[e];
        // White noise of the system that is scaled on both sides.
        r[i] = (2 * to_unit_interval(random_bits(1, i, 0).low) - 1) / std::sqrt(inverse[i]);
    }
    const auto squared_norm = [&] { return ordered_sum(A.n, [&](std::size_t i) { return inverse[i] * r[i] * r[i]; }); };
    double rho = squared_norm(), before = 0, of_rate = rho;
    for (int step = 0; step < steps; ++step) {
        const double beta = before > 0 ? rho / before : 0;
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < rows; ++i) p[i] = inverse[i] * r[i] + beta * p[i];
        const double curvature = ordered_sum(A.n, [&](std::size_t i) {
            const auto row = static_cast<index_t>(i);
            double sum = 0;
            for (index_t e = A.begin(row); e < A.end(row); ++e) sum += A.value[e] * p[static_cast<std::size_t>(A.column(e))];
            q[i] = sum;
            return sum * p[i];
        });
        if (!(curvature > 0)) return rho > 0 ? HUGE_VAL : static_cast<double>(step);
        const double alpha = rho / curvature;
#pragma omp parallel for schedule(static)
        for (std::size_t i = 0; i < rows; ++i) r[i] -= alpha * q[i];
        before = rho;
        rho = squared_norm();
        if (step + 1 == first_of_rate) of_rate = rho;
    }
    if (!(rho < of_rate)) return rho == 0 ? static_cast<double>(steps) : HUGE_VAL;
    return std::log(1e-8) / (0.5 * std::log(rho / of_rate) / (steps - first_of_rate));
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
    // CPU, 30,000 rows, jacobi over ssor: 0.7 at 17 and 27 iterations of jacobi, 1.5 to 3 above 80. ssor over ic0 on graphs with
    // triangles: 0.43 to 0.85 (`kasane bench sparse.matrices`).
    constexpr double few = 30;
    if (!cuda)
        if (const double iterations = jacobi_iterations(A); iterations < few)
            return {Precondition::jacobi,
                    fmt::format("jacobi was chosen: by six trial iterations it takes about {:.0f}, less time than to order "
                                "the rows for another one.",
                                iterations)};
    const auto without_levels = [&](const std::string& reason) -> PreconditionChoice {
        if (!cuda && has_triangles(Cpu{}, A))
            return {Precondition::ssor,
                    "ssor was chosen: " + reason + "; the graph has triangles, for which ic0 needs more bytes per iteration."};
        return {Precondition::ic0, "ic0 was chosen: " + reason + "."};
    };
    const auto facts = row_sum_facts(A);
    if (facts.positive_share > most_positive)
        return without_levels("many entries beside the diagonal are positive, so that constants are not enough as near-null vectors");
    const auto enough = static_cast<index_t>(worth_a_setup / per_step) + 1;
    const double damped = facts.median_slack > 0 ? damping / std::sqrt(facts.median_slack) : INFINITY;
    const double iterations = per_step * std::min(static_cast<double>(depth_of_graph(A, enough)), damped);
    if (iterations > worth_a_setup)
        return {Precondition::multigrid,
                fmt::format("multigrid was chosen: its set-up takes less time than {:.0f} iterations of ICCG, which would take more.",
                            worth_a_setup)};
    return without_levels(fmt::format("ICCG would take about {:.0f} iterations, less time than a set-up of multigrid", iterations));
}

}  // namespace kasane::sparse
