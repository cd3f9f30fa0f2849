// Checks that end all workers with the same error. Collective.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/comm/worker_memory.hpp>
#include <kasane/lattice/geometry.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace kasane::lattice {

/// @throws InputError on every worker if `problem` is not empty on one of them
inline void agree(comm::Worker& worker, const std::string& problem) {
    if (const auto reason = comm::first_reason(worker, problem); !reason.empty()) throw InputError(reason);
}

/// @param here  spaces of this rank's workers   @param kind  index of the alternative of AnySpace that all must have
/// @throws InputError on every worker if one has another kind of space
inline void agree_on_kind(comm::Worker& worker, const std::vector<AnySpace>& here, std::uint64_t kind) {
    const auto l = static_cast<std::size_t>(worker.local());
    agree(worker,
          l < here.size() && here[l].index() == kind ? "" : "another kind of device than worker 0's: take cpu for all, or cuda for all");
}

/// @param local  extents of the local lattice   @param bytes  that this worker needs on its space
/// @throws InputError on every worker if one has less; workers on the CPUs of one host share its memory
inline void agree_on_memory(comm::Worker& worker, const AnySpace& on, const Extents& local, std::uint64_t bytes) {
    const auto available = comm::available_memory(worker, on);
    constexpr double gibi = 1u << 30;
    agree(worker, bytes <= available
                      ? ""
                      : fmt::format("{} sites and the halo around them need {:.3g} GiB of memory on {}, and {:.3g} GiB are "
                                    "free: take more workers",
                                    text(local), static_cast<double>(bytes) / gibi, name(on), static_cast<double>(available) / gibi));
}

}  // namespace kasane::lattice
