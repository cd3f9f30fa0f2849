#include <kasane/lattice/distributed/distributed_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/local_solvers.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/gauge/temporal_gauge.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::lattice {

void check_distributed(const SolverOptions& options) {
    KS_VALIDATE(
        options.outer_links.reals != LinkReals::parameters &&
            (options.inner == Precision::double_ || options.inner_links.reals != LinkReals::parameters),
        "links in 8 numbers are for one device: with several workers, links that leave a local lattice are stored as zero, which is no "
        "matrix of SU(3). Take 12 or 18 numbers");
    KS_VALIDATE(options.schwarz.method == SchwarzMethod::none,
                fmt::format("the Schwarz preconditioner {} is for one device: with several workers, take the inner solver",
                            name(options.schwarz.method)));
    KS_VALIDATE(options.coherent.vectors == 0, "inexact deflation is for one device: with several workers, take the inner solver");
}

DistributedSolver::DistributedSolver(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const RankGrid& grid,
                                     const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options)
    : ranks_(communicator.ranks()), grid_(grid) {
    std::optional<TemporalGauge> gauge;
    SolverCommand command{SolverCommand::Verb::make};
    try {
        KS_REQUIRE(grid.lattice() == links.extents && grid.size() == communicator.size(),
                   "the grid is of another lattice or number of workers than the links and the communicator: make it for these");
        check_solver(links, parameters, options);
        check_distributed(options);
        if (options.outer_links.temporal_gauge || options.inner_links.temporal_gauge) gauge = temporal_gauge(links);
    } catch (...) {
        command.verb = SolverCommand::Verb::end;  // the other ranks wait for their first command
        broadcast(ranks_, command);
        throw;
    }
    SolverSetup setup{.extents = links.extents,
                      .shape = grid.shape(),
                      .parameters = parameters,
                      .options = options,
                      .kind = here.empty() ? 0 : here.front().index()};
    broadcast(ranks_, command);
    broadcast(ranks_, setup);
    workers_ = std::make_unique<LocalSolvers>(communicator, here, setup, gauge ? gauge->links : links);
    if (gauge) gauge_ = std::move(gauge->g);
}

DistributedSolver::~DistributedSolver() {
    try {
        SolverCommand command{SolverCommand::Verb::end};
        broadcast(ranks_, command);
    } catch (...) {  // a rank that does not answer any more has reported its failure
    }
}

void DistributedSolver::require(const SpinorField& field, const char* what) const {
    KS_REQUIRE(field.extents == grid_.lattice() && static_cast<index_t>(field.values.size()) == 12 * grid_.lattice().volume(),
               fmt::format("{} is a field of a {} lattice with {} numbers; the solver's lattice is {}", what, text(field.extents),
                           field.values.size(), text(grid_.lattice())));
}

SolveLog DistributedSolver::solve(const SpinorField& b, SpinorField& x, const krylov::StopFunction& stop) {
    require(b, "b");
    require(x, "x");
    const bool zero = std::all_of(x.values.begin(), x.values.end(), [](std::complex<double> z) { return z == 0.; });
    SolverCommand command{SolverCommand::Verb::solve, 0, zero ? 1 : 0};
    broadcast(ranks_, command);
    if (gauge_.empty()) return workers_->run(command, b, x, stop);
    auto in_gauge = rotated(x, gauge_, false);
    auto log = workers_->run(command, rotated(b, gauge_, false), in_gauge, stop);
    if (log.end != krylov::Outcome::not_finite) x = rotated(in_gauge, gauge_, true);
    return log;
}

void DistributedSolver::apply(const SpinorField& in, SpinorField& out, bool adjoint) {
    require(in, "in");
    if (!(out.extents == grid_.lattice())) out = SpinorField(grid_.lattice());
    SolverCommand command{SolverCommand::Verb::apply, adjoint ? 1 : 0};
    broadcast(ranks_, command);
    if (gauge_.empty()) {
        workers_->run(command, in, out, {});
        return;
    }
    workers_->run(command, rotated(in, gauge_, false), out, {});
    out = rotated(out, gauge_, true);
}

void solver_worker_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here) {
    auto& ranks = communicator.ranks();
    SolverCommand command;
    broadcast(ranks, command);
    if (command.verb != SolverCommand::Verb::make) return;  // the root rank refused its input
    SolverSetup setup;
    broadcast(ranks, setup);
    std::unique_ptr<LocalSolvers> workers;
    try {
        workers = std::make_unique<LocalSolvers>(communicator, here, setup, GaugeField{});
    } catch (const InputError&) {
        return;  // the root rank reports it
    }
    for (;;) {
        broadcast(ranks, command);
        if (command.verb == SolverCommand::Verb::end) return;
        SpinorField x;
        try {
            workers->run(command, SpinorField{}, x, {});
        } catch (const Error&) {
            // All workers throw this error, also those of the root rank, which reports it.
        }
    }
}

}  // namespace kasane::lattice
