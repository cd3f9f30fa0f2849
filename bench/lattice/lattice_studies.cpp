#include <bench/benchmarks.hpp>
#include <bench/lattice/lattice_studies.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/update.hpp>

#include <fmt/format.h>

#include <limits>

namespace kasane::bench {

using namespace lattice;

const GaugeField& LatticeProblems::weak(const Extents& extents) {
    const auto name = "weak " + text(extents);
    if (name_ == name) return links_;
    clear();
    Links<Cpu> links(Cpu{}, extents);
    weak_start(links, weak_epsilon, 1);
    links_ = to_gauge_field(links);
    name_ = name;
    return links_;
}

const GaugeField& LatticeProblems::thermalised(const AnySpace& on, const Extents& extents, double beta, int sweeps) {
    const auto name = fmt::format("beta {}, {} sweeps, {}", beta, sweeps, text(extents));
    if (name_ == name) return links_;
    clear();
    std::visit(
        [&]<Space S>(S space) {
            Links<S> links(space, extents);
            cold_start(links);
            for (int sweep = 0; sweep < sweeps; ++sweep) {
                heatbath_sweep(links, beta, 1, static_cast<std::uint64_t>(sweep));
                for (int i = 0; i < 4; ++i) overrelaxation_sweep(links);
                if (sweep % 10 == 9) reunitarise(links);
            }
            reunitarise(links);
            links_ = to_gauge_field(links);
        },
        on);
    name_ = name;
    return links_;
}

namespace {

std::vector<Extents> hypercubes(const std::vector<index_t>& edges) {
    std::vector<Extents> all;
    for (const auto edge : edges) {
        KS_VALIDATE(edge <= 256, fmt::format("--n {}: of these benchmarks n is the edge of a lattice n^4, at most 256. Try --n 16", edge));
        const int n = static_cast<int>(edge);
        all.push_back({{n, n, n, n}});
        check_extents(all.back(), {"", 0, 0, fmt::format("--n {}", edge)});
    }
    return all;
}

}  // namespace

std::vector<Extents> volumes_or(const BenchmarkContext& context, const Extents& own) {
    return context.sizes.empty() ? std::vector{own} : hypercubes(context.sizes);
}

Extents main_volume(const AnySpace& on) { return std::holds_alternative<Cpu>(on) ? Extents{{16, 16, 16, 16}} : Extents{{32, 32, 32, 64}}; }

std::vector<Extents> curve_volumes(const BenchmarkContext& context) {
    if (!context.sizes.empty()) return hypercubes(context.sizes);
    if (std::holds_alternative<Cpu>(context.space)) return hypercubes({4, 8, 10, 12, 16, 20, 24});
    return hypercubes({4, 8, 10, 12, 16, 20, 24, 32, 40, 48});
}

BenchmarkResult absent_hop(const std::string& name, const Extents& extents, const std::string& reason) {
    BenchmarkResult row;
    row.name = name, row.n = extents.volume(), row.note = reason, row.unit = "flop/s";
    row.seconds = row.rate = row.error = std::numeric_limits<double>::quiet_NaN();
    return row;
}

std::vector<Benchmark> lattice_studies() {
    const auto shared = std::make_shared<LatticeProblems>();
    return {lattice_dslash(shared),     lattice_solver_methods(shared), lattice_solver_volumes(shared), lattice_solver_light(shared),
            lattice_columns(shared),    lattice_schwarz(shared),        lattice_quark(shared),          lattice_hmc(shared),
            lattice_trajectory(shared), lattice_scaling(shared)};
}

}  // namespace kasane::bench
