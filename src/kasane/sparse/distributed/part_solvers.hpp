// The workers of a distributed solver. The root rank divides the problem, sends each worker its part and broadcasts commands, which the
// other ranks execute in loop(). Invariant: every rank executes the same commands in the same order, each on all its workers.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/sparse/distributed/part_messages.hpp>
#include <kasane/sparse/distributed/part_solver.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasane::sparse {

/// The workers of one rank. @tparam Part  of the problem: RowPart or BoxPart, from which part_solver() makes a worker's solver
template <class Part>
class PartSolvers {
    using Value = typename Part::Value;
    static constexpr bool has_eigenpairs = std::same_as<Part, RowPart>;

   public:
    /// Result of the root rank's preparation.
    struct Prepared {
        PartSetup setup;
        std::vector<Part> parts;  ///< of all workers
    };

    /// Constructor of the root rank. @param prepare  gives Prepared, and may throw   @throws as prepare() and part_solver()
    template <class Prepare>
    PartSolvers(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, const Prepare& prepare)
        : PartSolvers(workers, here, announced(workers.ranks(), prepare)) {
        leads_ = true;
    }
    ~PartSolvers() {
        if (!leads_) return;
        try {
            broadcast(workers_.ranks(), Command{});
        } catch (...) {  // a rank that does not answer any more has reported its failure
        }
    }
    PartSolvers(const PartSolvers&) = delete;
    PartSolvers& operator=(const PartSolvers&) = delete;

    /// On the other ranks: executes the commands of the root rank until its PartSolvers are destroyed or could not be made.
    static void loop(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here) {
        Command command = broadcast(workers.ranks(), Command{});
        if (command.verb != Command::make) return;  // the root rank refused its input
        std::unique_ptr<PartSolvers> solvers;
        try {
            solvers.reset(new PartSolvers(workers, here, Prepared{broadcast(workers.ranks(), PartSetup{}), {}}));
        } catch (const Error&) {
            return;  // all ranks throw it, and the root rank reports it
        }
        for (;;) {
            command = broadcast(workers.ranks(), Command{});
            if (command.verb == Command::end) return;
            std::vector<Value> none;
            if (command.verb == Command::solve) {
                solvers->run(none, none, {}, command.tolerance, {});
                continue;
            }
            if constexpr (has_eigenpairs) {
                std::vector<std::vector<Value>> no_vectors(static_cast<std::size_t>(command.block));
                try {
                    solvers->run_eigenpairs(no_vectors, command.wanted, {}, command.tolerance, {});
                } catch (const InputError&) {  // all ranks throw it, and the root rank reports it
                }
            }
        }
    }

    /// Bytes of all workers together.
    std::uint64_t bytes() const { return bytes_; }
    /// Shift of the factors' diagonal: the largest of all workers.
    double shift() const { return shift_; }
    /// The solver of worker 0.
    const PartSolver<Value>& first() const { return *solvers_.front(); }

    /// On the root rank. @param b, x   worker by worker; x: first guess in, solution out   @param begin  [workers + 1] first number of each
    SolveLog solve(const std::vector<Value>& b, std::vector<Value>& x, const std::vector<index_t>& begin, const Tolerance& tolerance,
                   const StopFunction& stop) {
        broadcast(workers_.ranks(), Command{Command::solve, tolerance});
        return run(b, x, begin, tolerance, stop);
    }

    /// On the root rank. @param X  each as x of solve(): start in, the `wanted` first vectors out   @throws InputError
    Eigenpairs eigenpairs(std::vector<std::vector<Value>>& X, int wanted, const std::vector<index_t>& begin, const Tolerance& tolerance,
                          const StopFunction& stop) {
        broadcast(workers_.ranks(), Command{Command::eigenpairs, tolerance, wanted, static_cast<int>(X.size())});
        return run_eigenpairs(X, wanted, begin, tolerance, stop);
    }

