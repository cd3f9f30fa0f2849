// A worker's end of an NCCL channel: loads the plugin, connects the workers, turns failures into exceptions. Empty without CUDA.
#pragma once

#include <kasane/core/comm/nccl_module.hpp>
#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>

#include <memory>
#include <string>

#if defined(KASANE_CUDA)
namespace kasane::comm {

struct NcclConnection {
    std::unique_ptr<NcclEnd> end;  ///< null: see why_not
    std::string why_not;           ///< the same on every worker
    std::string version;           ///< "NCCL 2.28.9"
};

/// Collective. NCCL takes each device once, so workers that share a device cannot use it.
NcclConnection connect_nccl(Worker& worker, Cuda on);

}  // namespace kasane::comm
#endif
