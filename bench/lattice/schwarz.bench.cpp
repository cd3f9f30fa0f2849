// lattice.schwarz: the table of [Ish09], slide 40, on one device: iterations and time of the Schwarz preconditioners, and of BiCGStab.
#include <bench/lattice/solver_problem.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>

#include <fmt/format.h>

namespace kasane::bench {

using namespace lattice;

namespace {

Way schwarz_way(Method method, const SchwarzOptions& options, const Extents& extents, Precision inner = Precision::single) {
    const auto all = chosen(options, extents);
    Way way;
    way.options.method = method;
    way.options.inner = inner;
    way.options.krylov_length = 32;
    way.options.schwarz = all;
    auto blocks = fmt::format("{}x{}x{}x{}", all.block[0], all.block[1], all.block[2], all.block[3]);
    if (all.overlap > 0) blocks += fmt::format(", d = {}", all.overlap);
    way.name =
        fmt::format("{}, {} of {}, {} x {} steps, {}", name(method), name(all.method), blocks, all.cycles, all.block_steps, name(inner));
    return way;
}

void schwarz_table(const BenchmarkContext& context, LatticeProblems& problems, const Extents& extents) {
    const bool on_cpu = std::holds_alternative<Cpu>(context.space);
    const auto& links = problems.thermalised(context.space, extents, 6.0, on_cpu ? 50 : 200);
    for (const double kappa : context.quick ? std::vector{0.1340} : std::vector{0.1340, 0.1348}) {
        SolverProblem problem("lattice.schwarz", links, {.kappa = kappa, .csw = 1.769, .boundary = Boundary::antiperiodic});
        const auto label = fmt::format("kappa {}: ", kappa);
        Way plain{"bicgstab, inner single", {}};
        plain.options.method = Method::bicgstab;
        plain.options.inner = Precision::single;
        const auto base = problem.row(context.space, label, plain);
        context.report(base);
        const auto report = [&](const Way& way) { context.report(problem.row(context.space, label, way, base.seconds)); };
        plain.name = "nested-bicgstab, inner half", plain.options.method = Method::nested_bicgstab, plain.options.inner = Precision::half;
        report(plain);

        // Half of each extent: 16 domains, the nodes of slide 40. Their solves have 16 steps, so that overlap is what differs.
        const int domain[4] = {extents[0] / 2, extents[1] / 2, extents[2] / 2, extents[3] / 2};
        const auto on_domains = [&](SchwarzMethod method, int overlap, int cycles, int steps) {
            return SchwarzOptions{method, {domain[0], domain[1], domain[2], domain[3]}, overlap, cycles, steps};
        };
        report(schwarz_way(Method::gcr, {SchwarzMethod::sap}, extents));
        report(schwarz_way(Method::gcr, {SchwarzMethod::sap}, extents, Precision::half));
        report(schwarz_way(Method::fgmres, {SchwarzMethod::sap}, extents));
        report(schwarz_way(Method::nested_bicgstab, {SchwarzMethod::sap}, extents));
        report(schwarz_way(Method::gcr, on_domains(SchwarzMethod::sap, 0, 6, 4), extents));
        report(schwarz_way(Method::gcr, on_domains(SchwarzMethod::sap, 0, 1, 16), extents));
        report(schwarz_way(Method::gcr, on_domains(SchwarzMethod::additive, 0, 1, 16), extents));
        for (int overlap = 1; overlap <= 3; ++overlap)
            report(schwarz_way(Method::gcr, on_domains(SchwarzMethod::ras, overlap, 1, 16), extents));
        for (int overlap = 1; overlap <= 2; ++overlap)
            report(schwarz_way(Method::gcr, on_domains(SchwarzMethod::multiplicative, overlap, 1, 16), extents));
    }
}

}  // namespace

Benchmark lattice_schwarz(const SharedLattice& shared) {
    return {
        "lattice.schwarz",
        "The table of [Ish09], slide 40, on one device: time to a true residual |b - D x| / |b| of 1e-10 in double (the error), with "
        "links and fields on the space, from x = 0, a Gaussian source; the median of up to five solves, set-up not counted. "
        "m x s steps: m cycles of s steps in a block; `iterations` are the outer method's, `inner_iterations` the cycles of the "
        "preconditioner or those of the inner BiCGStab. A "
        "configuration thermalised by heatbath at beta = 6.0, c_sw = 1.769, where the quark's mass vanishes at kappa = 0.1352; 16^4 on a "
        "CPU, 32^3 x 64 on a device, `--n L` for L^4, `--quick`: the heavier quark alone. Domains are halves of each extent, so that there "
        "are 16; d is the overlap. `speedup` is over BiCGStab with reliable updates in single. GFLOPS count useful flop, those of "
        "overlaps too. `cpu_seconds` is the time of all threads: on a machine with other programs, what a solve takes alone.",
        [shared](const BenchmarkContext& context) {
            for (const auto& extents : volumes_or(context, main_volume(context.space))) schwarz_table(context, *shared, extents);
            shared->clear();
        }};
}

}  // namespace kasane::bench
