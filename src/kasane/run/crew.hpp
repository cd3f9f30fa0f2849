// All ranks of a run, from both sides: rank 0 does what one rank alone would do (files, log, progress, particles, the loop), the others are
// in take_part() meanwhile, where rank 0 tells them which spaces to take, and when to be members of a simulation's team. Invariants:
// between teams only rank 0 speaks; however it leaves the run, ~Crew lets the others go.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kasane::run {

class Crew {
   public:
    /// This process alone.
    Crew();
    /// On rank 0 of `ranks`, the others of which are in take_part().
    explicit Crew(comm::Communicator& ranks);
    ~Crew();
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    int ranks() const;

    /// The spaces of this rank's members; every rank takes its own.   @throws InputError as comm::placement
    std::vector<AnySpace> place(const std::string& device, int members, int threads);
    /// Of the last place(): one line per rank.
    const std::vector<std::string>& placement() const { return placement_; }

    /// What a rank has free, as it was placed.
    struct Free {
        std::uint64_t host = 0;  ///< of its host, shared by `sharing` ranks
        int sharing = 1;
        std::uint64_t device = 0;  ///< on its device with the least; 0 on the CPU
    };
    const std::vector<Free>& free() const { return free_; }
    static Free free_here(const std::vector<AnySpace>& here, int sharing);

    /// The team of the members placed. @param here  those of this rank
    /// The other ranks serve a simulation on it from here on, until that is gone: make one at once.
    comm::WorkerCommunicator& team(const std::vector<AnySpace>& here);

    /// In a catch clause around work of the team: what is no Error of ours (memory that ran out) may have left the others in the middle of
    /// a command, where no one can reach them. Then the run ends here, with one message; else this does nothing.
    void end_if_others_wait();

   private:
    std::unique_ptr<comm::Communicator> own_;
    comm::Communicator& ranks_;
    std::vector<std::string> placement_;
    std::vector<Free> free_;
    std::unique_ptr<comm::WorkerCommunicator> team_;
};

/// What the ranks other than 0 do while rank 0 has a Crew of `ranks`; returns when that is gone. What rank 0 finds wrong with the run is
/// rank 0's to tell.
void take_part(comm::Communicator& ranks);

}  // namespace kasane::run
