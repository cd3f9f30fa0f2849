// Two Plummer spheres fall onto each other; prints the energy error and writes a snapshot.
#include <kasane/gravity.hpp>

#include <cmath>
#include <cstdio>

using namespace kasane;

int main() {
    auto particles = gravity::plummer({.count = 2000, .seed = 1});
    auto other = gravity::plummer({.count = 2000, .seed = 2});
    gravity::place(particles, {.position = {-3, -0.5, 0}, .velocity = {0.4, 0, 0}});
    gravity::place(other, {.position = {3, 0.5, 0}, .velocity = {-0.4, 0, 0}});
    particles.append(other);
    for (std::size_t i = 0; i < particles.id.size(); ++i) particles.id[i] = i + 1;  // both spheres count from 1

    const gravity::Tree force{.softening = 0.02};
    gravity::Simulation simulation(best_space(), particles, {.force = force, .step = gravity::Leapfrog{.dt = 1. / 64}});
    const auto energy = [&] { return simulation.diagnostics().energy; };
    const double before = energy();
    simulation.run_until(8);
    std::printf("t = %g, relative energy error %.1e\n", simulation.time(), std::abs(energy() / before - 1));
    gravity::write_snapshot("collision.hdf5", {.particles = simulation.particles(), .time = simulation.time()});
    return std::abs(energy() / before - 1) < 1e-2 ? 0 : 1;
}
