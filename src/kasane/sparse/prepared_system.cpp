// Prepares systems, solves with them, and times their iterations.
#include <kasane/core/base/error.hpp>
#include <kasane/core/base/timer.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/sparse/format/first_touch.hpp>
#include <kasane/sparse/prepared_system.hpp>
#include <kasane/sparse/precondition/factor.hpp>
#include <kasane/sparse/vectors.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::sparse {
namespace {

/// Parts that a colour is divided into. On a device one, shared by all blocks, except for sequential numbers. On the CPU equally many for 1
/// to 8 threads, so that sums have the same bits, and several per thread for more threads.
int parts_of(Cpu on, Numbering, index_t rows, index_t colors) {
    constexpr index_t rows_worth_a_part = 512;
    const index_t most = std::max(32, 4 * thread_count(on)), least = std::min<index_t>(thread_count(on), rows / (2 * rows_worth_a_part));
    return static_cast<int>(std::clamp<index_t>(rows / (rows_worth_a_part * colors), std::max<index_t>(least, 1), most));
}
#if defined(KASANE_CUDA)
int parts_of(Cuda on, Numbering numbering, index_t, index_t) { return numbering == Numbering::sequential ? 2 * device_info(on).units : 1; }
#endif

/// Why an iteration does not apply; empty when it does.
std::string why_not(Iteration iteration, FactorKind factor, const SolverOptions& options, int colors, int steps, double shift) {
    if (iteration == Iteration::plain) return "";
    if (factor == FactorKind::identity) return "it needs a preconditioner with triangles: ic0 or ssor";
    if (factor == FactorKind::own_values) return "the graph has triangles, so the factor's values are not A's";
    if (options.single_factor) return "it needs the factor in double: its triangles are A's own";
    if (iteration == Iteration::eisenstat) return "";
    if (colors != 2 || steps != 1) return "it needs two colours of independent rows (there are " + std::to_string(colors) + ")";
    if (shift != 0) return "the diagonal had to be raised";
    if (options.precondition == Precondition::ssor && options.ssor_omega != 1) return "ssor must have omega = 1";
    return "";
}

krylov::Outcome end_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::converged: return krylov::Outcome::converged;
        case Verdict::not_positive: return krylov::Outcome::operator_not_positive;
        case Verdict::preconditioner_not_positive: return krylov::Outcome::preconditioner_not_positive;
        case Verdict::not_finite: return krylov::Outcome::not_finite;
        case Verdict::stopped: return krylov::Outcome::stopped;
        default: return krylov::Outcome::iteration_limit;
    }
}

/// Laps of a stopwatch, each after all work of the space.
template <Space S>
class Laps {
   public:
    Laps(S on, PartTimes& times) : on_(on), times_(times) {}
    void operator()(const char* part) {
        synchronize(on_);
        times_.add(part, watch_.seconds());
        watch_.restart();
    }

   private:
    S on_;
    PartTimes& times_;
    Stopwatch watch_;
};

/// Splits and factorises A, and makes the system of that layout, which is moved from at the end.
template <Space S>
void fill(PreparedSystem<S>& prepared, S on, const CsrView& A, Layout<S>& layout, Laps<S>& lap) {
    const SolverOptions options = prepared.options;
    // Two colours of independent rows: the graph is bipartite, so that it has no triangles.
    const bool bipartite = layout.colors <= 2 && layout.steps == 1;
    const bool triangles = options.precondition == Precondition::ic0 && !bipartite && has_triangles(on, A);
    lap("factor");
    auto matrix = split(on, A, layout, options.format, triangles);
    lap("convert");
    auto factor = factorise(on, matrix, layout, {options.precondition, options.ssor_omega});
    prepared.shift = factor.shift;
    lap("factor");
    // Temporary memory: the order while the layout is computed; later the pivots and C.
    prepared.scratch_bytes = std::max(prepared.scratch_bytes, static_cast<std::uint64_t>(2 * layout.padded) * 4) +
                             matrix.lower_rows.bytes() + factor.lower.bytes();

    const FactorKind kind = factor.kind;
    const auto reason = [&](Iteration iteration) { return why_not(iteration, kind, options, layout.colors, layout.steps, factor.shift); };
    Iteration& iteration = prepared.options.iteration;
    if (iteration == Iteration::automatic) {
        iteration = Iteration::plain;
        for (const Iteration better : {Iteration::eisenstat, Iteration::reduced})
            if (reason(better).empty()) iteration = better;
    }
    if (const std::string why = reason(iteration); !why.empty())
        throw InputError("iteration = \"" + name(iteration) + "\" does not apply here: " + why + ". Take iteration = \"auto\".");
    prepared.system = make_system(on, std::move(matrix), std::move(layout), std::move(factor), options.single_factor);
}

}  // namespace

int chunk_of(const Format& format, bool cuda) {
    if (format.kind == FormatKind::sell) return format.chunk;
    if (format.kind == FormatKind::csr) return 1;
    return cuda ? 32 : 8;
}

