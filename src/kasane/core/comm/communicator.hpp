// The processes of one run ("ranks") and their messages, from host memory to host memory.
// Without an MPI launcher there is one rank, and MPI is not used; under a launcher, the engine is MPI, from a plugin that is
// loaded then (mpi/). Invariants: every rank makes the same collective calls in the same order, from one thread at a time; messages between
// two ranks (send to wait) may come from any worker, from its own thread.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kasane::comm {

enum class Reduce { sum, min, max };

class Communicator {
   public:
    /// A message that has not arrived yet; wait() completes it.
    using Request = std::uint64_t;

    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// This rank's number among the ranks of its host, and their number.
    virtual int local_rank() const = 0;
    virtual int local_size() const = 0;
    /// Name of this rank's host.
    virtual std::string host() const = 0;
    /// The engine: "one rank", or the name of the MPI library.
    virtual std::string engine() const = 0;

    virtual void barrier() = 0;
    /// Broadcasts any number of bytes, including 0 and more than 2^31.
    virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
    /// Reduces in place on every rank, element by element, in the order of the ranks on any machine: the same bits from run to run.
    virtual void all_reduce(View<double> values, Reduce how) = 0;
    virtual void all_reduce(View<std::uint64_t> values, Reduce how) = 0;
    /// Gathers a text of every rank, in the order of the ranks; texts of any length, also empty ones.
    virtual std::vector<std::string> all_gather(const std::string& text) = 0;

    /// Between two ranks; messages of one (sender, receiver, tag) arrive in the order sent. Both sides give the same size.
    /// @param tag  0 to 8191; channels have those below 6144 (RankMessages)
    virtual void send(const void* data, std::size_t bytes, int to, int tag) = 0;
    virtual void receive(void* data, std::size_t bytes, int from, int tag) = 0;
    virtual Request start_send(const void* data, std::size_t bytes, int to, int tag) = 0;
    virtual Request start_receive(void* data, std::size_t bytes, int from, int tag) = 0;
    /// Lets the library transfer a message while the caller computes: call it now and then before wait(). Does not wait.
    virtual void advance(Request request) = 0;
    virtual void wait(Request request) = 0;

    /// A communicator of the first `count` ranks; null on the other ranks. Collective.
    virtual std::unique_ptr<Communicator> first(int count) = 0;

    /// For the end of a run: true once every rank has called this, false when that has not happened within this time, for example because a
    /// rank waits elsewhere for a failed one. Independent of all other calls, which may not have completed. It may be called again only
    /// after it returned true.
    virtual bool all_here(double seconds) noexcept = 0;
    /// True for exactly one rank of the run: the one that reports the end. Another rank that calls this may never return.
    virtual bool claim_last_word() noexcept = 0;
    /// Ends every rank at once with this exit status.
    [[noreturn]] virtual void abort(int status) noexcept = 0;
};

/// All ranks of this run. Created at the first call, destroyed at the end of the process.
/// @throws InputError: started as one of several ranks, and this build has no MPI or its plugin cannot be loaded (with the reason)
Communicator& world();

/// One rank: this process alone.
std::unique_ptr<Communicator> alone();

/// Whether an MPI launcher started this process as one of several ranks. Reads only the environment; KASANE_MPI=1 and =0 override it.
bool launched_with_ranks();

/// Compares a text over all ranks. @throws InputError on every rank, naming the first rank that differs from rank 0
/// @param what  in the plural: "builds of kasane", "run files"   @param here  a short text to show: a version, a path with its checksum
void require_same(Communicator& ranks, const std::string& what, const std::string& here);

/// The libraries of MPI and NCCL in this build, for `kasane info`; empty: not built with it.
std::string mpi_built_with();
std::string nccl_built_with();

}  // namespace kasane::comm
