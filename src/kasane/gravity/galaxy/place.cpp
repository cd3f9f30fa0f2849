#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/gravity/galaxy/place.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace kasane::gravity {
namespace {

/// The rotation about x, then y, then z by these angles [degree].
class Rotation {
   public:
    explicit Rotation(const Vec3<double>& degrees) : x_(degrees.x), y_(degrees.y), z_(degrees.z) {}
    Vec3<double> operator()(Vec3<double> v) const {
        x_.turn(v.y, v.z);
        y_.turn(v.z, v.x);
        z_.turn(v.x, v.y);
        return v;
    }

   private:
    struct Turn {
        double c, s;
        explicit Turn(double angle) : c(std::cos(angle * std::numbers::pi / 180)), s(std::sin(angle * std::numbers::pi / 180)) {}
        void turn(double& a, double& b) const {
            const double turned = c * a - s * b;
            b = s * a + c * b;
            a = turned;
        }
    };
    Turn x_, y_, z_;
};

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

void place(Particles& particles, const Placement& where, Cpu on) {
    validate_placement(where);
    const Rotation rotated(where.spin);
    auto* position = particles.position.data();
    auto* velocity = particles.velocity.data();
    parallel_for(on, particles.size(), [&](index_t i) {
        position[i] = rotated(position[i]) + where.position;
        velocity[i] = rotated(velocity[i]) + where.velocity;
    });
}

}  // namespace kasane::gravity
