// The MPI plugin: a Communicator on an MPI library, its start and its end. Only this file includes mpi.h.
// Invariants: every call of MPI is checked; collective calls come from one thread at a time, messages from any.
// Where the library allows one thread at a time, no call that waits holds the lock except the collective ones: when a
// rank makes one, its other workers are in the same call and have no open messages.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/module.hpp>
#include <kasane/core/comm/mpi/host_exchange.hpp>
#include <kasane/core/comm/mpi_factory.hpp>
#include <kasane/core/comm/reduce.hpp>

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

namespace kasane::comm {
namespace {

using Clock = std::chrono::steady_clock;

/// MPI counts in int: longer messages are sent in blocks of this size.
constexpr std::size_t block = std::size_t{1} << 30;
/// Values of one all_reduce at a time: it gathers size() times as many.
constexpr std::size_t reduced_at_once = 8192;

void check(int code, const char* call) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw ComputationError(std::string(call) + " failed: " + text + "; the connection between the ranks, or one of them, is lost");
}

/// The state of MPI in this process, besides its communicators.
struct Library {
    bool several_threads = false;  ///< several threads may call at the same time
    std::mutex door;
    pid_t process = 0;          ///< the thread that started MPI, and will end it
    int* word_taken = nullptr;  ///< one word per host, in memory that its ranks share: whether a rank has claimed to report the end
    int host_number = 0;
};

Library& library() {
    static Library& one = *new Library;  // not destroyed before the exit of the process
    return one;
}

/// Takes the lock, where the library needs one.
std::unique_lock<std::mutex> enter() {
    auto& mpi = library();
    return mpi.several_threads ? std::unique_lock<std::mutex>() : std::unique_lock(mpi.door);
}

/// Waits until `done()`: busily, since messages take microseconds and advance only inside calls of MPI; yielding, since there may be more
/// ranks than cores.
template <class Done>
void wait_until(Done done) {
    for (int turn = 0; !done(); ++turn)
        if (turn >= 64) sched_yield();
}

/// One message, in as many blocks as it needs.
struct Transfer {
    std::vector<MPI_Request> requests;
    std::size_t received = 0;  ///< bytes expected; 0 for a message that is sent
    std::size_t arrived = 0;
};

class MpiRanks final : public Communicator {
   public:
    explicit MpiRanks(MPI_Comm ranks) : ranks_(ranks) {
        check(MPI_Comm_set_errhandler(ranks_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
        check(MPI_Comm_rank(ranks_, &rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(ranks_, &size_), "MPI_Comm_size");
        MPI_Comm host = MPI_COMM_NULL;
        check(MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
        check(MPI_Comm_rank(host, &local_rank_), "MPI_Comm_rank");
        check(MPI_Comm_size(host, &local_size_), "MPI_Comm_size");
        check(MPI_Comm_dup(ranks_, &end_), "MPI_Comm_dup");
        share_memory(host);
        check(MPI_Comm_free(&host), "MPI_Comm_free");
    }
    ~MpiRanks() override {
        int ended = 0;
        if (MPI_Finalized(&ended) != MPI_SUCCESS || ended) return;
        if (std::uncaught_exceptions() == 0) free_memory();  // which waits for the other ranks
        if (!left_waiting_) MPI_Comm_free(&end_);
        if (ranks_ != MPI_COMM_WORLD) MPI_Comm_free(&ranks_);
    }

    int rank() const override { return rank_; }
    int size() const override { return size_; }
    int local_rank() const override { return local_rank_; }
    int local_size() const override { return local_size_; }
    std::string host() const override {
        char name[MPI_MAX_PROCESSOR_NAME] = {};
        int length = 0;
        check(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
        return name;
    }
    std::string engine() const override {
        char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
        int length = 0;
        check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
        const std::string name(text, std::strcspn(text, ",\n"));
        return name + (library().several_threads ? "" : " (one thread at a time)");
    }

    void barrier() override {
        const auto inside = enter();
        if (exchange_)
            exchange();
        else
            check(MPI_Barrier(ranks_), "MPI_Barrier");
    }

    void broadcast(void* data, std::size_t bytes, int root) override {
        const auto inside = enter();
        if (exchange_ && bytes <= HostExchange::most) {
            if (rank_ == root && bytes > 0) std::memcpy(exchange_.own(), data, bytes);
            exchange();
            if (rank_ != root && bytes > 0) std::memcpy(data, exchange_.of(root), bytes);
            return;
        }
        auto* at = static_cast<char*>(data);
        for (std::size_t done = 0; done < bytes; done += block)
            check(MPI_Bcast(at + done, static_cast<int>(std::min(block, bytes - done)), MPI_BYTE, root, ranks_), "MPI_Bcast");
    }

    void all_reduce(View<double> values, Reduce how) override { reduce(values, how, MPI_DOUBLE); }
    void all_reduce(View<std::uint64_t> values, Reduce how) override { reduce(values, how, MPI_UINT64_T); }

    std::vector<std::string> all_gather(const std::string& text) override {
        std::vector<std::uint64_t> lengths(static_cast<std::size_t>(size_));
        std::uint64_t length = text.size();
        {
            const auto inside = enter();
            check(MPI_Allgather(&length, 1, MPI_UINT64_T, lengths.data(), 1, MPI_UINT64_T, ranks_), "MPI_Allgather");
        }
        std::vector<std::string> all;
        for (int r = 0; r < size_; ++r) {
            auto& one = all.emplace_back(r == rank_ ? text : std::string(lengths[static_cast<std::size_t>(r)], '\0'));
            broadcast(one.data(), one.size(), r);
        }
        return all;
    }

    void send(const void* data, std::size_t bytes, int to, int tag) override { wait(start_send(data, bytes, to, tag)); }
    void receive(void* data, std::size_t bytes, int from, int tag) override { wait(start_receive(data, bytes, from, tag)); }

    Request start_send(const void* data, std::size_t bytes, int to, int tag) override {
        return start(bytes, 0, [&](std::size_t from, int count, MPI_Request* request) {
            check(MPI_Isend(static_cast<const char*>(data) + from, count, MPI_BYTE, to, tag, ranks_, request), "MPI_Isend");
        });
    }
    Request start_receive(void* data, std::size_t bytes, int from, int tag) override {
        return start(bytes, bytes, [&](std::size_t at, int count, MPI_Request* request) {
            check(MPI_Irecv(static_cast<char*>(data) + at, count, MPI_BYTE, from, tag, ranks_, request), "MPI_Irecv");
        });
    }
    void advance(Request request) override {
        for (auto& part : reinterpret_cast<Transfer*>(request)->requests) {
            int done = 0;
            const auto inside = enter();
            check(MPI_Request_get_status(part, &done, MPI_STATUS_IGNORE), "a message between ranks (MPI_Request_get_status)");
        }
    }
    void wait(Request request) override {
        const std::unique_ptr<Transfer> transfer(reinterpret_cast<Transfer*>(request));
        for (auto& part : transfer->requests) {
            MPI_Status status;
            wait_until([&] {
                int done = 0;
                const auto inside = enter();
                check(MPI_Test(&part, &done, &status), "a message between ranks (MPI_Test)");
                return done != 0;
            });
            int count = 0;
            if (transfer->received > 0 && MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS)
                transfer->arrived += static_cast<std::size_t>(count);
        }
        if (transfer->arrived != transfer->received)
            throw ComputationError("a message of " + std::to_string(transfer->arrived) + " bytes came where " +
                                   std::to_string(transfer->received) + " were expected");
    }

    std::unique_ptr<Communicator> first(int count) override {
        const auto inside = enter();
        MPI_Comm some = MPI_COMM_NULL;
        check(MPI_Comm_split(ranks_, rank_ < count ? 0 : MPI_UNDEFINED, rank_, &some), "MPI_Comm_split");
        return some == MPI_COMM_NULL ? nullptr : std::make_unique<MpiRanks>(some);
    }

    bool all_here(double seconds) noexcept override try {
        MPI_Request request = MPI_REQUEST_NULL;
        {
            const auto inside = enter();
            check(MPI_Ibarrier(end_, &request), "MPI_Ibarrier");
        }
        left_waiting_ = true;
        const auto began = Clock::now();
        for (int done = 0; std::chrono::duration<double>(Clock::now() - began).count() <= seconds;) {
            {
                const auto inside = enter();
                check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
            }
            if (done) {
                left_waiting_ = false;
                return true;
            }
            std::this_thread::sleep_for(std::chrono::microseconds(100));  // a rank may have much to write before it calls this
        }
        return false;
    } catch (const std::exception&) {
        return false;
    }

    bool claim_last_word() noexcept override {
        const auto& mpi = library();
        // Among the ranks of a host by memory that they share, at once. Between hosts by time: the first rank ends the others.
        if (!mpi.word_taken || std::atomic_ref<int>(*mpi.word_taken).exchange(1) == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds(100) * std::min(mpi.host_number, 20));
            return true;
        }
        std::this_thread::sleep_for(std::chrono::seconds(10));
        return false;
    }

    [[noreturn]] void abort(int status) noexcept override {
        std::fflush(nullptr);
        MPI_Abort(MPI_COMM_WORLD, status);
        std::_Exit(status);
    }

    /// The word of this host is that of claim_last_word().
    void lay_out_last_word() const {
        library().host_number = first_ / local_size_;
        library().word_taken = word_;
    }
    void free_memory() {
        if (shared_ != MPI_WIN_NULL) MPI_Win_free(&shared_);
    }

   private:
    /// Memory that the ranks of this host share: a word (claim_last_word), and exchanges where all ranks are on it.
    void share_memory(MPI_Comm host) {
        first_ = rank_;
        check(MPI_Bcast(&first_, 1, MPI_INT, 0, host), "MPI_Bcast");
        const bool one_host = local_size_ == size_ && size_ > 1;
        const auto all = static_cast<MPI_Aint>(64 + (one_host ? HostExchange::memory(size_) : 0));
        MPI_Aint bytes = local_rank_ == 0 ? all : 0;
        void *memory = nullptr, *own = nullptr;
        int unit = 0;
        check(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, host, &own, &shared_), "MPI_Win_allocate_shared");
        check(MPI_Win_shared_query(shared_, 0, &bytes, &unit, &memory), "MPI_Win_shared_query");
        if (local_rank_ == 0) std::memset(memory, 0, static_cast<std::size_t>(all));
        check(MPI_Barrier(host), "MPI_Barrier");
        word_ = static_cast<int*>(memory);
        if (one_host) exchange_ = HostExchange(static_cast<std::byte*>(memory) + 64, rank_, size_, processors_of(host) >= size_);
    }

    /// Processors on which the ranks of this host may run; where that cannot be read, as many as ranks.
    int processors_of(MPI_Comm host) const {
#if defined(__linux__)
        cpu_set_t set;
        int read = sched_getaffinity(0, sizeof set, &set) == 0, all_read = 0;
        check(MPI_Allreduce(&read, &all_read, 1, MPI_INT, MPI_LAND, host), "MPI_Allreduce");
        check(MPI_Allreduce(MPI_IN_PLACE, &set, sizeof set / sizeof(std::uint64_t), MPI_UINT64_T, MPI_BOR, host), "MPI_Allreduce");
        if (all_read) return CPU_COUNT(&set);
#endif
        return local_size_;
    }

    void exchange() {
        exchange_.exchange([this] {  // messages of other ranks advance inside calls of MPI
            int there = 0;
            check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, end_, &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
        });
    }

    template <class T>
    void reduce(View<T> values, Reduce how, MPI_Datatype type) {
        const auto inside = enter();
        if (const auto bytes = static_cast<std::size_t>(values.n) * sizeof(T); exchange_ && bytes <= HostExchange::most) {
            if (bytes > 0) std::memcpy(exchange_.own(), values.ptr, bytes);
            exchange();
            for (int r = 0; r < size_; ++r) {
                const T* const there = reinterpret_cast<const T*>(exchange_.of(r));
                for (index_t i = 0; i < values.n; ++i) values[i] = r == 0 ? there[i] : reduced(values[i], there[i], how);
            }
            return;
        }
        std::vector<T> all(std::min(reduced_at_once, static_cast<std::size_t>(values.n)) * static_cast<std::size_t>(size_));
        for (index_t begin = 0; begin < values.n; begin += static_cast<index_t>(reduced_at_once)) {
            const int count = static_cast<int>(std::min<index_t>(values.n - begin, reduced_at_once));
            T* const here = values.ptr + begin;
            check(MPI_Allgather(here, count, type, all.data(), count, type, ranks_), "MPI_Allgather");
            std::copy_n(all.data(), count, here);
            for (int r = 1; r < size_; ++r) {
                const T* const there = all.data() + static_cast<std::ptrdiff_t>(r) * count;
                for (int i = 0; i < count; ++i) here[i] = reduced(here[i], there[i], how);
            }
        }
    }

    template <class Start>
    Request start(std::size_t bytes, std::size_t received, Start start_piece) {
        auto transfer = std::make_unique<Transfer>();
        transfer->received = received;
        transfer->requests.reserve(bytes / block + 1);
        const auto inside = enter();
        std::size_t done = 0;
        do {  // a message of no bytes is sent as well
            const auto count = std::min(block, bytes - done);
            start_piece(done, static_cast<int>(count), &transfer->requests.emplace_back(MPI_REQUEST_NULL));
            done += count;
        } while (done < bytes);
        return reinterpret_cast<Request>(transfer.release());
    }

    MPI_Comm ranks_;
    MPI_Comm end_ = MPI_COMM_NULL;  ///< for all_here() only
    MPI_Win shared_ = MPI_WIN_NULL;
    int* word_ = nullptr;        ///< in the shared memory
    HostExchange exchange_;      ///< where all ranks are on this host
    bool left_waiting_ = false;  ///< an open barrier on end_
    int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
    int first_ = 0;  ///< rank of local rank 0
};

/// At the exit of the process. Ranks that end in order wait for each other, so that no launcher kills a rank that still has something to
/// write because another failed earlier. A rank that fails while others continue waits a little, then ends them.
void end_in_order(int status, void* world) {
    auto& mpi = library();
    int ended = 0;
    if (getpid() != mpi.process || MPI_Finalized(&ended) != MPI_SUCCESS || ended) return;
    std::fflush(nullptr);
    auto& ranks = *static_cast<MpiRanks*>(world);
    constexpr double grace = 5, any_time = 1e9;
    if (!ranks.all_here(status == 0 ? any_time : grace)) ranks.abort(status);
    ranks.free_memory();
    MPI_Finalize();
}

}  // namespace
}  // namespace kasane::comm

extern "C" const char* kasane_mpi_build() {
    static const std::string build = kasane::comm::this_build();
    return build.c_str();
}

extern "C" kasane::comm::Communicator* kasane_mpi_world() {
    using namespace kasane::comm;
    auto& mpi = library();
    int started = 0, threads = MPI_THREAD_SINGLE;
    check(MPI_Initialized(&started), "MPI_Initialized");
    if (started)  // started by a program that uses kasane as a library, which ends it
        check(MPI_Query_thread(&threads), "MPI_Query_thread");
    else
        check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &threads), "MPI_Init_thread");
    if (threads < MPI_THREAD_SERIALIZED)
        throw kasane::ComputationError(
            "this MPI takes calls from the first thread of a process alone (MPI_THREAD_SERIALIZED is needed); take "
            "an MPI that was built with threads");
    mpi.several_threads = threads == MPI_THREAD_MULTIPLE;
    auto ranks = std::make_unique<MpiRanks>(MPI_COMM_WORLD);
    ranks->lay_out_last_word();
    if (!started) {
        mpi.process = getpid();
        on_exit(end_in_order, ranks.get());
    }
    return ranks.release();
}
