#include <kasane/core/base/error.hpp>
#include <kasane/core/device/holds_for_all.hpp>
#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace kasane::gravity {

void Particles::resize(index_t n) {
    const auto size = static_cast<std::size_t>(n);
    resize_touched(position, size);
    resize_touched(velocity, size);
    resize_touched(mass, size);
    resize_touched(id, size);
    resize_touched(type, size);
    if (!softening.empty()) resize_touched(softening, size);
}

void Particles::reserve(index_t n) {
    const auto size = static_cast<std::size_t>(n);
    position.reserve(size);
    velocity.reserve(size);
    mass.reserve(size);
    id.reserve(size);
    type.reserve(size);
}

void Particles::append(const Particles& other) {
    const bool softened = (mass.empty() || !softening.empty()) && (other.mass.empty() || !other.softening.empty());
    const auto join = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    join(position, other.position);
    join(velocity, other.velocity);
    join(mass, other.mass);
    join(id, other.id);
    join(type, other.type);
    join(softening, other.softening);
    if (!softened) softening.clear();
}

namespace {
bool finite(const Vec3<double>& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }
}  // namespace

void validate(const Particles& p, const std::string& source, bool velocities) {
    const auto n = p.mass.size();
    const auto moves = velocities ? p.velocity.size() : n;
    KS_VALIDATE(n > 0, source + " holds no particles: at least one is needed");
    KS_VALIDATE(p.position.size() == n && moves == n && p.id.size() == n && p.type.size() == n,
                fmt::format("{}: counts disagree: {} masses, {} positions, {} velocities, {} ids, {} types", source, n, p.position.size(),
                            moves, p.id.size(), p.type.size()));
    KS_VALIDATE(p.softening.empty() || p.softening.size() == n,
                fmt::format("{}: counts disagree: {} masses, {} softenings", source, n, p.softening.size()));
    const auto bad_softening = [&](std::size_t i) {
        return !p.softening.empty() && !(std::isfinite(p.softening[i]) && p.softening[i] >= 0);
    };
    const bool good = holds_for_all(Cpu{}, static_cast<index_t>(n), [&](index_t k) {
        const auto i = static_cast<std::size_t>(k);
        return finite(p.position[i]) && (!velocities || finite(p.velocity[i])) && std::isfinite(p.mass[i]) && p.mass[i] >= 0 &&
               p.type[i] < type_count && !bad_softening(i);
    });
    if (good) return;
    for (std::size_t i = 0; i < n; ++i) {
        const auto& [x, y, z] = p.position[i];
        const auto [vx, vy, vz] = velocities ? p.velocity[i] : Vec3<double>{};
        KS_VALIDATE(finite(p.position[i]),
                    fmt::format("{}: particle {} (id {}) has position ({}, {}, {}): it must be finite", source, i, p.id[i], x, y, z));
        KS_VALIDATE(finite({vx, vy, vz}),
                    fmt::format("{}: particle {} (id {}) has velocity ({}, {}, {}): it must be finite", source, i, p.id[i], vx, vy, vz));
        KS_VALIDATE(std::isfinite(p.mass[i]) && p.mass[i] >= 0,
                    fmt::format("{}: particle {} (id {}) has mass {}: it must be finite and not negative", source, i, p.id[i], p.mass[i]));
        KS_VALIDATE(!bad_softening(i), fmt::format("{}: particle {} (id {}) has softening {}: it must be finite and not negative", source,
                                                   i, p.id[i], p.softening[i]));
        KS_VALIDATE(p.type[i] < type_count,
                    fmt::format("{}: particle {} (id {}) has type {}: types are 0 to {}", source, i, p.id[i], p.type[i], type_count - 1));
    }
}

std::optional<std::uint64_t> repeated_id(const Particles& particles) {
    const auto repeats = [](const auto& ids) { return std::ranges::adjacent_find(ids, std::greater_equal<>()); };
    if (repeats(particles.id) == particles.id.end()) return {};  // strictly ascending
    auto sorted = particles.id;
    std::ranges::sort(sorted);
    const auto found = repeats(sorted);
    return found == sorted.end() ? std::nullopt : std::optional(*found);
}

}  // namespace kasane::gravity
