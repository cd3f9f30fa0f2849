// What rank 0 tells the other ranks of a communicator, as plain bytes: first how a simulation is made, then one command after the other to
// the end. Invariant: every rank carries out the same commands in the same order, each on all its workers.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/step/scheme.hpp>

#include <type_traits>

namespace kasane::gravity {

struct Command {
    enum class Verb : std::int64_t { make, step, fetch, acceleration, potential, audit, end };
    Verb verb = Verb::end;
    std::int64_t count = 0;  ///< of steps, or of particles to audit
};

/// A simulation but for its particles.
struct Setup {
    index_t total = 0;
    double largest_mass = 0;
    Direct force;
    Steps step;
    Scheme scheme;
    double start_time = 0;
    std::int64_t steps = 0;
    DirectFrame frame;
    Exchange exchange;
    std::uint64_t kind = 0;  ///< of the workers' spaces, as an alternative of AnySpace
};

/// From rank 0 to all, the same on every rank afterwards.
template <class T>
void tell_all(comm::Communicator& ranks, T& what) {
    static_assert(std::is_trivially_copyable_v<T>);
    ranks.broadcast(&what, sizeof(T), 0);
}

}  // namespace kasane::gravity