template <Space S>
PreparedSystem<S> prepare_system(S on, const CsrView& A, SpaceOrder<S> order, const SolverOptions& options, PartTimes& times) {
    constexpr bool cuda = !std::same_as<S, Cpu>;
    PreparedSystem<S> prepared;
    prepared.options = options;
    Laps<S> lap(on, times);
    prepared.scratch_bytes = static_cast<std::uint64_t>(order.row.size()) * 4;
    LayoutShape shape;
    shape.numbering = options.numbering;
    shape.parts = parts_of(on, options.numbering, A.n, std::max<index_t>(1, static_cast<index_t>(order.color_begin.size()) - 1));
    shape.chunk = chunk_of(options.format, cuda);
    shape.sigma = options.format.sigma;
    auto layout = make_layout(on, std::move(order), A, shape);
    lap("layout");
    fill(prepared, on, A, layout, lap);
    auto& v = prepared.vectors = IterationVectors<S>(on, prepared.system.layout.padded);
    place_rows(on, prepared.system.layout,
               {row_array(v.x), row_array(v.r), row_array(v.p), row_array(v.u), row_array(v.w), row_array(v.b)});
    lap("convert");
    return prepared;
}

template <Space S>
void update_system(PreparedSystem<S>& prepared, const CsrView& A, Iteration iteration, PartTimes& times) {
    const S on = prepared.system.on;
    Laps<S> lap(on, times);
    Layout<S> layout = std::move(prepared.system.layout);
    prepared.system = {};  // its memory is free before the new system takes as much
    prepared.system.on = on;
    prepared.options.iteration = iteration;
    prepared.rho_before = 0;
    prepared.scratch_bytes = 0;
    try {
        fill(prepared, on, A, layout, lap);
    } catch (...) {
        prepared.system.layout = std::move(layout);
        throw;
    }
}

template <Space S>
SolveLog solve_prepared(PreparedSystem<S>& prepared, View<const double> b, View<double> x, bool mean_free, Start start,
                        const StopFunction& stop) {
    const S on = prepared.system.on;
    const Layout<S>& layout = prepared.system.layout;
    const View<const double> scale = prepared.system.scale.view();
    auto& v = prepared.vectors;
    Stopwatch watch;
    SolveLog log;
    const double rho_before = start == Start::where_stopped ? prepared.rho_before : 0;
    prepared.rho_before = 0;
    // In units of a power of two near b's largest entry: squares neither vanish nor overflow, and scaling does not round.
    const VectorFacts seen = look_at(on, b), guess = look_at(on, x);
    KS_VALIDATE(seen.finite, "the right-hand side holds a number that is not finite.");
    KS_VALIDATE(guess.finite, "the first guess holds a number that is not finite.");
    const double unit = seen.largest > 0 ? std::ldexp(1., -std::clamp(std::ilogb(seen.largest), -1000, 1000)) : 1;
    const double raised = mean_free ? mean(on, b) : 0;
    const double b_norm = std::sqrt(sum_of_squares(on, b, unit, raised * unit));
    const double removed_norm = std::fabs(raised * unit) * std::sqrt(static_cast<double>(b.n));
    if (removed_norm > prepared.options.rtol * std::hypot(b_norm, removed_norm)) {
        into_system(on, layout, scale, true, 0., x, v.x.view());
        out_of_system(on, layout, scale, 0., v.x.view(), x);
        log = outside_range(removed_norm / std::hypot(b_norm, removed_norm));
        log.mean_removed = raised;
        log.seconds = watch.seconds();
        return log;
    }
    log.mean_removed = raised;
    if (b_norm == 0) {
        into_system(on, layout, scale, true, 0., x, v.x.view());
        out_of_system(on, layout, scale, 0., v.x.view(), x);
        log.end = krylov::Outcome::converged;
        log.history.push_back({0, 0, 0});
        log.seconds = watch.seconds();
        return log;
    }
    if (raised != 0) {
        Buffer<double, S> shifted(on, b.n);
        subtract(on, b, raised, shifted.view());
        into_system(on, layout, scale, false, unit, shifted.view(), v.b.view());
        synchronize(on);
    } else {
        into_system(on, layout, scale, false, unit, b, v.b.view());
    }
    into_system(on, layout, scale, true, unit, x, v.x.view());

    IterationTask task;
    task.iteration = prepared.options.iteration;
    task.launch = prepared.options.launch;
    task.rtol = prepared.options.rtol;
    task.b_norm = b_norm;
    task.rho_before = rho_before;
    constexpr int most_restarts = 3;
    double true_before = 0;
    while (true) {
        const int done = log.iterations;
        task.limit = prepared.options.iteration_limit - done;
        if (stop) task.stop = [&](int iteration, double residual) { return stop(done + iteration, residual); };
        const IterationLog part = iterate(prepared.system, v, task);
        log.iterations += part.iterations;
        log.iteration_seconds += part.seconds;
        log.residual = part.norm / b_norm;
        log.true_residual = part.true_norm / b_norm;
        for (auto point : part.history) {
            point.iteration += done;
            log.history.push_back(point);
        }
        log.end = end_of(part.verdict);
        prepared.rho_before = part.verdict == Verdict::stopped ? part.rho_before : 0;
        if (part.verdict != Verdict::converged || log.true_residual <= task.rtol) break;
        // Rounding has let the recurrence drift from b - A x: restart from there, while that still helps.
        if (log.restarts == most_restarts || (log.restarts > 0 && log.true_residual > 0.5 * true_before)) {
            log.end = krylov::Outcome::stagnated;
            break;
        }
        true_before = log.true_residual;
        task.rho_before = 0;
        ++log.restarts;
    }
    out_of_system(on, layout, scale, 1 / unit, v.x.view(), x);
    if (mean_free) subtract(on, x, mean(on, x), x);
    if (log.converged() && !look_at(on, View<const double>(x)).finite) log.end = krylov::Outcome::not_finite;  // in the user's units
    log.seconds = watch.seconds();
    return log;
}

