#include <kasane/core/comm/plan.hpp>
#include <kasane/gravity/direct/groups.hpp>
#include <kasane/gravity/direct/peer_memory.hpp>
#include <kasane/gravity/direct/variants.hpp>
#include <kasane/gravity/distributed/memory.hpp>
#include <kasane/gravity/domain/merged_tree.hpp>
#include <kasane/gravity/domain/move_particles.hpp>
#include <kasane/gravity/memory.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {

namespace {

/// Bytes of a particle on the host that keeps it for files.
/// @param given  of copies of its state while it is gathered   @param softening  of its own softening, or 0
std::uint64_t kept_on_host(index_t n, int workers, int worker, int per_rank, std::uint64_t given, std::uint64_t softening) {
    const int ranks = workers / per_rank;
    if (ranks == 1) return worker == 0 ? static_cast<std::uint64_t>(n) * (given + detail::host_bytes(0, softening)) : 0;
    if (worker % per_rank != 0) return 0;
    // The slab; copies of the workers' state, which return to it through one message to another rank after the other, and their numbers.
    constexpr std::uint64_t state = 2 * sizeof(Vec3<double>) + sizeof(Vec3<float>) + sizeof(std::uint32_t);
    const auto slab = static_cast<std::uint64_t>((n + ranks - 1) / ranks);
    return slab * (detail::host_particle + softening + sizeof(Vec3<float>) + 2 * state + sizeof(std::size_t));
}

SimulationMemory memory_of_worker(const AnySpace& kind, index_t n, const Direct& force, const Exchange& exchange, int workers, int worker,
                                  int per_rank, bool) {
    const bool device = name(kind) != "cpu";
    const auto layout = detail::layout_of(force);
    const comm::Partition partition{n, detail::largest_grain, workers};
    const auto plan = comm::exchange_plan(partition, worker, buffer_particles(exchange, static_cast<std::size_t>(layout.body_bytes()), n));
    auto work = detail::direct_memory(kind, partition.count(worker), plan.buffer, force);
    if (workers > 1) {
        work += detail::packed_bytes(force, plan.buffer);
        const index_t slab = (partition.largest() + partition.grain - 1) / partition.grain * partition.grain;
        // With both sides of the pairs at once there are one more buffer of positions and four of reactions. Devices exchange few particles
        // in the kernel that sums them.
        const auto both = static_cast<std::uint64_t>(slab * (layout.body_bytes() + 4 * layout.reaction_bytes()));
        const bool few = n <= most_group_sources;
        if (device) work += both + (few ? static_cast<std::uint64_t>(slab * workers) * peer_bytes : 0);
    }
    const auto count = static_cast<std::uint64_t>(comm::Partition{n, 1, workers}.count(worker));
    // A slab is on the host while it is sent or gathered.
    const std::uint64_t softening = force.softening_per_particle ? sizeof(double) : 0;
    const std::uint64_t host =
        count * (2 * sizeof(Vec3<double>) + sizeof(double) + softening) + kept_on_host(n, workers, worker, per_rank, 0, softening);
    return {host + (device ? 0 : work), device ? work : 0};
}

/// Bytes that a device or the host needs for a domain of `own` particles beside the system and its tree.
/// @param apart  LETs are walked apart from the own tree
double domain_memory(bool device, double own, double all, const Tree& force, int workers, bool apart) {
    // Measured with the default criterion: LETs of 15 own^(2/3) nodes, with two bodies each, are received from three workers.
    const double most = std::min(1.5, 4. / force.leaf_size), tree_nodes = own * most;
    const double nodes = std::min(15 * std::pow(own, 2. / 3), most * all), bodies = std::min(2 * nodes, all);
    const double node = sizeof(Body) + sizeof(NodeTest) + sizeof(Quadrupole) + 2 * sizeof(std::uint32_t), body = sizeof(Body);
    const double let = nodes * node + bodies * body;
    double bytes = 3 * let + 4 * nodes;  // sent, received and merged; numbers of the nodes that are sent
    const double lets = std::min(workers - 1, selected_lets);
    bytes +=
        device ? selected_node_bytes * nodes + unselected_node_bytes * lets * tree_nodes : tested_node_bytes * tree_nodes;  // selection
    if (!apart) return bytes;
    // The own bodies in front of the LETs; bodies at a later time, or the field of a second walk; a list of targets. Another merged tree;
    // motions of the nodes and bodies of LETs, sent and received. (tree_memory() counts the own nodes that are kept.)
    const double motion = sizeof(Vec3<float>) * nodes + (sizeof(BodyMotion) + 2 * sizeof(std::uint32_t)) * bodies;
    return bytes + own * (2 * body + sizeof(std::uint32_t)) + (device ? let : 0) + 2 * motion;
}

/// Of a domain with its share of the particles: arrays that change their size have a sixteenth in reserve. (In the first division, when
/// there are no trees yet, particles that move take less memory than trees do later.)
SimulationMemory memory_of_worker(const AnySpace& kind, index_t n, const Tree& force, const Exchange&, int workers, int worker,
                                  int per_rank, bool apart) {
    const auto share = (n + workers - 1) / workers, domain = workers > 1 ? std::min(n, share + share / 16) : n;
    auto memory = simulation_memory(kind, domain, force);
    if (workers > 1) {
        const bool device = name(kind) != "cpu";
        const double more = domain_memory(device, static_cast<double>(domain), static_cast<double>(n), force, workers, apart || !device);
        (device ? memory.device_bytes : memory.host_bytes) += static_cast<std::uint64_t>(more);
    }
    constexpr std::uint64_t given = 2 * sizeof(Vec3<double>) + 2 * sizeof(double) + sizeof(Vec3<float>);
    memory.host_bytes += kept_on_host(n, workers, worker, per_rank, given, force.softening_per_particle ? sizeof(double) : 0);
    return memory;
}

}  // namespace

SimulationMemory worker_memory(const AnySpace& kind, index_t n, const Force& force, const Exchange& exchange, int workers, int worker,
                               int per_rank, bool apart) {
    return std::visit([&](const auto& of) { return memory_of_worker(kind, n, of, exchange, workers, worker, per_rank, apart); }, force);
}

void check_worker_memory(const std::vector<AnySpace>& here, index_t n, const Force& force, const Exchange& exchange, int workers, int first,
                         int sharing, std::uint64_t taken) {
    const auto per_rank = static_cast<int>(here.size());
    std::uint64_t host = 0;
    for (int k = 0; k < per_rank; ++k) {
        const auto& space = here[static_cast<std::size_t>(k)];
        const auto needed = worker_memory(space, n, force, exchange, workers, first + k, per_rank);
        detail::check_device(space, needed.device_bytes, n);
        host += needed.host_bytes;
    }
    // The other ranks on this host need as much.
    detail::check_host(static_cast<std::uint64_t>(sharing) * (host - std::min(host, taken)), n);
}

}  // namespace kasane::gravity
