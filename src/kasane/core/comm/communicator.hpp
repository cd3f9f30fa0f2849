// The processes of one run ("ranks") and what they say to each other, from host memory to host memory.
// Without an MPI launcher there is one rank, and nothing of MPI is touched; under one, the engine is MPI, from a module that is
// loaded then (mpi/). Invariants: every rank makes the same collective calls in the same order; only the thread that owns a rank calls.
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

    /// Ends every rank at once with this exit status.
    [[noreturn]] virtual void abort(int status) noexcept = 0;
};

/// All ranks of this run, made at the first call; it lives to the end of the process.
/// @throws InputError: started as one of several ranks, and this build has no MPI or its module cannot be loaded (the reason is in it)
Communicator& world();

/// One rank: this process alone.
std::unique_ptr<Communicator> alone();

/// Was this process started by an MPI launcher as one of several ranks? Looks at the environment alone.
bool launched_with_ranks();

/// What stands behind MPI and NCCL in this build, for `kasane info`; empty: not built with it.
std::string mpi_built_with();
std::string nccl_built_with();

}  // namespace kasane::comm
