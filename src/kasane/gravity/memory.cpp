// What a simulation takes of memory, and whether it is there.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/plan.hpp>
#include <kasane/core/math/binned_sum.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/step/system.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::gravity {
namespace {

std::string gibibytes(std::uint64_t bytes) { return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1u << 30)); }

constexpr std::uint64_t host_particle = 2 * sizeof(Vec3<double>) + 2 * sizeof(double) + 1;
// While diagnostics are made, a potential, an acceleration and a second copy of the particles (a snapshot) are held too.
constexpr std::uint64_t diagnostics = host_particle + sizeof(Vec3<double>) + sizeof(double);

/// What direct summation takes where a worker works.
std::uint64_t worker_work(const AnySpace& on, index_t n, const Direct& force, const Exchange& exchange, int workers, int worker) {
    const comm::Partition partition{n, 1024, workers};  // grains are at most so large
    const bool in_double = force.precision == Precision::double_;
    const std::uint64_t body = in_double ? 32 : 16, reaction = in_double ? 3 * sizeof(BinnedSum<3>) : 3 * sizeof(BinnedSum<2>);
    const auto plan = comm::exchange_plan(partition, worker, buffer_particles(exchange, body, n));
    const auto padded = [&](index_t particles) {
        return static_cast<std::uint64_t>((particles + partition.grain - 1) / partition.grain * partition.grain);
    };
    const auto own = static_cast<std::uint64_t>(partition.count(worker)), slab = padded(partition.largest());

    constexpr std::uint64_t state = 3 * sizeof(Vec3<double>) + sizeof(double);
    // Block steps keep predicted positions, and targets and their accelerations side by side.
    constexpr std::uint64_t blocks = 3 * sizeof(Vec3<double>) + sizeof(std::uint8_t) + scratch_per_particle;
    std::uint64_t messages = body * padded(plan.buffer);
    if (workers > 1) {
        messages *= 2;
        if (name(on) != "cpu") messages += slab * (body + 4 * reaction);  // both sides of the pairs at once
    }
    return own * (state + blocks + sizeof(double)) + messages + direct_force_memory(on, partition.count(worker), plan.buffer, force);
}

std::uint64_t work_memory(const AnySpace& on, index_t n, const Direct& force) { return worker_work(on, n, force, {}, 1, 0); }

std::uint64_t work_memory(const AnySpace& on, index_t n, const Tree& force) {
    // Positions, velocities, mass; acceleration and its size; place in the order given, level.
    constexpr std::uint64_t state = 2 * sizeof(Vec3<double>) + sizeof(double) + sizeof(Vec3<float>) + sizeof(float) +
                                    sizeof(std::uint32_t) + sizeof(std::uint8_t) + scratch_per_particle;
    return static_cast<std::uint64_t>(n) * state + tree_memory(on, n, force);
}

void check_host(std::uint64_t needed, index_t n) {
    const auto free = available_memory(Cpu{});
    KS_VALIDATE(needed <= free, fmt::format("{} particles need {} of memory, and {} are free: take fewer particles", n, gibibytes(needed),
                                            gibibytes(free)));
}
void check_device(const AnySpace& on, std::uint64_t needed, index_t n) {
    if (needed == 0) return;
    const auto free = available_memory(on);
    KS_VALIDATE(needed <= free, fmt::format("{} particles need {} of memory on {}, and {} are free: take fewer particles", n,
                                            gibibytes(needed), name(on), gibibytes(free)));
}

}  // namespace

SimulationMemory simulation_memory(const AnySpace& on, index_t n, const Force& force) {
    const auto count = static_cast<std::uint64_t>(n);
    const auto work = std::visit([&](const auto& f) { return work_memory(on, n, f); }, force);
    const bool device = name(on) != "cpu";
    // A checkpoint holds the order and the accelerations of a tree.
    const std::uint64_t state = std::holds_alternative<Tree>(force) ? sizeof(std::uint32_t) + sizeof(Vec3<float>) : 0;
    return {count * (host_particle + std::max(diagnostics, host_particle + state)) + (device ? 0 : work), device ? work : 0};
}

SimulationMemory worker_memory(const AnySpace& kind, index_t n, const Direct& force, const Exchange& exchange, int workers, int worker) {
    const auto work = worker_work(kind, n, force, exchange, workers, worker);
    const bool device = name(kind) != "cpu";
    const auto slab = static_cast<std::uint64_t>(comm::Partition{n, 1, workers}.count(worker));
    // A slab is on the host while it is sent or gathered; the first worker's holds all particles.
    const std::uint64_t host = slab * (2 * sizeof(Vec3<double>) + sizeof(double)) +
                               (worker == 0 ? static_cast<std::uint64_t>(n) * (host_particle + diagnostics) : 0);
    return {host + (device ? 0 : work), device ? work : 0};
}

void check_memory(const AnySpace& on, index_t n, const Force& force) {
    const auto needed = simulation_memory(on, n, force);
    check_host(needed.host_bytes, n);
    check_device(on, needed.device_bytes, n);
}

void check_worker_memory(const std::vector<AnySpace>& here, index_t n, const Direct& force, const Exchange& exchange, int workers,
                         int first, int sharing) {
    std::uint64_t host = 0;
    for (std::size_t k = 0; k < here.size(); ++k) {
        const int worker = first + static_cast<int>(k);
        const auto needed = worker_memory(here[k], n, force, exchange, workers, worker);
        check_device(here[k], needed.device_bytes, n);
        host += needed.host_bytes;
        // The other ranks of this host have the like, but for the first worker's particles.
        host += static_cast<std::uint64_t>(sharing - 1) * (worker > 0 ? needed.host_bytes : 0);
    }
    check_host(host, n);
}

}  // namespace kasane::gravity
