// lattice.solve.columns: several right-hand sides at once, hop by hop and in whole solves, against as many one after the other.
#include <bench/lattice/lattice_studies.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/lattice/observe/sources.hpp>
#include <kasane/lattice/solve/column_solver.hpp>
#include <kasane/lattice/solve/options.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace kasane::bench {

using namespace lattice;

namespace {

constexpr int most = 12;
constexpr int counts[] = {1, 2, 3, 4, 6, 12};

/// One volume on a space: links and sources.
template <Space S>
class ColumnStudy {
   public:
    ColumnStudy(const BenchmarkContext& context, LatticeProblems& problems, S on, const Extents& extents)
        : context_(context), speed_(problems.speed(on)), on_(on), extents_(extents), links_(problems.weak(extents)) {}

    /// The clover operator's hop with the inverse term, links as solvers read them by default.
    void hops() {
        hop_rows<Precision::double_>({});
        hop_rows<Precision::single>({LinkReals::two_rows});
        hop_rows<Precision::half>({LinkReals::two_rows});
    }

    void solves(const std::vector<int>& columns) {
        for (const auto method : {Method::nested_bicgstab, Method::bicgstab})
            for (const auto inner : {Precision::half, Precision::single}) solves(columns, {.method = method, .inner = inner});
    }

   private:
    void solves(const std::vector<int>& columns, const SolverOptions& options) {
        const auto label = fmt::format("lattice.solve.columns, {}, {}, ", name(options.method), name(options.inner, options.inner_links));
        try {
            ResidentSolver<OneDevice<S>> solver(OneDevice<S>(on_, extents_), links_, benchmark_operator, options);
            double alone = std::nan("");
            for (const int n : columns) solve_row(label, solver, n, alone);
        } catch (const Error& error) {
            context_.report(absent_hop(label, extents_, error.what()));
        }
    }

    template <Precision P>
    void hop_rows(const LinkStorage& storage) {
        const auto label = "lattice.solve.columns, hop, clover, " + name(P, storage) + ", ";
        try {
            const auto lattice = std::make_shared<const Lattice<S>>(on_, extents_);
            const auto links = links_on(on_, links_);
            const auto A = clover_term(links, benchmark_operator.kappa * benchmark_operator.csw);
            const Dirac<S, P> dirac(lattice, links, &A, benchmark_operator.boundary, storage);
            FieldColumns<S, P> in(lattice, most), out(lattice, most);
            FieldAlgebra<S, P> algebra(lattice);
            const auto source = random_source(extents_, 2);
            for (int c = 0; c < most; ++c) {
                load(source, Parity::odd, in[c]);
                algebra.axpby(1. + c, in[c], 0, out[c]);
                algebra.copy(out[c], in[c]);
            }
            Field<S, P> expected(lattice);
            double alone = 0;
            for (const int n : counts) {
                ColumnSet set;
                for (int c = 0; c < n; ++c) set.push_back(c);
                const auto from = std::as_const(in).of(set);
                const auto to = out.of(set);
                const auto timing = time_calls(on_, [&] { dirac.hop(HopForm::inverse, Parity::even, false, 1, from, {}, to); });
                dirac.hop(HopForm::inverse, Parity::even, false, 1, in[n - 1], nullptr, expected);
                const double size = algebra.norm2(expected);
                const double sites = static_cast<double>(extents_.half()) * n, bytes = dirac.bytes_per_site(HopForm::inverse, false, n);
                if (n == 1) alone = timing.seconds;
                BenchmarkResult row;
                row.name = label + columns_text(n);
                row.n = extents_.volume();
                row.seconds = timing.seconds, row.spread = timing.spread;
                row.rate = clover_flops * sites / timing.seconds;
                row.unit = "flop/s";
                row.tflops = 1e-12 * row.rate;
                row.bound = speed_.triad * clover_flops / bytes;
                row.bound_reason =
                    "links and clover term once for all columns, every spinor once, at the speed of the memory: " + words(speed_);
                row.error = std::sqrt(algebra.axpy_norm2(-1, expected, out[n - 1]) / size);
                row.more = {{"columns", n},
                            {"bytes_per_site", bytes},
                            {"bandwidth", bytes * sites / timing.seconds},
                            {"speedup", n * alone / timing.seconds},
                            {"L", static_cast<double>(extents_[0])}};
                context_.report(row);
            }
        } catch (const Error& error) {
            context_.report(absent_hop(label, extents_, error.what()));
        }
    }

