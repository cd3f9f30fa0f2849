// What kasane and its module of NCCL say to each other. The module (libkasane_nccl.so) links NCCL and is loaded when a channel asks for it:
// kasane itself must start where there is none.
// Invariants: nothing is thrown across the border; a function that can fail returns why it did, or an empty text, which holds until the
// next call of the same thread.
#pragma once

#include <cstddef>

struct CUstream_st;

namespace kasane::comm {

/// The address that a worker broadcasts to connect the others; plain bytes.
struct NcclId {
    char bytes[128] = {};
};

/// One worker's end.
class NcclEnd {
   public:
    /// Every worker's thread does it, at the same time.
    virtual ~NcclEnd() = default;
    /// Gives the stream, of this end's device, the work of sending to one worker and receiving from one; null or 0 bytes: not that half.
    virtual const char* exchange(const void* send, std::size_t send_bytes, int to, void* receive, std::size_t receive_bytes, int from,
                                 CUstream_st* stream) noexcept = 0;
};

struct NcclModule {
    /// Of the library that was loaded: 22809 is 2.28.9.
    int version = 0;
    const char* (*make_id)(NcclId& id) noexcept = nullptr;
    /// Collective: every worker calls it from its own thread; returns when all have. The caller deletes the end.
    const char* (*connect)(const NcclId& id, int size, int index, int device, NcclEnd*& end) noexcept = nullptr;
};

inline constexpr const char* nccl_module_function = "kasane_nccl_module";
using NcclModuleFunction = const NcclModule* (*)();

}  // namespace kasane::comm
