#include <kasane/lattice/distributed/local_solvers.hpp>

#include <kasane/core/comm/worker_memory.hpp>
#include <kasane/lattice/deflate/find_eigenmodes.hpp>
#include <kasane/lattice/distributed/agreement.hpp>
#include <kasane/lattice/distributed/halo_memory.hpp>
#include <kasane/lattice/distributed/local_solver.hpp>
#include <kasane/lattice/distributed/quark_halo.hpp>
#include <kasane/lattice/distributed/scatter.hpp>
#include <kasane/lattice/solve/check_modes.hpp>
#include <kasane/lattice/solve/options.hpp>

#include <variant>

namespace kasane::lattice {

template struct ResidentSolver<LocalLattice<Cpu>>;
#if defined(KASANE_CUDA)
template struct ResidentSolver<LocalLattice<Cuda>>;
#endif

namespace {

/// Dhat^+ Dhat of a solver.
template <Space S>
struct NormalOperator {
    ResidentSolver<LocalLattice<S>>& solver;

    template <class Algebra, class Vector>
    void apply(Algebra&, const Vector& in, Vector& out) const {
        solver.apply_normal(in, out);
    }
};

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

    Eigenmodes find_modes(const EigenmodeOptions& options) override {
        solver_.deflation = {};
        const auto& domain = solver_.domain;
        const LocalSites sites{domain.grid().lattice(), domain.grid().local(), domain.grid().local(), domain.origin(), {}};
        const auto randomise = [&](int number, Field<S, Precision::double_>& x) {
            gaussian_field(sites, options.seed, 0, first_eigenmode_field + number, Parity::even, x);
        };
        Eigenmodes modes;
        modes.extents = domain.grid().lattice();
        modes.parameters = solver_.parameters;
        auto vectors = find_eigenmodes(solver_.algebra, NormalOperator<S>{solver_}, randomise, b_.even, options, modes);
        solver_.deflation = {modes.values, std::move(vectors)};
        return modes;
    }
    void store_mode(std::size_t i, SpinorField& out) const override { store(solver_.deflation.vectors[i], Parity::even, out); }
    void take_mode(double value, const SpinorField& mode) override { solver_.take_mode(value, mode); }
    double worst_mode() override { return solver_.worst_mode(); }
    void drop_modes() override { solver_.deflation = {}; }

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
                     {halo_bytes(grid, setup.parameters, setup.options, !std::holds_alternative<Cpu>(on)), comm::workers_on_host(worker)});
    } catch (const InputError& error) {
        return error.what();
    }
    return {};
}

/// @throws InputError on every worker where one lacks the memory for modes
void agree_on_modes(comm::Worker& worker, const AnySpace& on, const RankGrid& grid, std::size_t modes, double bytes_per_site) {
    const double needed = bytes_per_site * static_cast<double>(grid.local().volume());
    const auto free = static_cast<double>(comm::available_memory(worker, on));
    constexpr double mib = 1 << 20;
    agree(worker, needed <= free ? ""
                                 : fmt::format("{} modes need {:.0f} MiB on {}, and {:.0f} MiB are free: take fewer, or more workers",
                                               modes, needed / mib, name(on), free / mib));
}

}  // namespace

LocalSolvers::LocalSolvers(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const SolverSetup& setup,
                           const GaugeField& links)
    : communicator_(communicator),
      here_(here),
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

Eigenmodes LocalSolvers::find_modes(const EigenmodeOptions& options, bool collect) {
    Eigenmodes modes;
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        workers_[l]->drop_modes();
        agree_on_modes(worker, here_[l], grid_, static_cast<std::size_t>(options.count), search_bytes_per_site(options.count));
        auto found = workers_[l]->find_modes(options);
        if (l == 0) modes = std::move(found);
    });
    if (!collect) return modes;
    std::vector<SpinorField> parts(workers_.size(), SpinorField(grid_.local()));
    const bool root = communicator_.ranks().rank() == 0;
    SpinorField all = root ? SpinorField(grid_.lattice()) : SpinorField{};
    for (std::size_t i = 0; i < modes.values.size(); ++i) {
        communicator_.run([&](comm::Worker& worker) {
            const auto l = static_cast<std::size_t>(worker.local());
            workers_[l]->store_mode(i, parts[l]);
        });
        gather(communicator_, grid_, parts, all);
        if (root) modes.append(all);
    }
    return modes;
}

void LocalSolvers::take_modes(const Eigenmodes& modes, std::size_t count) {
    auto& ranks = communicator_.ranks();
    auto values = modes.values;
    values.resize(count);
    ranks.broadcast(values.data(), count * sizeof(double), 0);
    double plaquette = modes.plaquette;
    broadcast(ranks, plaquette);
    communicator_.run([&](comm::Worker& worker) {
        const auto l = static_cast<std::size_t>(worker.local());
        workers_[l]->drop_modes();
        agree_on_modes(worker, here_[l], grid_, count, 96. * static_cast<double>(count));
    });
    for (std::size_t i = 0; i < count; ++i) {
        const auto parts = scatter(communicator_, grid_, ranks.rank() == 0 ? modes.field(i) : SpinorField{});
        communicator_.run([&](comm::Worker& worker) {
            const auto l = static_cast<std::size_t>(worker.local());
            workers_[l]->take_mode(values[i], parts[l]);
        });
    }
    communicator_.run([&](comm::Worker& worker) {
        auto& solver = *workers_[static_cast<std::size_t>(worker.local())];
        if (const double worst = solver.worst_mode(); !(worst < largest_mode_residual)) {
            solver.drop_modes();
            throw foreign_modes(worst, plaquette);
        }
    });
}

}  // namespace kasane::lattice
