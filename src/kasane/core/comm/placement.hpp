// The space of each worker: by the rank's number on its host, so that the ranks of a host take its devices in turn.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/core/device/space.hpp>

#include <string>
#include <vector>

namespace kasane::comm {

/// Chooses the spaces of this rank's workers. "cpu": one, with its share of the processor's threads where threads = 0 (all that the
/// launcher bound to this rank, or the host's divided by its ranks). "cuda": worker k of local rank l has device (l workers + k) % devices.
/// "cuda:2" names the device of a single rank with one worker. "auto": cuda where every rank has a device, else cpu. Collective.
/// @throws InputError on every rank, naming the rank that is the reason: no such device, more workers than devices in a rank
std::vector<AnySpace> placement(Communicator& ranks, const std::string& device, int workers, int threads = 0);

/// Returns one line per rank: "rank 0 on node1: cuda:0 NVIDIA H200, cuda:1 …". Collective; the same text on every rank.
std::vector<std::string> placement_text(Communicator& ranks, const std::vector<AnySpace>& here);

}  // namespace kasane::comm
