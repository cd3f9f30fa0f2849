// The two halves of a leapfrog step, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/step/leapfrog.hpp>

namespace kasane::gravity {
namespace {

struct KickDrift {
    View<Vec3<double>> position, velocity;
    View<const Vec3<double>> acceleration;
    double dt;
    KS_FN void operator()(index_t i) const {
        const auto v = velocity[i] + 0.5 * dt * acceleration[i];
        velocity[i] = v;
        position[i] += dt * v;
    }
};

struct Kick {
    View<Vec3<double>> velocity;
    View<const Vec3<double>> acceleration;
    double dt;
    KS_FN void operator()(index_t i) const { velocity[i] += 0.5 * dt * acceleration[i]; }
};

}  // namespace

template <Space S>
void kick_drift(S on, View<Vec3<double>> position, View<Vec3<double>> velocity, View<const Vec3<double>> acceleration, double dt) {
    parallel_for(on, position.n, KickDrift{position, velocity, acceleration, dt});
}

template <Space S>
void kick(S on, View<Vec3<double>> velocity, View<const Vec3<double>> acceleration, double dt) {
    parallel_for(on, velocity.n, Kick{velocity, acceleration, dt});
}

template void kick_drift(KS_SPACE, View<Vec3<double>>, View<Vec3<double>>, View<const Vec3<double>>, double);
template void kick(KS_SPACE, View<Vec3<double>>, View<const Vec3<double>>, double);

}  // namespace kasane::gravity
