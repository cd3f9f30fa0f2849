// The keys of [parallel]: how many workers direct summation runs on, and how they exchange their particles.
// Invariant: a choice that this machine or build lacks is an error here, before anything is made; a key without effect is an error.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/distributed/exchange.hpp>
#include <kasane/gravity/simulation.hpp>

#include <string>

namespace kasane::run {

/// [parallel] of the file; its keys are spelled out where it is given or there are several ranks.
class ParallelKeys {
   public:
    ParallelKeys(io::Section root, int ranks);

    /// Of every rank.
    int members() const { return members_; }
    /// The rest, once it is known what runs, and where. Problems are recorded in the file's sections.
    gravity::Exchange exchange(const gravity::Force& force, const AnySpace& space);

   private:
    io::Section root_, table_;
    int ranks_, members_ = 1;
};

// The words of run files.
std::string name(comm::Engine engine);
std::string name(gravity::PairForm form);

}  // namespace kasane::run