   private:
    struct Command {
        enum Verb : std::int64_t { make, solve, eigenpairs, end };
        Verb verb = end;
        Tolerance tolerance = {};
        int wanted = 0, block = 0;  ///< of eigenpairs: vectors
    };

    /// Broadcasts the root rank's bytes to all ranks.
    template <class T>
    static T broadcast(comm::Communicator& ranks, T what) {
        static_assert(std::is_trivially_copyable_v<T>);
        ranks.broadcast(&what, sizeof(T), 0);
        return what;
    }
    template <class Prepare>
    static Prepared announced(comm::Communicator& ranks, const Prepare& prepare) {
        Prepared prepared;
        try {
            prepared = prepare();
        } catch (...) {
            broadcast(ranks, Command{});  // the other ranks wait for their first command
            throw;
        }
        broadcast(ranks, Command{Command::make});
        broadcast(ranks, prepared.setup);
        return prepared;
    }

    PartSolvers(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here, Prepared prepared)
        : workers_(workers), solvers_(static_cast<std::size_t>(workers.workers_per_rank())) {
        auto mine = scattered(workers, std::move(prepared.parts));
        workers.run([&](comm::Worker& worker) {
            const auto l = static_cast<std::size_t>(worker.local());
            solvers_[l] = part_solver(here[l], worker, mine[l], prepared.setup);
            mine[l] = {};
        });
        double bytes = 0;
        for (const auto& solver : solvers_) {
            bytes += static_cast<double>(solver->bytes());
            shift_ = std::max(shift_, solver->shift());
        }
        workers.ranks().all_reduce({&bytes, 1}, comm::Reduce::sum);
        workers.ranks().all_reduce({&shift_, 1}, comm::Reduce::max);
        bytes_ = static_cast<std::uint64_t>(bytes);
    }

    /// Called on all ranks; vectors are read and written on the root rank alone.
    SolveLog run(const std::vector<Value>& b, std::vector<Value>& x, const std::vector<index_t>& begin, const Tolerance& tolerance,
                 const StopFunction& stop) {
        const auto b_parts = scattered(workers_, b, begin);
        auto x_parts = scattered(workers_, x, begin);
        std::vector<SolveLog> logs(solvers_.size());
        workers_.run([&](comm::Worker& worker) {
            const auto l = static_cast<std::size_t>(worker.local());
            logs[l] = solvers_[l]->solve(b_parts[l], x_parts[l], tolerance, worker.index() == 0 ? stop : StopFunction{});
        });
        gather(workers_, x_parts, x, begin);
        return std::move(logs.front());
    }

    /// Called on all ranks, as run().
    Eigenpairs run_eigenpairs(std::vector<std::vector<Value>>& X, int wanted, const std::vector<index_t>& begin, const Tolerance& tolerance,
                              const StopFunction& stop) {
        std::vector<std::vector<std::vector<Value>>> parts;  // [vector][worker]
        for (const auto& vector : X) parts.push_back(scattered(workers_, vector, begin));
        Eigenpairs found;  // of the first worker here; all have the same
        workers_.run([&](comm::Worker& worker) {
            const auto l = static_cast<std::size_t>(worker.local());
            std::vector<std::vector<Value>*> mine;
            for (auto& of_workers : parts) mine.push_back(&of_workers[l]);
            auto mine_found = solvers_[l]->eigenpairs(mine, wanted, tolerance, worker.index() == 0 ? stop : StopFunction{});
            if (l == 0) found = std::move(mine_found);
        });
        for (std::size_t j = 0; j < static_cast<std::size_t>(wanted); ++j) gather(workers_, parts[j], X[j], begin);
        return found;
    }

    comm::WorkerCommunicator& workers_;
    std::vector<std::unique_ptr<PartSolver<Value>>> solvers_;
    std::uint64_t bytes_ = 0;
    double shift_ = 0;
    bool leads_ = false;
};

}  // namespace kasane::sparse
