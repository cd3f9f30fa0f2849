#include <kasane/core/base/error.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <fmt/format.h>

#include <cmath>

namespace kasane::gravity {

void Particles::resize(index_t n) {
    const auto size = static_cast<std::size_t>(n);
    position.resize(size);
    velocity.resize(size);
    mass.resize(size);
    id.resize(size);
    type.resize(size);
}

void Particles::append(const Particles& other) {
    const auto join = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    join(position, other.position);
    join(velocity, other.velocity);
    join(mass, other.mass);
    join(id, other.id);
    join(type, other.type);
}

namespace {
bool finite(const Vec3<double>& v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }
}  // namespace

void validate(const Particles& p, const std::string& source) {
    const auto n = p.mass.size();
    KS_VALIDATE(n > 0, source + " holds no particles: at least one is needed");
    KS_VALIDATE(p.position.size() == n && p.velocity.size() == n && p.id.size() == n && p.type.size() == n,
                fmt::format("{}: counts disagree: {} masses, {} positions, {} velocities, {} ids, {} types", source, n, p.position.size(),
                            p.velocity.size(), p.id.size(), p.type.size()));
    for (std::size_t i = 0; i < n; ++i) {
        const auto& [x, y, z] = p.position[i];
        const auto& [vx, vy, vz] = p.velocity[i];
        KS_VALIDATE(finite(p.position[i]),
                    fmt::format("{}: particle {} (id {}) has position ({}, {}, {}): it must be finite", source, i, p.id[i], x, y, z));
        KS_VALIDATE(finite(p.velocity[i]),
                    fmt::format("{}: particle {} (id {}) has velocity ({}, {}, {}): it must be finite", source, i, p.id[i], vx, vy, vz));
        KS_VALIDATE(std::isfinite(p.mass[i]) && p.mass[i] >= 0,
                    fmt::format("{}: particle {} (id {}) has mass {}: it must be finite and not negative", source, i, p.id[i], p.mass[i]));
        KS_VALIDATE(p.type[i] < type_count,
                    fmt::format("{}: particle {} (id {}) has type {}: types are 0 to {}", source, i, p.id[i], p.type[i], type_count - 1));
    }
}

}  // namespace kasane::gravity
