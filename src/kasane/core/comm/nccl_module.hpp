// Interface between kasane and its NCCL plugin (libkasane_nccl.so), which links NCCL and is loaded when a channel needs it: kasane itself
// must start without NCCL.
// Invariants: exceptions do not cross this interface; a function that can fail returns the reason, or an empty text, which is valid until
// the next call of the same thread.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace kasane::comm {

/// The address that a worker broadcasts so that the others connect to it; plain bytes.
struct NcclId {
    char bytes[128] = {};
};

/// One worker's end of the connection.
class NcclEnd {
   public:
    /// Every worker's thread calls it, all at the same time.
    virtual ~NcclEnd() = default;
    /// Enqueues on the stream of this end's device: send to one worker and receive from another; null or 0 bytes: only the other half.
    virtual const char* exchange(const void* send, std::size_t send_bytes, int to, void* receive, std::size_t receive_bytes, int from,
                                 CUstream_st* stream) noexcept = 0;
};

struct NcclModule {
    /// Version of the loaded library: 22809 means 2.28.9.
    int version = 0;
    const char* (*make_id)(NcclId& id) noexcept = nullptr;
    /// Collective: every worker calls it from its own thread; it returns when all have called it. The caller deletes the end.
    const char* (*connect)(const NcclId& id, int size, int index, int device, NcclEnd*& end) noexcept = nullptr;
};

inline constexpr const char* nccl_module_function = "kasane_nccl_module";
using NcclModuleFunction = const NcclModule* (*)();

}  // namespace kasane::comm
