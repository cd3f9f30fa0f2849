// All ranks of a run. The root rank does the work of a single rank (files, log, progress, the loop). The other ranks are in worker_loop(),
// which executes the commands that the root rank broadcasts: choose the spaces of the workers, or call Kind::worker. Invariant: however the
// root rank's run ends, the destructor ends the worker loops.
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
    /// Coordinates `ranks`; called on the root rank, while the other ranks are in worker_loop().
    explicit RankCoordinator(comm::Communicator& ranks);
    ~RankCoordinator();
    RankCoordinator(const RankCoordinator&) = delete;
    RankCoordinator& operator=(const RankCoordinator&) = delete;

    /// Number of ranks.
    int size() const;

    /// The spaces of this rank's workers; every rank chooses its own.   @throws InputError as comm::placement
    std::vector<AnySpace> place(const std::string& device, int workers, int threads);
    /// The result of the last place(): one line per rank.
    const std::vector<std::string>& placement() const { return placement_; }

    /// Free memory of a rank at the last place(). [bytes]
    struct Free {
        std::uint64_t host = 0;  ///< of its host, shared by `sharing` ranks
        int sharing = 1;
        std::uint64_t device = 0;  ///< the smallest of its devices; 0 on the CPU
    };
    const std::vector<Free>& free() const { return free_; }
    static Free free_here(const std::vector<AnySpace>& here, int sharing);

    /// Creates the communicator of all workers. The other ranks call Kind::worker on it until the root rank ends their simulation, so the
    /// caller must start it at once. @param kind  name of the kind of run, or of a WorkerLoop   @param here  spaces of this rank's workers
    comm::WorkerCommunicator& workers(const std::string& kind, const std::vector<AnySpace>& here);

    /// Call it in a catch clause around work of all workers. An exception that is not an Error (out of memory) may leave the other ranks in
    /// a command; then this ends all ranks with one message. Otherwise it does nothing.
    void end_if_others_wait();

   private:
    std::unique_ptr<comm::Communicator> own_;
    comm::Communicator& ranks_;
    std::vector<std::string> placement_;
    std::vector<Free> free_;
    std::unique_ptr<comm::WorkerCommunicator> workers_;
};

/// Work of the other ranks that is not a run, in place of Kind::worker.
struct WorkerLoop {
    const char* name;
    void (*worker)(comm::WorkerCommunicator& workers, const std::vector<AnySpace>& here);
};

/// Executed by all ranks but the root rank while the root rank has a RankCoordinator of `ranks`; returns when that is destroyed. The root
/// rank reports errors of a run.
void worker_loop(comm::Communicator& ranks, const Kinds& kinds, const std::vector<WorkerLoop>& others);

}  // namespace kasane::run
