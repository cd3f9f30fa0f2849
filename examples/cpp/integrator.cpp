// An integrator of one's own on LocalForce: the fourth-order scheme of Forest & Ruth (1990) for a circular binary. The error of the
// position after one orbit must fall 16-fold when the step is halved.
#include <kasane/gravity.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace kasane;

/// Distance from the start after one orbit of n steps; the exact solution returns to the start.
double error_after_one_orbit(int n) {
    const std::vector<double> mass{0.5, 0.5};
    std::vector<Vec3<double>> x{{0.5, 0, 0}, {-0.5, 0, 0}}, v{{0, 0.5, 0}, {0, -0.5, 0}}, a(2);
    gravity::LocalForce force(Cpu{}, gravity::Direct{.softening = 0, .precision = gravity::Precision::double_}, 2);

    const double dt = 2 * M_PI / n, theta = 1 / (2 - std::cbrt(2.));
    const double drift[4] = {theta / 2, (1 - theta) / 2, (1 - theta) / 2, theta / 2}, kick[4] = {theta, 1 - 2 * theta, theta, 0};
    for (int step = 0; step < n; ++step)
        for (int stage = 0; stage < 4; ++stage) {
            for (std::size_t i = 0; i < 2; ++i) x[i] += v[i] * (drift[stage] * dt);
            if (kick[stage] == 0) continue;
            force.accelerate(view(std::as_const(x)), view(mass), view(a));
            for (std::size_t i = 0; i < 2; ++i) v[i] += a[i] * (kick[stage] * dt);
        }
    return std::hypot(x[0].x - 0.5, x[0].y);
}

int main() {
    const double coarse = error_after_one_orbit(100), fine = error_after_one_orbit(200);
    std::printf("error of 100 steps %.2e, of 200 steps %.2e: ratio %.1f\n", coarse, fine, coarse / fine);
    return coarse / fine > 14 && coarse / fine < 18 ? 0 : 1;
}
