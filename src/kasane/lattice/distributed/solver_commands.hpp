// Commands that the root rank of a DistributedSolver broadcasts, as plain bytes: first the parameters, then one command after the other.
// Invariant: every rank executes the same commands in the same order, each on all its workers.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/lattice/deflate/lowest_eigenmodes.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include <cstdint>
#include <type_traits>

namespace kasane::lattice {

struct SolverCommand {
    enum class Verb : std::int64_t { make, solve, apply, find_modes, take_modes, end };
    Verb verb = Verb::end;
    std::int64_t adjoint = 0;    ///< apply: D^+
    std::int64_t from_zero = 0;  ///< solve: the first guess is zero, and is not sent
    std::int64_t modes = 0;      ///< take_modes: their number
    std::int64_t collect = 0;    ///< find_modes: the root rank gets the vectors
    EigenmodeOptions search{};   ///< find_modes
};

/// The parameters of a solver; links follow as messages.
struct SolverSetup {
    Extents extents;
    GridShape shape;
    DiracParameters parameters;
    SolverOptions options;
    std::uint64_t kind = 0;  ///< kind of the workers' spaces: index of the alternative of AnySpace
};

/// Broadcasts `what` from the root rank to all ranks. Collective.
template <class T>
void broadcast(comm::Communicator& ranks, T& what) {
    static_assert(std::is_trivially_copyable_v<T>);
    ranks.broadcast(&what, sizeof(T), 0);
}

}  // namespace kasane::lattice
