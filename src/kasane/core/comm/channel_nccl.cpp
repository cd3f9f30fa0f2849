#include <kasane/core/comm/channel_nccl.hpp>

#if defined(KASANE_CUDA)
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/comm/module.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <tuple>
#include <vector>

namespace kasane::comm {
namespace {

/// Names two workers that share a device; empty where there are none. Collective, the same on every worker.
std::string shared_device(Worker& worker, Cuda on) {
    const auto size = static_cast<std::size_t>(worker.size()), me = static_cast<std::size_t>(worker.index());
    std::vector<std::uint64_t> identities(2 * size, 0);
    std::tie(identities[2 * me], identities[2 * me + 1]) = cuda::device_identity(on.device);
    worker.all_reduce(view(identities), Reduce::sum);
    for (std::size_t a = 0; a < size; ++a)
        for (std::size_t b = 0; b < a; ++b)
            if (identities[2 * a] == identities[2 * b] && identities[2 * a + 1] == identities[2 * b + 1])
                return "workers " + std::to_string(b) + " and " + std::to_string(a) + " share a device, which NCCL does not support";
    return "";
}

std::string version_text(int version) {
    return "NCCL " + std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." + std::to_string(version % 100);
}

}  // namespace

NcclConnection connect_nccl(Worker& worker, Cuda on) {
    NcclConnection made;
    made.why_not = shared_device(worker, on);
    if (!made.why_not.empty()) return made;

    const NcclModule* nccl = nullptr;
    std::string mine;
    try {
        nccl = reinterpret_cast<NcclModuleFunction>(module_function("nccl", nccl_module_function))();
    } catch (const Error& error) {
        mine = error.what();
    }
    made.why_not = first_reason(worker, mine);
    if (!made.why_not.empty()) return made;

    NcclId id;
    if (worker.index() == 0) mine = nccl->make_id(id);
    made.why_not = first_reason(worker, mine);
    if (!made.why_not.empty()) return made;
    worker.broadcast(id.bytes, sizeof id.bytes, 0);

    NcclEnd* end = nullptr;
    mine = nccl->connect(id, worker.size(), worker.index(), on.device, end);
    made.end.reset(end);
    made.why_not = first_reason(worker, mine);
    if (!made.why_not.empty()) made.end.reset();
    made.version = version_text(nccl->version);
    return made;
}

}  // namespace kasane::comm
#endif
