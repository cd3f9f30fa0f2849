// Rules for open options, stored choices, and trials. Two colours are fastest wherever the graph allows them: the first colour is
// eliminated exactly, so that an iteration costs half, for a quarter more iterations.
#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/load.hpp>
#include <kasane/sparse/choice.hpp>
#include <kasane/sparse/tune/candidates.hpp>
#include <kasane/sparse/tune/decide.hpp>

#include <fmt/format.h>

#include <utility>

namespace kasane::sparse {
namespace {

/// All rows in one colour: the preconditioner has no triangles, so that no row depends on another.
ColoredOrder one_color(ColoredOrder order) {
    order.color_begin = {0, static_cast<index_t>(order.row.size())};
    order.steps = 1;
    return order;
}

}  // namespace

void decide_rest(SolverOptions& options, const MatrixFacts& matrix, int colors, bool cuda) {
    if (options.numbering == Numbering::automatic) options.numbering = Numbering::coalesced;
    if (options.format.kind == FormatKind::automatic) options.format = usual_format(matrix, cuda, colors);
    // H200, 128^3, us per iteration in one cooperative launch and as a graph: two colours reduced 81 and 92, eisenstat 138 and 136, eight
    // colours 172 and 189, twenty 249 and 290.
    if (options.launch == Launch::automatic) options.launch = Launch::cooperative;
}

namespace {

bool has_substitutions(const SolverOptions& options) {
    return options.precondition == Precondition::ic0 || options.precondition == Precondition::ssor;
}

ColoredOrder ordered(const CsrView& A, const SolverOptions& options) {
    ColoredOrder order = order_rows(A, options.ordering);
    return has_substitutions(options) ? order : one_color(std::move(order));
}

bool anything_open(const SolverOptions& options, bool cuda) {
    return options.ordering.kind == OrderingKind::automatic || options.format.kind == FormatKind::automatic ||
           options.numbering == Numbering::automatic || (cuda && options.launch == Launch::automatic);
}

std::string device_of(Cpu on) { return device_info(on).name + fmt::format(", {} threads", thread_count(on)); }
#if defined(KASANE_CUDA)
std::string device_of(Cuda on) { return device_info(on).name; }
#endif

/// Prepares a candidate and runs some iterations.
template <Space S>
TuneTrial timed(const CsrView& A, const MatrixFacts& matrix, const SolverOptions& options, const PrepareSystem<S>& make, bool convergence) {
    constexpr int timed_iterations = 16;
    const auto check_stop = [&] {
        if (options.check_stop) options.check_stop();
    };
    check_stop();
    const Stopwatch watch;
    const LoadMeter load;
    auto prepared = make(options, ordered(A, options));
    check_stop();
    TuneTrial out;
    out.options = options;
    out.seconds_per_iteration = seconds_per_iteration(prepared, timed_iterations);
    if (convergence)
        out.progress = measured_progress(
            [&](int iterations) {
                check_stop();
                const auto progress = progress_after(prepared, iterations, matrix.singular);
                return TuneProgress{progress.iterations, progress.energy, progress.residual};
            },
            options.rtol);
    out.cost = watch.seconds();
    out.disturbed = load.disturbed();
    return out;
}

/// Why nothing is timed or read for these options; empty where it is.
std::string why_by_rule(const SolverOptions& options, const MatrixFacts& matrix) {
    constexpr index_t rows_worth_timing = 50'000;
    if (options.tune == Tuning::off) return "tuning is off";
    if (matrix.rows < rows_worth_timing) return fmt::format("below {} rows a solve takes less than the trials", rows_worth_timing);
    if (matrix.singular && matrix.components > 1) return "trials do not support singular matrices with several components";
    if (options.tune == Tuning::automatic && options.tuning_file.empty()) return "no tuning file is given, so no earlier solve is known";
    return "";
}

}  // namespace

template <Space S>
Choice choose(S on, const CsrView& A, const MatrixFacts& matrix, const SolverOptions& options, const PrepareSystem<S>& make,
              PartTimes& times) {
    constexpr bool cuda = !std::same_as<S, Cpu>;
    Choice choice;
    choice.options = options;
    SolverOptions& decided = choice.options;
    Stopwatch watch;
    if (!anything_open(options, cuda)) {
        choice.decision = {"options", "all of them are given", 0, 0};
    } else if (const auto why = why_by_rule(options, matrix); !why.empty()) {
        choice.decision = {"rule", why, 0, 0};
    } else {
        const bool kept = !options.tuning_file.empty();
        const TuningKey key = kept ? tuning_key(device_of(on), A, options) : TuningKey{};
        auto timed_decision = decide_by_time(options, key, [&](TuneLimits limits) {
            const Stopwatch facts_watch;
            const GraphFacts graph = graph_facts(A);
            const double facts_seconds = facts_watch.seconds();
            limits.seconds -= facts_seconds;
            auto result = tune(
                options, cuda, matrix, graph,
                [&](const SolverOptions& candidate, bool convergence) { return timed(A, matrix, candidate, make, convergence); }, limits);
            result.cost += facts_seconds;
            return result;
        });
        decided = std::move(timed_decision.options);
        choice.decision = std::move(timed_decision.decision);
        choice.notes = std::move(timed_decision.notes);
        if (kept && timed_decision.comparable) choice.account.emplace(options.tuning_file, key, options, choice.decision.by != "rule");
        times.add("tune", watch.seconds());
        watch.restart();
    }
    if (decided.ordering.kind == OrderingKind::automatic) {
        const bool substitutions = has_substitutions(options);
        decided.ordering = substitutions ? Ordering{OrderingKind::cm_rcm, 2, 0} : Ordering{OrderingKind::natural, 0, 0};
        choice.order = ordered(A, decided);
        if (substitutions && choice.order.colors() > 2) {
            decided.ordering = {OrderingKind::cm_rcm, 8, 0};
            choice.order = ordered(A, decided);
        }
    } else {
        choice.order = ordered(A, decided);
    }
    times.add("order", watch.seconds());
    decide_rest(decided, matrix, choice.order.colors(), cuda);
    return choice;
}

template Choice choose(Cpu, const CsrView&, const MatrixFacts&, const SolverOptions&, const PrepareSystem<Cpu>&, PartTimes&);
#if defined(KASANE_CUDA)
template Choice choose(Cuda, const CsrView&, const MatrixFacts&, const SolverOptions&, const PrepareSystem<Cuda>&, PartTimes&);
#endif

}  // namespace kasane::sparse
