#include <kasane/run/poisson/solve_summary.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::run {
namespace {

constexpr std::size_t most_listed_colors = 1024;  // a chain in natural order has one colour per row

/// Bytes per second of the iterations, from the bytes that they must move; 0 where there were none.
double bandwidth(const sparse::SetupFacts& setup, const sparse::SolveLog& log) {
    return log.iteration_seconds > 0 ? setup.bytes_per_iteration * log.iterations / log.iteration_seconds : 0;
}

double per_unknown(std::uint64_t bytes, const sparse::SetupFacts& setup) {
    return setup.rows > 0 ? static_cast<double>(bytes) / static_cast<double>(setup.rows) : 0;
}

std::string mebibytes(std::uint64_t bytes) { return fmt::format("{:.3g} MiB", static_cast<double>(bytes) / (1 << 20)); }

io::Json history_json(const std::vector<sparse::ResidualPoint>& history) {
    auto iteration = io::Json::array(), preconditioned = iteration, relative = iteration;
    for (const auto& point : history) {
        iteration.push_back(point.iteration);
        preconditioned.push_back(point.preconditioned);
        relative.push_back(point.relative);
    }
    return {{"iteration", iteration}, {"preconditioned", preconditioned}, {"relative", relative}};
}

/// At most a dozen points of the history, with the first and the last; points where ||r|| was computed are preferred. Where the
/// method stores no sqrt(r.M^-1 r), the table has no column for it.
std::string history_table(const std::vector<sparse::ResidualPoint>& history) {
    constexpr std::size_t lines = 12;
    if (history.size() < 2) return "";
    const bool has_preconditioned = std::isfinite(history.front().preconditioned);
    auto text = fmt::format("\n{:>12} {:>12}", "iteration", "||r||/||b||");
    if (has_preconditioned) text += fmt::format(" {:>18}", "sqrt(r.M^-1 r)");
    const auto count = std::min(lines, history.size());
    std::size_t next = 0;
    for (std::size_t line = 0; line < count; ++line) {
        auto at = std::max(next, line * (history.size() - 1) / (count - 1));
        const auto before_next_line = std::min((line + 1) * (history.size() - 1) / (count - 1), history.size());
        for (auto i = at; i < before_next_line; ++i)
            if (!std::isnan(history[i].relative)) {
                at = i;
                break;
            }
        const auto& point = history[at];
        const auto relative = std::isnan(point.relative) ? std::string("-") : fmt::format("{:.3e}", point.relative);
        text += fmt::format("\n{:>12} {:>12}", point.iteration, relative);
        if (has_preconditioned) text += fmt::format(" {:>18.3e}", point.preconditioned);
        next = at + 1;
        if (next >= history.size()) break;
    }
    return text;
}

}  // namespace

io::Json as_json(const sparse::SetupFacts& setup, const sparse::SolveLog& log) {
    io::Json parts = io::Json::object();
    for (const auto& [part, seconds] : setup.seconds) parts[part] = seconds;
    const auto& sizes = setup.color_sizes;
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    return {
        {"n", setup.rows},
        {"nonzeros", setup.nonzeros},
        {"device", setup.device},
        {"ordering", setup.ordering},
        {"numbering", setup.numbering},
        {"format", setup.format},
        {"precondition", setup.precondition},
        {"iteration", setup.iteration},
        {"launch", setup.launch},
        {"decision",
         {{"by", setup.decision.by},
          {"reason", setup.decision.reason},
          {"trials", setup.decision.trials},
          {"seconds", setup.decision.seconds}}},
        {"colors", setup.colors},
        {"color_sizes", sizes.size() <= most_listed_colors ? sizes : std::vector<index_t>{}},
        {"smallest_color", sizes.empty() ? 0 : *least},
        {"largest_color", sizes.empty() ? 0 : *most},
        {"converged", log.converged()},
        {"end", krylov::name(log.end)},
        {"iterations", log.iterations},
        {"relative_residual", log.true_residual},
        {"recurrence_residual", log.residual},
        {"restarts", log.restarts},
        {"setup_seconds", setup.total_seconds},
        {"setup_parts", parts},
        {"solve_seconds", log.seconds},
        {"iteration_seconds", log.iteration_seconds},
        {"bytes", setup.bytes},
        {"peak_bytes", setup.peak_bytes},
        {"bytes_per_unknown", per_unknown(setup.bytes, setup)},
        {"bytes_per_iteration", setup.bytes_per_iteration},
        {"bytes_per_second", bandwidth(setup, log)},
        {"barriers_per_iteration", setup.barriers_per_iteration},
        {"padded_rows", setup.padded_rows},
        {"stored_entries", setup.stored_entries},
        {"shift", setup.shift},
        {"singular", setup.singular},
        {"mean_removed", log.mean_removed},
        {"own_factor", setup.own_factor},
        {"notes", setup.notes},
        {"history", history_json(log.history)},
    };
}

