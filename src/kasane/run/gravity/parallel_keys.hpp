// The keys of [parallel]: how many workers a run has, and how they exchange their particles.
// Invariant: a choice that this machine or build does not have is an error before anything is created; so is a key without effect.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/simulation.hpp>

#include <string>

namespace kasane::run {

/// [parallel] of the file. Its keys are in the resolved file where the table is given or there are several ranks.
class ParallelKeys {
   public:
    ParallelKeys(io::Section root, int ranks);

    /// Workers of each rank.
    int workers() const { return workers_; }
    /// Reads the other keys, which depend on the force and the device. Problems are recorded in the file's sections.
    gravity::Exchange exchange(const gravity::Force& force, const AnySpace& space);

   private:
    io::Section root_, table_;
    int ranks_, workers_ = 1;
};

// The words of run files.
std::string name(comm::Engine engine);
std::string name(gravity::PairForm form);

}  // namespace kasane::run
