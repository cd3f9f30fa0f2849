// All ranks of a run. The root rank does what one rank alone would do (files, log, progress, the loop); the other ranks are in
// worker_loop() meanwhile, which executes what the root rank broadcasts: choose the spaces of the workers, or run the worker of a kind.
// Invariant: on every way out of the root rank's run, the destructor ends the worker loops.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kasane::run {

struct Kind;
using Kinds = std::vector<const Kind*>;

class RankCoordinator {
   public:
    /// This process alone.
    RankCoordinator();
    /// On the root rank of `ranks`, the others of which are in worker_loop().
    explicit RankCoordinator(comm::Communicator& ranks);
    ~RankCoordinator();
    RankCoordinator(const RankCoordinator&) = delete;
    RankCoordinator& operator=(const RankCoordinator&) = delete;

    /// Number of ranks.
    int size() const;

    /// The spaces of this rank's workers; every rank chooses its own.   @throws InputError as comm::placement
    std::vector<AnySpace> place(const std::string& device, int workers, int threads);
    /// Of the last place(): one line per rank.
    const std::vector<std::string>& placement() const { return placement_; }

    /// Free memory of a rank at the last place(). [bytes]
    struct Free {
        std::uint64_t host = 0;  ///< of its host, shared by `sharing` ranks
        int sharing = 1;
        std::uint64_t device = 0;  ///< on its device with the least; 0 on the CPU
    };
    const std::vector<Free>& free() const { return free_; }
    static Free free_here(const std::vector<AnySpace>& here, int sharing);

    /// The communicator of all workers, on which the other ranks call Kind::worker until the root rank ends their simulation: make one at
    /// once. @param kind  name of the kind of run   @param here  spaces of this rank's workers
    comm::WorkerCommunicator& workers(const std::string& kind, const std::vector<AnySpace>& here);

    /// In a catch clause around work of all workers: an exception that is not an Error (out of memory) may leave the other ranks in the
    /// middle of a command. Then all ranks end, with one message; otherwise this does nothing.
    void end_if_others_wait();

   private:
    std::unique_ptr<comm::Communicator> own_;
    comm::Communicator& ranks_;
    std::vector<std::string> placement_;
    std::vector<Free> free_;
    std::unique_ptr<comm::WorkerCommunicator> workers_;
};

/// Executed by all ranks but the root rank, while that has a RankCoordinator of `ranks`; returns when it is gone. The root rank reports
/// what is wrong with a run.
void worker_loop(comm::Communicator& ranks, const Kinds& kinds);

}  // namespace kasane::run
