#include <kasane/lattice/distributed/distributed_solver.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/deflate/find_eigenmodes.hpp>
#include <kasane/lattice/distributed/local_solvers.hpp>
#include <kasane/lattice/observe/observables.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>
#include <kasane/lattice/solve/check_modes.hpp>
#include <kasane/lattice/solve/options.hpp>
#include <kasane/lattice/gauge/temporal_gauge.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::lattice {

namespace {

/// The problems of a local lattice, with the division that they come from.
std::vector<std::string> of_workers(std::vector<std::string> problems, const RankGrid& grid) {
    for (auto& problem : problems)
        problem = fmt::format("{}: blocks lie within the local lattice of a worker, and there {}", grid.text(), problem);
    return problems;
}

}  // namespace

std::vector<std::string> schwarz_problems(const SolverOptions& options, const RankGrid& grid) {
    if (options.schwarz.method == SchwarzMethod::none) return {};
    const auto blocks = chosen(options.schwarz, grid.local());
    if (const auto problems = problems_of(blocks, grid.local()); !problems.empty()) return of_workers(problems, grid);
    // The colours alternate around the whole lattice, too.
    return problems_of(blocks, grid.lattice());
}

std::vector<std::string> coherent_problems(const SolverOptions& options, const RankGrid& grid) {
    if (options.coherent.vectors == 0) return {};
    return of_workers(problems_of(chosen(options.coherent, grid.local()), grid.local()), grid);
}

void check_distributed(const SolverOptions& options, const RankGrid& grid) {
    KS_VALIDATE(
        options.outer_links.reals != LinkReals::parameters &&
            (options.inner == Precision::double_ || options.inner_links.reals != LinkReals::parameters),
        "links in 8 numbers are for one device: with several workers, links that leave a local lattice are stored as zero, which is "
        "not a matrix of SU(3). Take 12 or 18 numbers");
    std::vector<InputProblem> problems;
    for (const auto& found : {schwarz_problems(options, grid), coherent_problems(options, grid)})
        for (const auto& problem : found) problems.push_back({problem, {}});
    if (!problems.empty()) throw InputError(std::move(problems));
}

DistributedSolver::DistributedSolver(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here, const RankGrid& grid,
                                     const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options)
    : ranks_(communicator.ranks()), grid_(grid), parameters_(parameters), options_(options) {
    std::optional<TemporalGauge> gauge;
    SolverCommand command{SolverCommand::Verb::make};
    try {
        KS_REQUIRE(grid.lattice() == links.extents && grid.size() == communicator.size(),
                   "the grid is of another lattice or number of workers than the links and the communicator: make it for these");
        check_solver(links, parameters, options);
        check_distributed(options, grid);
        plaquette_ = plaquette(links).mean();
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

void DistributedSolver::deflate(const Eigenmodes& modes) {
    check_deflation(options_);
    check_modes(modes, grid_.lattice(), parameters_);
    SolverCommand command{.verb = SolverCommand::Verb::take_modes, .modes = std::ssize(modes.vectors)};
    broadcast(ranks_, command);
    workers_->take_modes(modes, modes.vectors.size());
}

Eigenmodes DistributedSolver::deflate(const EigenmodeOptions& options, bool collect) {
    check_deflation(options_);
    check_eigenmodes(options, grid_.lattice());
    SolverCommand command{.verb = SolverCommand::Verb::find_modes, .collect = collect ? 1 : 0, .search = options};
    broadcast(ranks_, command);
    auto modes = workers_->find_modes(options, collect);
    modes.plaquette = plaquette_;
    return modes;
}

CoherentReport DistributedSolver::coherent() const { return workers_->coherent(); }

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
            switch (command.verb) {
                case SolverCommand::Verb::find_modes: workers->find_modes(command.search, command.collect != 0); break;
                case SolverCommand::Verb::take_modes: workers->take_modes({}, static_cast<std::size_t>(command.modes)); break;
                default: workers->run(command, SpinorField{}, x, {});
            }
        } catch (const Error&) {
            // All workers throw this error, also those of the root rank, which reports it.
        }
    }
}

}  // namespace kasane::lattice
