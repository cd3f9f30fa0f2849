// A member's end of NCCL for a channel: the module loaded, the members connected, failures as exceptions. Empty in a build without CUDA.
#pragma once

#include <kasane/core/comm/nccl/nccl_module.hpp>
#include <kasane/core/comm/team.hpp>
#include <kasane/core/device/space.hpp>

#include <memory>
#include <string>

#if defined(KASANE_CUDA)
namespace kasane::comm {

struct NcclConnection {
    std::unique_ptr<NcclEnd> end;  ///< null: why_not says why
    std::string why_not;           ///< the same on every member
    std::string version;           ///< "NCCL 2.28.9"
};

/// Collective. NCCL takes each device once, so members that share one cannot have it.
NcclConnection connect_nccl(Member& member, Cuda on);

}  // namespace kasane::comm
#endif
