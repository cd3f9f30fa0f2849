// How the workers of a communicator exchange their particles in direct summation ([MTM13] section 4). Plain values.
#pragma once

#include <kasane/core/comm/channel.hpp>

#include <algorithm>
#include <string>

namespace kasane::gravity {

/// Which form accelerations of all particles take between workers.
enum class PairForm {
    automatic,   ///< by a measured table
    one_sided,   ///< every source acts on every target: accumulation and transport of positions
    both_sides,  ///< every pair once (CUDA): positions go to half of the workers, reactions return
};

struct Exchange {
    /// Bytes of each of the two buffers for other workers' particles on a worker; the largest slab is the least.
    double buffer_bytes = 256.0 * 1024 * 1024;
    comm::Engine engine = comm::Engine::automatic;
    PairForm form = PairForm::automatic;
};

/// The choices that a communicator made.
struct ExchangeUsed {
    std::string engine;  ///< as comm::Channel::text(); empty: there is one worker
    PairForm form = PairForm::one_sided;
};

/// Particles that each of the two buffers may hold.
inline index_t buffer_particles(const Exchange& exchange, std::size_t body_bytes, index_t total) {
    return static_cast<index_t>(std::min(exchange.buffer_bytes / static_cast<double>(body_bytes), static_cast<double>(total)));
}

}  // namespace kasane::gravity
