// The processes of one run ("ranks") and what they say to each other, from host memory to host memory.
// Without an MPI launcher there is one rank, and nothing of MPI is touched; under one, the engine is MPI, from a module that is
// loaded then (mpi/). Invariants: every rank makes the same collective calls in the same order, from one thread at a time; messages between
// two ranks (send to wait) may be any worker's, from its own thread.
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
    /// A message under way; wait() ends it.
    using Request = std::uint64_t;

    virtual ~Communicator() = default;

    virtual int rank() const = 0;
    virtual int size() const = 0;
    /// This rank's number among the ranks of its host, and how many they are.
    virtual int local_rank() const = 0;
    virtual int local_size() const = 0;
    /// Name of this rank's host.
    virtual std::string host() const = 0;
    /// The engine: "one rank", or what the MPI library calls itself.
    virtual std::string engine() const = 0;

    virtual void barrier() = 0;
    /// Any number of bytes, 0 and more than 2^31 too.
    virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
    /// In place, on every rank; element by element, in the order of the ranks whatever the machine, so with the same bits from run to run.
    virtual void all_reduce(View<double> values, Reduce how) = 0;
    virtual void all_reduce(View<std::uint64_t> values, Reduce how) = 0;
    /// What every rank says, in the order of the ranks; texts of any length, empty ones too.
    virtual std::vector<std::string> all_gather(const std::string& text) = 0;

    /// Between two ranks; messages of one (sender, receiver, tag) arrive in the order sent. tag: 0 to 4095. Bytes as both sides agree.
    virtual void send(const void* data, std::size_t bytes, int to, int tag) = 0;
    virtual void receive(void* data, std::size_t bytes, int from, int tag) = 0;
    virtual Request start_send(const void* data, std::size_t bytes, int to, int tag) = 0;
    virtual Request start_receive(void* data, std::size_t bytes, int from, int tag) = 0;
    virtual void wait(Request request) = 0;

    /// The first `count` ranks among themselves; null on the others. Collective.
    virtual std::unique_ptr<Communicator> first(int count) = 0;

    /// For what ends: true once every rank has called this, false when that has not come about within this time, for instance because a
    /// rank waits elsewhere for one that failed. Apart from all other calls, which may be under way. It may be called once more after true
    /// only.
    virtual bool all_here(double seconds) noexcept = 0;
    /// True for one rank of the run alone: the one that has the last word. Another rank that asks may never return.
    virtual bool claim_last_word() noexcept = 0;
    /// Ends every rank at once with this exit status.
    [[noreturn]] virtual void abort(int status) noexcept = 0;
};

/// All ranks of this run. Created at the first call, destroyed at the end of the process.
/// @throws InputError: started as one of several ranks, and this build has no MPI or its module cannot be loaded (the reason is in it)
Communicator& world();

/// One rank: this process alone.
std::unique_ptr<Communicator> alone();

/// Was this process started by an MPI launcher as one of several ranks? Looks at the environment alone; KASANE_MPI=1 and =0 decide it.
bool launched_with_ranks();

/// Compares a text over all ranks. @throws InputError on every rank, naming the first rank that differs from rank 0
/// @param what  in the plural: "builds of kasane", "run files"   @param here  short, to be shown: a version, a path with its checksum
void require_same(Communicator& ranks, const std::string& what, const std::string& here);

/// What stands behind MPI and NCCL in this build, for `kasane info`; empty: not built with it.
std::string mpi_built_with();
std::string nccl_built_with();

}  // namespace kasane::comm
