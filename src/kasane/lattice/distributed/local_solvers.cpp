#include <kasane/lattice/distributed/local_solvers.hpp>

#include <kasane/core/comm/worker_memory.hpp>
#include <kasane/lattice/distributed/agreement.hpp>
#include <kasane/lattice/distributed/halo_memory.hpp>
#include <kasane/lattice/distributed/local_lattice.hpp>
#include <kasane/lattice/distributed/scatter.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>

#include <variant>

namespace kasane::lattice {
namespace {

template <Space S>
class SolverOn final : public WorkerSolver {
   public:
    SolverOn(LocalLattice<S> lattice, const GaugeField& links, const SolverSetup& setup)
        : solver_(std::move(lattice), links, setup.parameters, setup.options), b_(solver_.lattice), x_(solver_.lattice) {}

    SolveLog solve(const SpinorField& b, SpinorField& x, bool from_zero, const krylov::StopFunction& stop) override {
        load_both(b, b_);
        if (from_zero)
            solver_.zero(x_);
        else
            load(x, Parity::even, x_.even);
        auto log = solver_.solve(b_, x_, stop);
        store_both(x_, x);
        return log;
    }
    void apply(const SpinorField& in, SpinorField& out, bool adjoint) override {
        load_both(in, b_);
        solver_.apply(b_, x_, adjoint);
        store_both(x_, out);
    }

    CoherentReport coherent() override { return solver_.coherent_report(); }

   private:
    static void load_both(const SpinorField& from, ResidentField<S>& to) {
        load(from, Parity::even, to.even);
        load(from, Parity::odd, to.odd);
    }
    static void store_both(const ResidentField<S>& from, SpinorField& to) {
        store(from.even, Parity::even, to);
        store(from.odd, Parity::odd, to);
    }

    ResidentSolver<LocalLattice<S>> solver_;
    ResidentField<S> b_, x_;
};

std::string memory_problem(comm::Worker& worker, const AnySpace& on, const SolverSetup& setup, const RankGrid& grid) {
    try {
        check_memory(on, grid.local(), setup.parameters, setup.options,
                     {halo_bytes(grid, setup.parameters, setup.options), comm::workers_on_host(worker)});
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

}  // namespace

LocalSolvers::LocalSolvers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const SolverSetup& setup,
                           const GaugeField& links)
    : communicator_(communicator),
      grid_(RankGrid::given(setup.extents, communicator.size(), setup.shape)),
      workers_(static_cast<std::size_t>(communicator.workers_per_rank())) {
    auto parts = scatter(communicator_, grid_, links);
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        agree_on_kind(worker, here, setup.kind);
        agree(worker, memory_problem(worker, here[l], setup, grid_));
        std::visit([&]<Space S>(S on) { workers_[l] = std::make_unique<SolverOn<S>>(LocalLattice<S>(on, worker, grid_), parts[l], setup); },
                   here[l]);
        parts[l] = {};
    });
}

SolveLog LocalSolvers::run(const SolverCommand& command, const SpinorField& b, SpinorField& x, const krylov::StopFunction& stop) {
    using enum SolverCommand::Verb;
    const auto b_parts = scatter(communicator_, grid_, b);
    std::vector<SpinorField> x_parts;
    if (command.verb == solve && !command.from_zero)
        x_parts = scatter(communicator_, grid_, x);
    else
        for (std::size_t l = 0; l < workers_.size(); ++l) x_parts.emplace_back(grid_.local());
    std::vector<SolveLog> logs(workers_.size());
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        if (command.verb == solve)
            logs[l] =
                workers_[l]->solve(b_parts[l], x_parts[l], command.from_zero != 0, worker.index() == 0 ? stop : krylov::StopFunction{});
        else
            workers_[l]->apply(b_parts[l], x_parts[l], command.adjoint != 0);
    });
    if (logs.front().end != krylov::Outcome::not_finite) gather(communicator_, grid_, x_parts, x);
    return logs.front();
}

}  // namespace kasane::lattice
