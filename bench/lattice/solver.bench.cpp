// lattice.solver.*: time to a true residual of 1e-10, fields resident on the space, of every method and of each acceleration of the talk.
#include <bench/lattice/solver_problem.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace kasane::bench {

using namespace lattice;

namespace {

Way way(Method method, Precision inner, LinkStorage links = {LinkReals::two_rows}) {
    Way w;
    w.options.method = method;
    w.options.inner = inner;
    w.options.inner_links = links;
    w.name = std::string(name(method)) + ", " + (inner == Precision::double_ ? std::string("all double") : "inner " + name(inner, links));
    return w;
}

Way all_double() { return way(Method::bicgstab, Precision::double_); }

/// Reports rows of one problem; for the automatic choice also its time over that of the fastest row before it with its inner precision.
class Rows {
   public:
    Rows(const BenchmarkContext& context, SolverProblem& problem, std::string label)
        : context_(context), problem_(problem), label_(std::move(label)) {
        add(all_double());
    }
    void add(const Way& way) {
        auto row = problem_.row(context_.space, label_, way, base_);
        auto& best = best_.try_emplace(way.options.inner, std::numeric_limits<double>::infinity()).first->second;
        if (way.options.method == Method::automatic) row.more.emplace_back("over_best", row.seconds / best);
        best = std::min(best, row.seconds);
        if (std::isnan(base_)) base_ = row.seconds;
        context_.report(row);
    }
    double base() const { return base_; }

   private:
    const BenchmarkContext& context_;
    SolverProblem& problem_;
    std::string label_;
    double base_ = std::nan("");
    std::map<Precision, double> best_;
};

/// Every method, and the talk's list of accelerations of one; `speedup` is over BiCGStab in double.
void ways(const BenchmarkContext& context, LatticeProblems& problems, const Extents& extents) {
    SolverProblem problem("lattice.solver.methods", problems.weak(extents), benchmark_operator);
    Rows rows(context, problem, "");
    rows.add(way(Method::cg, Precision::double_));
    for (const auto method : {Method::nested_bicgstab, Method::bicgstab, Method::cg, Method::gcr, Method::fgmres, Method::refinement})
        for (const auto inner : {Precision::single, Precision::half}) rows.add(way(method, inner));
    for (const auto inner : {Precision::single, Precision::half}) rows.add(way(Method::automatic, inner));

    using enum LinkReals;
    const std::pair<Precision, LinkStorage> storages[] = {{Precision::single, {all}},
                                                          {Precision::single, {all, true}},
                                                          {Precision::half, {all}},
                                                          {Precision::single, {two_rows}},
                                                          {Precision::single, {parameters}},
                                                          {Precision::half, {two_rows}},
                                                          {Precision::half, {parameters}},
                                                          {Precision::single, {all, false, true}},
                                                          {Precision::single, {two_rows, false, true}},
                                                          {Precision::half, {two_rows, false, true}}};
    for (const auto& [inner, links] : storages)
        context.report(problem.row(context.space, "acceleration: ", way(Method::nested_bicgstab, inner, links), rows.base()));
}

/// The talk's curves: double on the CPU, and this space with an inner solver in single and half; `speedup` is over the CPU.
void solves_by_volume(const BenchmarkContext& context, LatticeProblems& problems) {
    constexpr index_t largest_on_cpu = 24 * 24 * 24 * 24;
    for (const auto& extents : curve_volumes(context)) {
        SolverProblem problem("lattice.solver.volumes", problems.weak(extents), benchmark_operator);
        const AnySpace cpu = std::holds_alternative<Cpu>(context.space) ? context.space : AnySpace{Cpu{}};
        double base = std::nan("");
        if (extents.volume() <= largest_on_cpu) {
            const auto row = problem.row(cpu, "by volume, CPU, ", all_double());
            base = row.seconds;
            context.report(row);
        }
        if (!std::holds_alternative<Cpu>(context.space)) context.report(problem.row(context.space, "by volume, ", all_double(), base));
        for (const auto inner : {Precision::single, Precision::half})
            context.report(problem.row(context.space, "by volume, ", way(Method::nested_bicgstab, inner), base));
    }
}

/// A thermalised configuration at two light quark masses: beta = 6.0, where c_sw = 1.769 removes the errors of order a and the quark's mass
/// vanishes at kappa = 0.1352 [Luscher et al. 1997]. `fast`: all options that make a hop cheaper at once.
void thermalised(const BenchmarkContext& context, LatticeProblems& problems, const Extents& extents) {
    const bool on_cpu = std::holds_alternative<Cpu>(context.space);
    const auto& links = problems.thermalised(context.space, extents, 6.0, on_cpu ? 50 : 200);
    constexpr LinkStorage fast{LinkReals::parameters, false, true};
    for (const double kappa : {0.1348, 0.1340}) {
        SolverProblem problem("lattice.solver.light", links, {.kappa = kappa, .csw = 1.769, .boundary = Boundary::antiperiodic}, 2);
        Rows rows(context, problem, fmt::format("beta 6.0, kappa {}: ", kappa));
        for (const auto method : {Method::nested_bicgstab, Method::bicgstab, Method::cg, Method::gcr})
            for (const auto inner : {Precision::single, Precision::half}) rows.add(way(method, inner));
        for (const auto inner : {Precision::single, Precision::half}) rows.add(way(Method::automatic, inner));
        for (const auto method : {Method::nested_bicgstab, Method::bicgstab})
            for (const auto inner : {Precision::single, Precision::half}) rows.add(way(method, inner, fast));
    }
}

}  // namespace

