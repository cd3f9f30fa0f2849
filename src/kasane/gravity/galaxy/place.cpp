#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/place.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace kasane::gravity {
namespace {

Vec3<double> rotated(Vec3<double> v, const Vec3<double>& degrees) {
    const auto turn = [](double angle, double& a, double& b) {
        const double c = std::cos(angle * std::numbers::pi / 180), s = std::sin(angle * std::numbers::pi / 180);
        const double turned = c * a - s * b;
        b = s * a + c * b;
        a = turned;
    };
    turn(degrees.x, v.y, v.z);
    turn(degrees.y, v.z, v.x);
    turn(degrees.z, v.x, v.y);
    return v;
}

void validate_placement(const Placement& where) {
    std::vector<InputProblem> problems;
    const auto need_finite = [&](const Vec3<double>& v, const char* key) {
        if (std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z)) return;
        problems.push_back({fmt::format("is ({}, {}, {}): it must be finite", v.x, v.y, v.z), {"", 0, 0, key}});
    };
    need_finite(where.position, "position");
    need_finite(where.velocity, "velocity");
    need_finite(where.spin, "spin");
    if (!problems.empty()) throw InputError(std::move(problems));
}

}  // namespace

void place(Particles& particles, const Placement& where) {
    validate_placement(where);
    for (auto& x : particles.position) x = rotated(x, where.spin) + where.position;
    for (auto& v : particles.velocity) v = rotated(v, where.spin) + where.velocity;
}

}  // namespace kasane::gravity
