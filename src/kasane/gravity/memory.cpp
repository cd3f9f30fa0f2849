#include <kasane/core/base/error.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/variants.hpp>
#include <kasane/gravity/memory.hpp>
#include <kasane/gravity/step/system.hpp>

#include <fmt/format.h>

namespace kasane::gravity {
namespace detail {
namespace {

std::string gibibytes(std::uint64_t bytes) { return fmt::format("{:.3g} GiB", static_cast<double>(bytes) / (1u << 30)); }

}  // namespace

std::uint64_t packed_bytes(const Direct& force, index_t particles) {
    const index_t padded = (particles + largest_grain - 1) / largest_grain * largest_grain;
    return static_cast<std::uint64_t>(padded * detail::layout_of(force).body_bytes());
}

std::uint64_t direct_memory(const AnySpace& on, index_t own, index_t block, const Direct& force) {
    constexpr std::uint64_t state = 3 * sizeof(Vec3<double>) + sizeof(double);
    // Block steps also keep predicted positions, the positions of the targets and their accelerations, levels and scratch memory.
    constexpr std::uint64_t blocks = 3 * sizeof(Vec3<double>) + sizeof(std::uint8_t) + scratch_per_particle;
    constexpr std::uint64_t potential = sizeof(double);
    const std::uint64_t softenings = force.softening_per_particle ? 2 * sizeof(double) : 0;  // of the particles, and of the targets
    return static_cast<std::uint64_t>(own) * (state + blocks + potential + softenings) + packed_bytes(force, block) +
           direct_force_memory(on, own, block, force);
}

void check_host(std::uint64_t needed, index_t n) {
    const auto free = available_memory(Cpu{});
    KS_VALIDATE(needed <= free, fmt::format("{} particles need {} of memory, but {} are free: take fewer particles", n, gibibytes(needed),
                                            gibibytes(free)));
}

void check_device(const AnySpace& on, std::uint64_t needed, index_t n) {
    if (needed == 0) return;
    const auto free = available_memory(on);
    KS_VALIDATE(needed <= free, fmt::format("{} particles need {} of memory on {}, but {} are free: take fewer particles", n,
                                            gibibytes(needed), name(on), gibibytes(free)));
}

}  // namespace detail

namespace {

std::uint64_t work_memory(const AnySpace& on, index_t n, const Direct& force) { return detail::direct_memory(on, n, n, force); }

std::uint64_t work_memory(const AnySpace& on, index_t n, const Tree& force) {
    // System with all its arrays: position, velocity, mass; acceleration and its size; number in the given order, level; scratch memory.
    constexpr std::uint64_t state = 2 * sizeof(Vec3<double>) + sizeof(double) + sizeof(Vec3<float>) + sizeof(float) +
                                    sizeof(std::uint32_t) + sizeof(std::uint8_t) + scratch_per_particle;
    const std::uint64_t inverse = name(on) == "cpu" ? 0 : sizeof(std::uint32_t);  // of the order, for copies to the host
    const std::uint64_t softening = force.softening_per_particle ? sizeof(double) : 0;
    return static_cast<std::uint64_t>(n) * (state + inverse + softening) + tree_memory(on, n, force);
}

}  // namespace

SimulationMemory simulation_memory(const AnySpace& on, index_t n, const Force& force) {
    const auto count = static_cast<std::uint64_t>(n);
    const auto work = std::visit([&](const auto& f) { return work_memory(on, n, f); }, force);
    const bool device = name(on) != "cpu";
    // The state of a tree is its order and the accelerations.
    const std::uint64_t state = std::holds_alternative<Tree>(force) ? sizeof(std::uint32_t) + sizeof(Vec3<float>) : 0;
    const std::uint64_t softening = softening_per_particle(force) ? sizeof(double) : 0;
    return {count * detail::host_bytes(state, softening) + (device ? 0 : work), device ? work : 0};
}

void check_memory(const AnySpace& on, index_t n, const Force& force) {
    const auto needed = simulation_memory(on, n, force);
    detail::check_host(needed.host_bytes, n);
    detail::check_device(on, needed.device_bytes, n);
}

}  // namespace kasane::gravity