std::string as_text(const sparse::SetupFacts& setup, const sparse::SolveLog& log) {
    auto text = fmt::format("{} unknowns, {} entries on {}", setup.rows, setup.nonzeros, setup.device);
    const auto [least, most] = std::minmax_element(setup.color_sizes.begin(), setup.color_sizes.end());
    const bool ordered = !setup.ordering.empty();
    if (ordered) text += "\nordering " + setup.ordering;
    if (ordered && setup.colors > 0) text += fmt::format(": {} colour{}", setup.colors, setup.colors == 1 ? "" : "s");
    if (!setup.color_sizes.empty())
        text += *least == *most ? fmt::format(" of {} rows", *most) : fmt::format(" of {} to {} rows", *least, *most);
    text += !setup.numbering.empty() ? fmt::format("\nnumbering {}, format {}, preconditioner {}, iteration {}", setup.numbering,
                                                   setup.format, setup.precondition, setup.iteration)
                                     : fmt::format("\npreconditioner {}", setup.precondition);
    if (!setup.launch.empty()) text += ", launch " + setup.launch;
    text += fmt::format("\nchosen by {}: {}", setup.decision.by, setup.decision.reason);
    if (setup.decision.trials > 0)
        text +=
            fmt::format(" ({} trial{} in {:.2g} s)", setup.decision.trials, setup.decision.trials == 1 ? "" : "s", setup.decision.seconds);
    text += fmt::format("\nset-up {:.3g} s", setup.total_seconds);
    for (std::size_t i = 0; i < setup.seconds.size(); ++i)
        text += fmt::format("{}{} {:.2g}", i == 0 ? ": " : ", ", setup.seconds[i].first, setup.seconds[i].second);
    text += fmt::format("\nmemory {}, {:.0f} bytes per unknown; {} at most during the set-up", mebibytes(setup.bytes),
                        per_unknown(setup.bytes, setup), mebibytes(setup.peak_bytes));
    for (const auto& note : setup.notes) text += "\nnote: " + note;
    if (log.mean_removed != 0 && log.outside_range == 0)
        text += fmt::format("\nnote: the mean {:.6g} was taken from the right-hand side", log.mean_removed);
    text += fmt::format("\n{} after {} iteration{}: ||b - A x|| / ||b|| = {:.2e}", krylov::name(log.end), log.iterations,
                        log.iterations == 1 ? "" : "s", log.true_residual);
    text += fmt::format("\nsolved in {:.3g} s", log.seconds);
    if (const double speed = bandwidth(setup, log); speed > 0)
        text +=
            fmt::format(": {:.4g} MB per iteration at {:.4g} GB/s{}", 1e-6 * setup.bytes_per_iteration, 1e-9 * speed,
                        setup.barriers_per_iteration > 0 ? fmt::format(", {} barriers per iteration", setup.barriers_per_iteration) : "");
    return text + history_table(log.history);
}

std::string advice(const sparse::SolveLog& log) {
    using krylov::Outcome;
    if (log.outside_range > 0)
        return fmt::format(
            "the matrix is singular (every row sums to zero), and no x gives this right-hand side: its mean is {:.6g}, and must be 0 (in "
            "each connected part of the matrix); ||b - A x|| / ||b|| cannot be below {:.2g}. Subtract the mean from the right-hand side, "
            "or hold one unknown fixed in the matrix",
            log.mean_removed, log.outside_range);
    switch (log.end) {
        case Outcome::converged: return "";
        case Outcome::iteration_limit:
            return "the limit of iterations was reached before the tolerance: allow more iterations, or a larger tolerance";
        case Outcome::stagnated:
            return fmt::format(
                "||b - A x|| / ||b|| stays at {:.2e} by rounding, or because the matrix is singular and the right-hand side not in its "
                "range: ask for a larger tolerance (--rtol)",
                log.true_residual);
        case Outcome::operator_not_positive:
            return "the matrix is not positive definite (p.Ap <= 0 for some p): conjugate gradients do not solve such a system";
        case Outcome::preconditioner_not_positive:
            return "the preconditioner is not positive definite: take jacobi or none; if that fails too, the matrix is not";
        case Outcome::not_finite: return "numbers left the range of doubles: scale the system, or take another preconditioner";
        case Outcome::stopped: return "the solve was stopped before its end";
        case Outcome::breakdown:
        case Outcome::diverged: break;  // conjugate gradients report one of the above
    }
    return "";
}

}  // namespace kasane::run