namespace {

constexpr const char* solver_common =
    "Time to a true residual |b - D x| / |b| of 1e-10 in double (the error), with links and fields on the space, from x = 0, a "
    "Gaussian source, symmetric even-odd form; the median of several solves, set-up not counted. Antiperiodic time; n counts all sites. "
    "GFLOPS count useful flop: 1320 a site and hop, 504 a clover term, and the vector updates. ";

}  // namespace

Benchmark lattice_solver_methods(const SharedLattice& shared) {
    return {
        "lattice.solver.methods",
        std::string(solver_common) +
            "Links U = exp(0.3 i P), kappa = 0.125, c_sw = 1; 16^4 on a CPU, 32^3 x 64 on a device, `--n L` for L^4. First every method "
            "with inner solvers in single and half precision (12 numbers a link); `acceleration`: nested BiCGStab with each storage "
            "of the talk's list ([Ish09], slide 32); `speedup` is over BiCGStab in double, `over_best` of the automatic choice its "
            "time over that of the fastest row before it.",
        [shared](const BenchmarkContext& context) {
            for (const auto& extents : volumes_or(context, main_volume(context.space))) ways(context, *shared, extents);
            shared->clear();
        }};
}

Benchmark lattice_solver_light(const SharedLattice& shared) {
    return {"lattice.solver.light",
            std::string(solver_common) +
                "A configuration thermalised by heatbath on this space at beta = 6.0, c_sw = 1.769, at two light masses; 16^4 on a CPU, "
                "32^3 x 64 on a device, `--n L` for L^4. `speedup` is over BiCGStab in double, `over_best` of the automatic choice its "
                "time over that of the fastest row before it with the same inner precision, all with links of 12 numbers inside.",
            [shared](const BenchmarkContext& context) {
                for (const auto& extents : volumes_or(context, main_volume(context.space))) thermalised(context, *shared, extents);
                shared->clear();
            }};
}

Benchmark lattice_solver_volumes(const SharedLattice& shared) {
    return {"lattice.solver.volumes",
            std::string(solver_common) +
                "The talk's curves (slides 27 to 30), links U = exp(0.3 i P), kappa = 0.125, c_sw = 1: BiCGStab in double and nested "
                "BiCGStab by volume, `--n L` for L^4; `speedup` is over double precision on this machine's CPU.",
            [shared](const BenchmarkContext& context) {
                solves_by_volume(context, *shared);
                shared->clear();
            }};
}

}  // namespace kasane::bench
