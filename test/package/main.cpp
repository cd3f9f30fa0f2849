// Ten lines of C++ as the README shows them: a Plummer sphere stays in equilibrium for one time unit.
#include <kasane/gravity.hpp>

#include <cmath>
#include <cstdio>

int main() {
    namespace ks = kasane::gravity;
    ks::Simulation sim{kasane::best_space(),
                       ks::plummer({.count = 1024, .seed = 1}),
                       {.force = ks::Direct{.softening = 0.05}, .step = ks::Leapfrog{.dt = 1. / 128}}};
    const auto energy = [&] { return sim.diagnostics().energy; };
    const double before = energy();
    sim.run_until(1.0);
    const double error = std::abs(energy() / before - 1);
    std::printf("time %g, relative energy error %.1e\n", sim.time(), error);
    return sim.time() == 1.0 && error < 1e-3 ? 0 : 1;
}
