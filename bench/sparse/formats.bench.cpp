// sparse.formats: figure 9 of [HOHNI17] (C of SELL-C-1), sigma on rows of uneven length, and the cost of barriers and launches.
#include <bench/sparse/sparse_studies.hpp>
#include <kasane/core/math/random.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>

namespace kasane::bench {

using namespace sparse;

namespace {

/// Rows of 4 to 125 entries on a grid of side^3 points: each point couples to its faces, one in eight to all within a step, one in 64
/// to all within two steps, and a coupling holds in both directions. Diagonal: the number of couplings, and a hundredth.
CsrMatrix uneven_matrix(index_t side) {
    const auto reach = [&](index_t point) {
        const double u = to_unit_interval(random_bits(1, static_cast<std::uint64_t>(point), 0).low);
        return u < 1. / 64 ? 2 : u < 1. / 8 ? 1 : 0;
    };
    CsrMatrix A;
    A.begin.push_back(0);
    for (index_t p = 0; p < side * side * side; ++p) {
        const index_t i = p % side, j = p / side % side, k = p / (side * side);
        std::size_t diagonal = 0;
        for (index_t dk = -2; dk <= 2; ++dk)
            for (index_t dj = -2; dj <= 2; ++dj)
                for (index_t di = -2; di <= 2; ++di) {
                    const std::array at{i + di, j + dj, k + dk};
                    if (std::any_of(at.begin(), at.end(), [&](index_t x) { return x < 0 || x >= side; })) continue;
                    const index_t q = at[0] + side * (at[1] + side * at[2]);
                    const auto steps = std::max({std::abs(di), std::abs(dj), std::abs(dk)});
                    const bool face = std::abs(di) + std::abs(dj) + std::abs(dk) <= 1;
                    if (!face && std::max(reach(p), reach(q)) < steps) continue;
                    if (p == q) diagonal = A.value.size();
                    A.column.push_back(static_cast<std::int32_t>(q));
                    A.value.push_back(-1);
                }
        A.value[diagonal] = static_cast<double>(A.value.size()) - static_cast<double>(A.begin.back()) - 1 + 0.01;
        A.begin.push_back(static_cast<index_t>(A.value.size()));
    }
    return A;
}

/// One iteration of these options as a row; seconds are those of one iteration.
void iteration_row(const BenchmarkContext& context, SparseProblems& problems, const CsrMatrix& A, const std::vector<double>& rhs,
                   const std::string& label, const SolverOptions& options, const std::vector<std::pair<std::string, double>>& more = {}) {
    const auto name = "sparse.formats, " + label;
    try {
        Solver solver(context.space, A.view(), options);
        Measured measured;
        measured.setup = solver.setup();
        measured.log.iterations = 1;
        measured.log.end = krylov::Outcome::converged;
        measured.log.true_residual = measured.error = std::nan("");
        measured.iteration_seconds = measured.solve.seconds = seconds_per_iteration(solver, rhs);
        auto row = row_of(name, measured, problems.speed(context.space));
        std::erase_if(row.more, [](const auto& number) { return number.first == "iterations" || number.first == "true_residual"; });
        row.more.insert(row.more.begin(), more.begin(), more.end());
        // Off the diagonal; a factor with values of its own, or in float, is stored beside A.
        const bool twice = measured.setup.own_factor || options.single_factor;
        const auto needed = (measured.setup.nonzeros - measured.setup.rows) * (twice ? 2 : 1);
        row.more.emplace_back("stored_over_needed", static_cast<double>(measured.setup.stored_entries) / static_cast<double>(needed));
        context.report(row);
    } catch (const Error& error) {
        context.report(absent(name, A.rows(), error.what()));
    }
}

SolverOptions by_rule(const std::string& ordering, Iteration iteration) {
    auto options = scheme(ordering, iteration).options;
    options.numbering = Numbering::coalesced;
    return options;
}

void chunks(const BenchmarkContext& context, SparseProblems& problems, const SparseProblem& problem) {
    auto options = by_rule("cm-rcm:8", Iteration::plain);
    for (const std::string format : {"csr", "ell", "sliced-ell"}) {
        options.format = Format::parse(format);
        iteration_row(context, problems, problem.matrix, problem.rhs, "format " + format, options);
    }
    for (int C = 4; C <= 256; C *= 2) {
        options.format = {FormatKind::sell, C, 1};
        iteration_row(context, problems, problem.matrix, problem.rhs, fmt::format("C {}", C), options, {{"C", C}});
    }
}

void sorting(const BenchmarkContext& context, SparseProblems& problems, index_t side) {
    const auto A = uneven_matrix(side);
    const std::vector<double> ones(static_cast<std::size_t>(A.rows()), 1.);
    const int C = std::holds_alternative<Cpu>(context.space) ? 8 : 32;
    for (const auto& [precondition, ordering] : {std::pair{Precondition::jacobi, "auto"}, {Precondition::ic0, "mc:32"}}) {
        auto options = by_rule(ordering, Iteration::plain);
        options.precondition = precondition;
        for (const int sigma : {1, 32, 128, 512, 2048, 8192, 32768}) {
            options.format = {FormatKind::sell, C, sigma};
            iteration_row(context, problems, A, ones, fmt::format("uneven rows, {}, sigma {}", sparse::name(precondition), sigma), options,
                          {{"sigma", sigma}, {"C", C}});
        }
    }
}

void launches(const BenchmarkContext& context, SparseProblems& problems, const SparseProblem& problem) {
    struct Way {
        const char* ordering;
        Iteration iteration;
        bool single_factor;
    };
    const bool on_cpu = std::holds_alternative<Cpu>(context.space);
    for (const auto& [ordering, iteration, single] :
         {Way{"cm-rcm:2", Iteration::reduced, false}, Way{"cm-rcm:2", Iteration::eisenstat, false},
          Way{"cm-rcm:2", Iteration::plain, false}, Way{"cm-rcm:2", Iteration::plain, true}, Way{"cm-rcm:8", Iteration::eisenstat, false},
          Way{"cm-rcm:8", Iteration::plain, false}, Way{"cm-rcm:8", Iteration::plain, true}, Way{"cm-rcm:20", Iteration::eisenstat, false},
          Way{"cm-rcm:20", Iteration::plain, false}}) {
        auto one = scheme(ordering, iteration, "auto", single);
        for (const auto launch : {Launch::cooperative, Launch::graph}) {
            if (!on_cpu) one.options.launch = launch;
            iteration_row(context, problems, problem.matrix, problem.rhs, "way: " + one.name + (on_cpu ? "" : ", " + sparse::name(launch)),
                          one.options);
            if (on_cpu) break;
        }
    }
}

}  // namespace

Benchmark sparse_formats(const SharedSparse& shared) {
    return {
        "sparse.formats",
        "Time of one iteration, over 30 of them, the best of three runs. `C`: figure 9 of [HOHNI17], SELL-C-1 on the box (`--n` cells "
        "along an edge) in CM-RCM(8), plain iteration, beside the other formats. `uneven rows`: sigma of SELL-C-sigma on a matrix with 4 "
        "to 125 entries a row, with Jacobi (one colour: the format alone) and with IC(0) by multicolouring (rows are sorted inside a "
        "colour); "
        "`stored_over_needed` is the price of padding. `way`: the cost of barriers or launches, by iteration, colours, precision of the "
        "factor and, on a device, one cooperative kernel or a graph. The rate is bytes per iteration over that time, the bound the triad "
        "of this run: caches exceed it where a matrix fits.",
        [shared](const BenchmarkContext& context) {
            for (const auto side : sides_or(context, {128}, {128})) {
                const auto& problem = shared->box(side);
                chunks(context, *shared, problem);
                launches(context, *shared, problem);
                sorting(context, *shared, side);
            }
        }};
}

}  // namespace kasane::bench
