#include <kasane/core/comm/module.hpp>
#include <kasane/core/comm/nccl_module.hpp>

#include <cuda_runtime.h>
#include <nccl.h>
#include <sched.h>

#include <cstring>
#include <memory>
#include <string>

namespace {

using kasane::comm::NcclEnd, kasane::comm::NcclId, kasane::comm::NcclModule;

/// Blocks of threads, and with them connections, of NCCL between two workers. All are made at the first message, in about 3 ms each, and
/// one moves 10.6 GB/s each way between two H200. NCCL would take up to 32.
constexpr int most_blocks = 8;

/// Empty, or the reason of a failed call, kept for the caller.
const char* kept(std::string reason) {
    thread_local std::string kept;
    kept = std::move(reason);
    return kept.c_str();
}

std::string reason(ncclResult_t status, const char* call, ncclComm_t communicator = nullptr) {
    if (status == ncclSuccess) return "";
    const char* more = ncclGetLastError(communicator);
    return std::string("NCCL: ") + ncclGetErrorString(status) + " in " + call + (more && *more ? std::string(" (") + more + ")" : "");
}

class End final : public NcclEnd {
   public:
    End(ncclComm_t communicator, int device) : communicator_(communicator), device_(device) {}
    ~End() override {
        // As elsewhere: a destructor cannot throw, and at process exit the runtime may already be gone.
        static_cast<void>(cudaSetDevice(device_));
        static_cast<void>(ncclCommDestroy(communicator_));
    }
    End(const End&) = delete;
    End& operator=(const End&) = delete;

    const char* exchange(const void* send, std::size_t send_bytes, int to, void* receive, std::size_t receive_bytes, int from,
                         CUstream_st* stream) noexcept override {
        if (const auto status = cudaSetDevice(device_); status != cudaSuccess)
            return kept(std::string("CUDA: ") + cudaGetErrorString(status) + " in cudaSetDevice");
        auto why = reason(ncclGroupStart(), "ncclGroupStart", communicator_);
        if (!why.empty()) return kept(why);
        if (send_bytes > 0) why = reason(ncclSend(send, send_bytes, ncclUint8, to, communicator_, stream), "ncclSend", communicator_);
        if (why.empty() && receive_bytes > 0)
            why = reason(ncclRecv(receive, receive_bytes, ncclUint8, from, communicator_, stream), "ncclRecv", communicator_);
        const auto end = reason(ncclGroupEnd(), "ncclGroupEnd", communicator_);  // a group that was begun must be ended
        return kept(why.empty() ? end : why);
    }

   private:
    ncclComm_t communicator_;
    int device_;
};

/// The threads that NCCL starts inherit the processors of the thread that connects. Where a launcher has bound the rank to one processor,
/// they would share it with a thread that waits busily, and the first messages would take five times as long.
class OnEveryProcessor {
   public:
    OnEveryProcessor() {
        if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
        cpu_set_t every;
        CPU_ZERO(&every);
        for (std::size_t id = 0; id < CPU_SETSIZE; ++id) CPU_SET(id, &every);  // the system leaves out those that it does not give
        changed_ = sched_setaffinity(0, sizeof every, &every) == 0;
    }
    ~OnEveryProcessor() {
        if (changed_) static_cast<void>(sched_setaffinity(0, sizeof before_, &before_));
    }
    OnEveryProcessor(const OnEveryProcessor&) = delete;
    OnEveryProcessor& operator=(const OnEveryProcessor&) = delete;

   private:
    cpu_set_t before_;
    bool changed_ = false;
};

const char* make_id(NcclId& id) noexcept {
    static_assert(sizeof(ncclUniqueId) == sizeof id.bytes);
    ncclUniqueId made;
    const auto why = reason(ncclGetUniqueId(&made), "ncclGetUniqueId");
    if (why.empty()) std::memcpy(id.bytes, &made, sizeof made);
    return kept(why);
}

const char* connect(const NcclId& id, int size, int index, int device, NcclEnd*& end) noexcept {
    if (const auto status = cudaSetDevice(device); status != cudaSuccess)
        return kept(std::string("CUDA: ") + cudaGetErrorString(status) + " in cudaSetDevice");
    ncclUniqueId known;
    std::memcpy(&known, id.bytes, sizeof known);
    ncclComm_t communicator = nullptr;
    ncclConfig_t how = NCCL_CONFIG_INITIALIZER;
    how.maxCTAs = most_blocks;
    const OnEveryProcessor here;
    const auto why = reason(ncclCommInitRankConfig(&communicator, size, known, index, &how), "ncclCommInitRankConfig");
    if (why.empty()) end = std::make_unique<End>(communicator, device).release();
    return kept(why);
}

}  // namespace

extern "C" const char* kasane_nccl_build() {
    static const std::string build = kasane::comm::this_build();
    return build.c_str();
}

extern "C" const NcclModule* kasane_nccl_module() {
    static const NcclModule module = [] {
        NcclModule made{0, make_id, connect};
        static_cast<void>(ncclGetVersion(&made.version));
        return made;
    }();
    return &module;
}
