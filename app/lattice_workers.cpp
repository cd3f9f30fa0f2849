#include <app/lattice_workers.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/distributed_measurement.hpp>
#include <kasane/lattice/distributed/distributed_solver.hpp>
#include <kasane/run/driver/rank_coordinator.hpp>

#include <charconv>
#include <memory>

namespace kasane::app {

void add_workers(CLI::App& app, std::string& grid, int& gpus_per_rank) {
    app.add_option("--grid", grid, "Workers along x,y,z,t; left out: the grid with the smallest faces")->group(workers_group);
    add_gpus_per_rank(app, gpus_per_rank);
}

std::optional<lattice::GridShape> parsed_grid(const std::string& text) {
    if (text.empty()) return {};
    lattice::GridShape shape{};
    const char *at = text.data(), *const end = text.data() + text.size();
    bool good = true;
    for (std::size_t mu = 0; good && mu < 4; ++mu) {
        if (mu > 0) good = at < end && *at++ == ',';
        const auto [next, error] = std::from_chars(at, end, shape[mu]);
        good = good && error == std::errc{};
        at = next;
    }
    KS_VALIDATE(good && at == end, "is " + text + ": it must be four numbers, the workers along x,y,z,t, such as 1,1,2,4",
                {"", 0, 0, "--grid"});
    return shape;
}

lattice::RankGrid grid_of(const std::optional<lattice::GridShape>& shape, const lattice::Extents& lattice, int workers) {
    return shape ? lattice::RankGrid::given(lattice, workers, *shape) : lattice::RankGrid::chosen(lattice, workers);
}

LatticeSolver solver_on(const Common& common, const Workers& workers, const lattice::RankGrid& grid, const lattice::GaugeField& links,
                        const lattice::DiracParameters& parameters, const lattice::SolverOptions& options,
                        lattice::CoherentReport* coherent) {
    if (workers.count == 1) {
        auto solver = std::make_shared<lattice::WilsonSolver>(workers.here.front(), links, parameters, options);
        if (coherent != nullptr) *coherent = solver->coherent();
        const auto solve = [solver](const auto& b, auto& x, const krylov::StopFunction& stop) {
            return b.size() == 1 ? std::vector{solver->solve(b.front(), x.front(), stop)} : solver->solve(b, x, stop);
        };
        return {solve, solver, nullptr};
    }
    auto& ranks = *common.ranks;
    try {
        auto solver = std::make_shared<lattice::DistributedSolver>(ranks.workers(lattice_solve_loop, workers.here), workers.here, grid,
                                                                   links, parameters, options);
        if (coherent != nullptr) *coherent = solver->coherent();
        const auto solve = [solver, &ranks](const auto& b, auto& x, const krylov::StopFunction& stop) {
            try {
                std::vector<lattice::SolveLog> logs;
                for (std::size_t c = 0; c < b.size(); ++c) logs.push_back(solver->solve(b[c], x[c], stop));
                return logs;
            } catch (...) {
                ranks.end_if_others_wait();
                throw;
            }
        };
        return {solve, nullptr, solver};
    } catch (...) {
        ranks.end_if_others_wait();
        throw;
    }
}

void run_lattice_solve_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    lattice::solver_worker_loop(communicator, here);
}

void run_lattice_measure_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    try {
        lattice::measure_on_workers(communicator, here, {});
    } catch (const Error&) {
        // All workers throw this error, also those of the root rank, which reports it.
    }
}

}  // namespace kasane::app
