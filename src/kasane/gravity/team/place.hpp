// Where an engine stands in its team, and what it must know of all particles. Alone: all of them are its own.
#pragma once

#include <kasane/core/comm/team.hpp>
#include <kasane/gravity/exchange.hpp>

namespace kasane::gravity {

struct Place {
    comm::Member* member = nullptr;  ///< null: alone
    index_t total = 0;               ///< particles of all members
    double largest_mass = 0;         ///< of all particles
    Exchange exchange{};

    /// Does this one speak for the team?
    bool leads() const { return !member || member->index() == 0; }
    /// Over all members, in place.
    void sum(View<double> values) const {
        if (member) member->all_reduce(values, comm::Reduce::sum);
    }
};

}  // namespace kasane::gravity
