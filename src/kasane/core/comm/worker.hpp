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

/// One worker's handle of the communicator. Valid until the communicator is destroyed.
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
    /// `root` is the number of a worker.
    void broadcast(void* data, std::size_t bytes, int root);
    void all_reduce(View<double> values, Reduce how);
    void all_reduce(View<std::uint64_t> values, Reduce how);

    /// Passes a pointer to another worker of the same rank. That worker takes the pointers in the order in which they are passed, and waits
    /// for them.
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
    /// Collective over `ranks`. @param workers of each rank, the same everywhere   @throws InputError when ranks give different numbers
    /// @param spaces  names of the spaces of this rank's workers ("cuda:1") for messages; may be empty
    WorkerCommunicator(Communicator& ranks, int workers, std::vector<std::string> spaces = {});
    ~WorkerCommunicator();
    WorkerCommunicator(const WorkerCommunicator&) = delete;
    WorkerCommunicator& operator=(const WorkerCommunicator&) = delete;

    int size() const;
    int workers_per_rank() const;
    Communicator& ranks() const { return ranks_; }

    /// Calls body(worker) for each local worker, each on its own thread, which is the same at every call (local worker 0: the caller's);
    /// returns when all are done. In `body` each worker may open OpenMP regions, because none is open around it. An error that all workers
    /// throw at the same place (a run that blew up) is thrown here, as the first local worker threw it. An error of one worker alone would
    /// leave the others waiting: it ends the run with end_run() if the communicator has other workers. The two cases are distinguished at
    /// once if another local worker waits for the one that threw, and otherwise within seconds.
    void run(const std::function<void(Worker&)>& body);

   private:
    friend class Worker;
    struct Shared;
    Communicator& ranks_;
    std::unique_ptr<Shared> shared_;
};

/// Returns a stop function with the same result on every worker: every eighth call evaluates the function of worker 0. This call is
/// collective, and so is every call of the result.
/// @param stop  read on every worker; may be empty   @return empty where it is empty on all
std::function<bool(int, double)> agreed(Worker& worker, const std::function<bool(int, double)>& stop);

/// "rank 3 (host node7, cuda:1)".
std::string rank_text(const Communicator& ranks, const std::string& space = "");

/// In a catch clause: the exit status of the exception, 2 for an InputError, else 1; and its reason.
std::string reason_of_current_exception(int& status);

/// Prints the one message of a run that ends because a rank cannot continue, on standard error, and ends all ranks with this status:
/// "rank 3 (host node7, cuda:1): the reason".
[[noreturn]] void end_run(Communicator& ranks, const std::string& who, const std::string& reason, int status) noexcept;

}  // namespace kasane::comm
