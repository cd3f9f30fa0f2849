// Options of the exchange of particles between the workers of a communicator in direct summation ([MTM13] section 4). Plain values.
#pragma once

#include <kasane/core/comm/channel.hpp>

#include <algorithm>
#include <string>

namespace kasane::gravity {

/// Form of the accelerations of all particles on several workers.
enum class PairForm {
    automatic,   ///< by a measured table
    one_sided,   ///< every source acts on every target: accumulation and transport of positions
    both_sides,  ///< every pair once (CUDA): positions go to half of the workers, reactions return
};

/// Options of the exchange.
struct Exchange {
    /// Size of each of a worker's two buffers for particles of other workers [byte]; a buffer holds at least the largest slab.
    double buffer_bytes = 256.0 * 1024 * 1024;
    comm::Engine engine = comm::Engine::automatic;
    PairForm form = PairForm::automatic;
};

/// Engine and form that the workers use.
struct ExchangeUsed {
    std::string engine;  ///< as comm::Channel::text(); empty: there is one worker
    PairForm form = PairForm::one_sided;
};

/// Number of particles for which each of the two buffers has memory.
inline index_t buffer_particles(const Exchange& exchange, std::size_t body_bytes, index_t total) {
    return static_cast<index_t>(std::min(exchange.buffer_bytes / static_cast<double>(body_bytes), static_cast<double>(total)));
}

}  // namespace kasane::gravity
