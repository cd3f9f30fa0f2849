#include <kasane/lattice/distributed/local_solvers.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/lattice/distributed/local_lattice.hpp>
#include <kasane/lattice/distributed/local_part.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/solve/resident_solver.hpp>

#include <variant>

namespace kasane::lattice {
namespace {

constexpr int field_tag = 4002;  // tag of messages with fields between the root rank and the others

void send_values(comm::Communicator& ranks, const std::vector<std::complex<double>>& from, int to) {
    ranks.send(from.data(), from.size() * sizeof from[0], to, field_tag);
}
void receive_values(comm::Communicator& ranks, std::vector<std::complex<double>>& to, int from) {
    ranks.receive(to.data(), to.size() * sizeof to[0], from, field_tag);
}
void send_values(comm::Communicator& ranks, const std::vector<Su3<double>>& from, int to) {
    ranks.send(from.data(), from.size() * sizeof from[0], to, field_tag);
}
void receive_values(comm::Communicator& ranks, std::vector<Su3<double>>& to, int from) {
    ranks.receive(to.data(), to.size() * sizeof to[0], from, field_tag);
}

std::vector<Su3<double>>& values_of(GaugeField& field) { return field.links; }
std::vector<std::complex<double>>& values_of(SpinorField& field) { return field.values; }

/// The parts of this rank's workers; the root rank sends the others theirs, one part in memory at a time.
template <class HostField>
std::vector<HostField> scatter(comm::WorkerCommunicator& communicator, const RankGrid& grid, const HostField& all) {
    auto& ranks = communicator.ranks();
    const int local = communicator.workers_per_rank();
    std::vector<HostField> parts;
    for (int l = 0; l < local; ++l) {
        if (ranks.rank() == 0) {
            parts.push_back(local_part(grid, l, all));
        } else {
            parts.emplace_back(grid.local());
            receive_values(ranks, values_of(parts.back()), 0);
        }
    }
    if (ranks.rank() == 0)
        for (int worker = local; worker < communicator.size(); ++worker) {
            auto part = local_part(grid, worker, all);
            send_values(ranks, values_of(part), worker / local);
        }
    return parts;
}

/// Collects the parts of all workers into `all` on the root rank.
void gather(comm::WorkerCommunicator& communicator, const RankGrid& grid, std::vector<SpinorField>& parts, SpinorField& all) {
    auto& ranks = communicator.ranks();
    const int local = communicator.workers_per_rank();
    if (ranks.rank() != 0) {
        for (const auto& part : parts) send_values(ranks, part.values, 0);
        return;
    }
    for (int worker = 0; worker < communicator.size(); ++worker) {
        auto& part = parts[static_cast<std::size_t>(worker % local)];
        if (worker >= local) receive_values(ranks, part.values, worker / local);
        set_local_part(grid, worker, part, all);
    }
}

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

/// Throws InputError on every worker if `problem` is not empty on one of them. Collective.
void agree(comm::Worker& worker, const std::string& problem) {
    if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw InputError(reason);
}

std::string memory_problem(const AnySpace& on, const SolverSetup& setup, const RankGrid& grid) {
    try {
        check_memory(on, grid.local(), setup.parameters, setup.options);
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
        const bool one_kind = l < here.size() && here[l].index() == setup.kind;
        agree(worker, one_kind ? "" : "another kind of device than worker 0's: take cpu for all, or cuda for all");
        agree(worker, memory_problem(here[l], setup, grid_));
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
