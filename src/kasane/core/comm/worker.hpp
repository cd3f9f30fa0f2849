// The workers of a run: every rank has the same number of them, a thread and a space each ([MTM13] section 3: one OpenMP thread per GPU).
// Worker m of a communicator of R ranks with k workers each is thread m % k of rank m / k.
// Invariants: all workers make the same collective calls in the same order; a worker may call only from its own thread.
#pragma once

#include <kasane/core/comm/communicator.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kasane::comm {

class WorkerCommunicator;

/// One worker's handle of the communicator. Valid as long as the communicator exists.
class Worker {
   public:
    int index() const { return index_; }
    int size() const { return size_; }
    /// Its number in its rank.
    int local() const { return local_; }
    int rank_of(int worker) const;
    /// Its number in the rank that it belongs to.
    int local_of(int worker) const;
    Communicator& ranks() const;
    WorkerCommunicator& communicator() const { return *communicator_; }

    void barrier();
    /// `root` is a worker.
    void broadcast(void* data, std::size_t bytes, int root);
    void all_reduce(View<double> values, Reduce how);
    void all_reduce(View<std::uint64_t> values, Reduce how);

    /// Between workers of one rank: a pointer goes to another local worker and is taken there, in the order given; the taker waits.
    void hand(int to_local, int slot, const void* what);
    const void* take(int from_local, int slot);

   private:
    friend class WorkerCommunicator;
    Worker(WorkerCommunicator* communicator, int index, int size, int local)
        : communicator_(communicator), index_(index), size_(size), local_(local) {}
    WorkerCommunicator* communicator_;
    int index_, size_, local_;
};

class WorkerCommunicator {
   public:
    /// Collective over `ranks`. @param workers of each rank, the same everywhere   @throws InputError when ranks differ in it
    /// @param spaces  names of this rank's workers' spaces ("cuda:1") for messages; or none
    WorkerCommunicator(Communicator& ranks, int workers, std::vector<std::string> spaces = {});
    ~WorkerCommunicator();
    WorkerCommunicator(const WorkerCommunicator&) = delete;
    WorkerCommunicator& operator=(const WorkerCommunicator&) = delete;

    int size() const;
    int workers_per_rank() const;
    Communicator& ranks() const { return ranks_; }

    /// body(worker) for each local worker, on a thread of its own, the same thread at each call (local worker 0: the caller's); returns
    /// when all are done. In `body`, each may open OpenMP regions: none is open around it. What every worker of the communicator throws at
    /// the same place (a run that blew up) is thrown here, the first local worker's. What a worker throws alone would leave the others
    /// waiting: it ends the run with end_run() where the communicator has others. Which of the two it is shows at once where another local
    /// worker waits for the one that threw, and otherwise within seconds.
    void run(const std::function<void(Worker&)>& body);

   private:
    friend class Worker;
    struct Shared;
    Communicator& ranks_;
    std::unique_ptr<Shared> shared_;
};

/// "rank 3 (host node7, cuda:1)".
std::string rank_text(const Communicator& ranks, const std::string& space = "");

/// The exit status of what is being handled in a catch clause: 2 for an InputError, else 1; and its reason.
std::string reason_of_current_exception(int& status);

/// The one message of a run that ends because a rank cannot go on, on standard error, and the end of all ranks with this status:
/// "rank 3 (host node7, cuda:1): the reason".
[[noreturn]] void end_run(Communicator& ranks, const std::string& who, const std::string& reason, int status) noexcept;

}  // namespace kasane::comm
