// Where an engine stands in its communicator, and what it must know of all particles. Alone: all of them are its own.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/distributed/exchange.hpp>

namespace kasane::gravity {

struct Place {
    comm::Worker* worker = nullptr;  ///< null: alone
    index_t total = 0;               ///< particles of all workers
    double largest_mass = 0;         ///< of all particles
    Exchange exchange{};

    /// Does this one speak for the communicator?
    bool leads() const { return !worker || worker->index() == 0; }
    /// Over all workers, in place.
    void sum(View<double> values) const {
        if (worker) worker->all_reduce(values, comm::Reduce::sum);
    }
};

}  // namespace kasane::gravity
