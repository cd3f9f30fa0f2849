// Workers of one process, on one CPU thread each.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>

#include <vector>

namespace kasane::sparse {

/// body(communicator, spaces) with that many workers.
template <class F>
void on_workers(int count, const F& body) {
    const auto ranks = comm::alone();
    comm::WorkerCommunicator workers(*ranks, count);
    body(workers, std::vector<AnySpace>(static_cast<std::size_t>(count), Cpu{1}));
}

}  // namespace kasane::sparse