SolveLog outside_range(double share) {
    SolveLog log;
    log.end = krylov::Outcome::stagnated;
    log.outside_range = share;
    log.residual = log.true_residual = 1;
    log.history.push_back({0, 0, 1});
    return log;
}

namespace {

/// Pseudo-random numbers in (-1, 1), the same on every space.
std::vector<double> noise(index_t rows) {
    std::vector<double> b(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = 2 * RandomStream(1, i).uniform() - 1;
    return b;
}

/// Runs that many iterations for the noise, from zero; x stays in the prepared system.
template <Space S>
IterationLog try_out(PreparedSystem<S>& prepared, View<const double> b, const IterationTask& task) {
    const S on = prepared.system.on;
    const Layout<S>& layout = prepared.system.layout;
    into_system(on, layout, prepared.system.scale.view(), false, 1., b, prepared.vectors.b.view());
    into_system(on, layout, prepared.system.scale.view(), true, 0., b, prepared.vectors.x.view());
    synchronize(on);
    return iterate(prepared.system, prepared.vectors, task);
}

}  // namespace

template <Space S>
double seconds_per_iteration(PreparedSystem<S>& prepared, int iterations) {
    const auto b = to_space(prepared.system.on, noise(prepared.system.layout.rows));
    IterationTask task;
    task.iteration = prepared.options.iteration;
    task.launch = prepared.options.launch;
    double seconds = 0;
    for (const int limit : {std::max(1, iterations / 4), iterations}) {
        task.limit = limit;
        const IterationLog log = try_out(prepared, b.view(), task);
        seconds = log.seconds / std::max(1, log.iterations);
    }
    return seconds;
}

template <Space S>
TrialProgress progress_after(PreparedSystem<S>& prepared, int iterations, bool mean_free) {
    const S on = prepared.system.on;
    auto b_here = noise(prepared.system.layout.rows);
    const double shift = mean_free ? mean(Cpu{}, View<const double>(view(b_here))) : 0;
    for (double& value : b_here) value -= shift;
    const auto b = to_space(on, b_here);
    const double norm = std::sqrt(sum_of_squares(on, b.view(), 1., 0.));
    IterationTask task;
    task.iteration = prepared.options.iteration;
    task.launch = prepared.options.launch;
    task.rtol = prepared.options.rtol;
    task.b_norm = norm;
    task.limit = iterations;
    const IterationLog log = try_out(prepared, b.view(), task);
    Buffer<double, S> x(on, b.size());
    out_of_system(on, prepared.system.layout, prepared.system.scale.view(), 1., prepared.vectors.x.view(), x.view());
    const auto x_here = to_host(x);
    TrialProgress progress{log.iterations, 0, log.true_norm / norm};
    for (std::size_t i = 0; i < x_here.size(); ++i) progress.energy += b_here[i] * x_here[i];
    return progress;
}

template PreparedSystem<Cpu> prepare_system(Cpu, const CsrView&, SpaceOrder<Cpu>, const SolverOptions&, PartTimes&);
template void update_system(PreparedSystem<Cpu>&, const CsrView&, Iteration, PartTimes&);
template SolveLog solve_prepared(PreparedSystem<Cpu>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double seconds_per_iteration(PreparedSystem<Cpu>&, int);
template TrialProgress progress_after(PreparedSystem<Cpu>&, int, bool);
#if defined(KASANE_CUDA)
template PreparedSystem<Cuda> prepare_system(Cuda, const CsrView&, SpaceOrder<Cuda>, const SolverOptions&, PartTimes&);
template void update_system(PreparedSystem<Cuda>&, const CsrView&, Iteration, PartTimes&);
template SolveLog solve_prepared(PreparedSystem<Cuda>&, View<const double>, View<double>, bool, Start, const StopFunction&);
template double seconds_per_iteration(PreparedSystem<Cuda>&, int);
template TrialProgress progress_after(PreparedSystem<Cuda>&, int, bool);
#endif

}  // namespace kasane::sparse
