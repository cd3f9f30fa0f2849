// Commands that the root rank broadcasts, as plain bytes: first the parameters of a simulation, then one command after the other.
// Invariant: every rank executes the same commands in the same order, each on all its workers.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/distributed/rank_slab.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/step/scheme.hpp>

#include <type_traits>

namespace kasane::gravity {

struct Command {
    enum class Verb : std::int64_t {
        make,
        step,
        fetch,
        acceleration,
        potential,
        diagnostics,
        audit,
        state,
        take_back,
        rows,
        memory,
        task,
        end
    };
    Verb verb = Verb::end;
    std::int64_t count = 0;            ///< steps to take, particles to audit, rows, or bytes of the text of a task, which follows
    std::int64_t first = 0;            ///< row
    Column column = Column::position;  ///< of the rows
};

/// The parameters of a simulation; particles follow as messages.
struct Setup {
    index_t total = 0;
    double largest_mass = 0;
    Force force;
    Steps step;
    Scheme scheme;
    double start_time = 0;
    std::int64_t steps = 0;
    DirectFrame frame;
    bool accelerated = false;  ///< the accelerations of a tree follow with the particles
    Exchange exchange;
    std::uint64_t kind = 0;  ///< kind of the workers' spaces: index of the alternative of AnySpace
};

/// Broadcasts `what` from the root rank to all ranks. Collective.
template <class T>
void broadcast(comm::Communicator& ranks, T& what) {
    static_assert(std::is_trivially_copyable_v<T>);
    ranks.broadcast(&what, sizeof(T), 0);
}

}  // namespace kasane::gravity
