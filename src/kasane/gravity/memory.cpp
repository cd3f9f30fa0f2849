// What a simulation takes of memory, and whether it is there.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/step/system.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace kasane::gravity {
namespace {

std::string gibibytes(std::uint64_t bytes) { return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1u << 30)); }

std::uint64_t work_memory(const AnySpace& on, index_t n, const Direct& force) {
    const auto count = static_cast<std::uint64_t>(n);
    constexpr std::uint64_t state = 3 * sizeof(Vec3<double>) + sizeof(double);
    // Block steps keep predicted positions, and targets and their accelerations side by side.
    constexpr std::uint64_t blocks = 3 * sizeof(Vec3<double>) + sizeof(std::uint8_t) + scratch_per_particle;
    return count * (state + blocks + sizeof(double)) + direct_memory(on, n, n, force);
}

std::uint64_t work_memory(const AnySpace& on, index_t n, const Tree& force) {
    // Positions, velocities, mass; acceleration and its size; place in the order given, level.
    constexpr std::uint64_t state = 2 * sizeof(Vec3<double>) + sizeof(double) + sizeof(Vec3<float>) + sizeof(float) + sizeof(std::uint32_t) +
                                    sizeof(std::uint8_t) + scratch_per_particle;
    return static_cast<std::uint64_t>(n) * state + tree_memory(on, n, force);
}

}  // namespace

SimulationMemory simulation_memory(const AnySpace& on, index_t n, const Force& force) {
    const auto count = static_cast<std::uint64_t>(n);
    constexpr std::uint64_t host_particle = 2 * sizeof(Vec3<double>) + 2 * sizeof(double) + 1;
    // While diagnostics are made, a potential, an acceleration and a second copy of the particles (a snapshot) are held too.
    constexpr std::uint64_t diagnostics = host_particle + sizeof(Vec3<double>) + sizeof(double);
    const auto work = std::visit([&](const auto& f) { return work_memory(on, n, f); }, force);
    const bool device = name(on) != "cpu";
    // A checkpoint holds the order and the accelerations of a tree.
    const std::uint64_t state = std::holds_alternative<Tree>(force) ? sizeof(std::uint32_t) + sizeof(Vec3<float>) : 0;
    return {count * (host_particle + std::max(diagnostics, host_particle + state)) + (device ? 0 : work), device ? work : 0};
}

void check_memory(const AnySpace& on, index_t n, const Force& force) {
    const auto needed = simulation_memory(on, n, force);
    const auto host = available_memory(Cpu{});
    KS_VALIDATE(needed.host_bytes <= host, fmt::format("{} particles need {} of memory, and {} are free: take fewer particles", n,
                                                       gibibytes(needed.host_bytes), gibibytes(host)));
    if (needed.device_bytes == 0) return;
    const auto device = available_memory(on);
    KS_VALIDATE(needed.device_bytes <= device, fmt::format("{} particles need {} of memory on {}, and {} are free: take fewer particles", n,
                                                           gibibytes(needed.device_bytes), name(on), gibibytes(device)));
}

}  // namespace kasane::gravity