    /// Solves n columns from zero: the median of up to five. @param alone  seconds of one column; NaN before it was measured
    void solve_row(const std::string& label, ResidentSolver<OneDevice<S>>& solver, int n, double& alone) {
        std::vector<ResidentField<S>> b, x;
        for (int c = 0; c < n; ++c) {
            b.emplace_back(solver.lattice), x.emplace_back(solver.lattice);
            const auto source = point_source(extents_, {{0, 0, 0, 0}}, c / 3, c % 3);
            load(source, Parity::even, b.back().even);
            load(source, Parity::odd, b.back().odd);
        }
        std::optional<ColumnSolver<S>> together;
        if (n > 1) together.emplace(solver, n);
        std::vector<double> seconds;
        std::vector<SolveLog> logs;
        double spent = 0;
        for (int repeat = 0; repeat < 6 && (repeat < 2 || spent < 6); ++repeat) {
            for (auto& field : x) solver.zero(field);
            synchronize(on_);
            const Stopwatch watch;
            logs = n > 1 ? together->solve(b, x) : std::vector{solver.solve(b[0], x[0])};
            synchronize(on_);
            const double taken = watch.seconds();
            spent += taken;
            if (repeat == 1 && taken < 10) seconds.clear();  // the first solve is a warm-up
            seconds.push_back(taken);
            if (taken > 10) break;
        }
        std::sort(seconds.begin(), seconds.end());
        BenchmarkResult row;
        row.name = label + columns_text(n);
        row.n = extents_.volume();
        row.seconds = seconds[seconds.size() / 2], row.spread = (seconds.back() - seconds.front()) / row.seconds;
        row.rate = n / row.seconds;
        row.unit = "columns/s";
        row.error = 0;
        const bool nested = solver.options.method == Method::nested_bicgstab;
        double low = 0, bytes = 0;  // iterations in the inner precision, of all columns
        for (const auto& log : logs) {
            const int inner = nested ? log.inner_iterations : log.iterations;
            low += inner;
            bytes +=
                inner * inner_bytes(solver, n) + (nested ? log.iterations * outer_bytes(solver, n) : log.updates * update_bytes(solver));
            row.error = std::max(row.error, log.true_residual);
            for (const auto& note : log.notes) row.note += (row.note.empty() ? "" : "; ") + note;
            if (!log.converged()) row.note += " NOT CONVERGED";
        }
        row.bound = speed_.triad / (bytes / n * static_cast<double>(extents_.half()));
        row.bound_reason =
            "operators and vectors of all iterations, links and clover term once for all columns, at the speed of the memory: " +
            words(speed_);
        if (n == 1) alone = row.seconds;
        row.more = {{"columns", n},
                    {"seconds_per_column", row.seconds / n},
                    {"speedup", n * alone / row.seconds},
                    {"inner_iterations", low / n},
                    {"gflops", logs.front().gflops},
                    {"L", static_cast<double>(extents_[0])}};
        context_.report(row);
    }
    static std::string columns_text(int n) { return n == 1 ? "1 column" : fmt::format("{} columns", n); }

    /// Bytes per site of one parity of an application of Dhat.
    template <class Operator>
    static double operator_bytes(const Operator& A, int n) {
        return A.dirac().bytes_per_site(HopForm::inverse, false, n) + A.dirac().bytes_per_site(HopForm::inverse, true, n);
    }
    /// Of an inner iteration: two applications, 18 vectors.
    static double inner_bytes(const ResidentSolver<OneDevice<S>>& solver, int n) {
        if (solver.half) return 2 * operator_bytes(solver.half->A, n) + 18 * 52.;
        return 2 * operator_bytes(solver.single->A, n) + 18 * 96.;
    }
    /// Of an outer iteration: two applications, 28 vectors, and four conversions.
    static double outer_bytes(const ResidentSolver<OneDevice<S>>& solver, int n) {
        return 2 * operator_bytes(*solver.A, n) + 32 * 192. + 4 * (solver.half ? 52. : 96.);
    }

    /// Of a reliable update of one column: an application, nine vectors.
    static double update_bytes(const ResidentSolver<OneDevice<S>>& solver) { return operator_bytes(*solver.A, 1) + 9 * 192.; }

    const BenchmarkContext& context_;
    MemorySpeed speed_;
    S on_;
    Extents extents_;
    const GaugeField& links_;
};

}  // namespace

Benchmark lattice_columns(const SharedLattice& shared) {
    return {
        "lattice.solve.columns",
        "Several right-hand sides (columns) at once. `hop`: A^-1 H of one parity, links of 18 (double) and 12 reals; `speedup` is over as "
        "many hops of one column, the error the relative difference to one. Then whole solves, fields on the space, from x = 0 to a "
        "true residual of 1e-10 (the error), of the columns of a point source, by nested BiCGStab and by BiCGStab with reliable updates: "
        "the "
        "time of all columns, and `speedup` over as many solves of one. Links U = exp(0.3 i P), antiperiodic time, kappa = 0.125, c_sw = "
        "1; 16^4 on a CPU, 32^3 x 64 on a device, `--n "
        "L` for L^4; on a device also 12 columns on 8^4 to 24^4.",
        [shared](const BenchmarkContext& context) {
            std::visit(
                [&]<Space S>(S on) {
                    for (const auto& extents : volumes_or(context, main_volume(context.space))) {
                        ColumnStudy<S> study(context, *shared, on, extents);
                        study.hops();
                        study.solves({1, 2, 3, 4, 6, 12});
                    }
                    if (context.sizes.empty() && !std::same_as<S, Cpu>)
                        for (const int n : {8, 12, 16, 24}) ColumnStudy<S>(context, *shared, on, {{n, n, n, n}}).solves({1, 12});
                },
                context.space);
            shared->clear();
        }};
}

}  // namespace kasane::bench
