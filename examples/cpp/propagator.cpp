// A quark propagator on a random gauge field and the pion's correlator from it.
#include <kasane/lattice.hpp>

#include <cstdio>

using namespace kasane;

int main() {
    const lattice::Extents extents{{4, 4, 4, 8}};
    lattice::Links<Cpu> links(Cpu{}, extents);
    lattice::weak_start(links, 0.2, 1);
    const auto field = lattice::to_gauge_field(links);

    lattice::DiracParameters parameters;
    parameters.kappa = 0.115;
    lattice::WilsonSolver solver(best_space(), field, parameters, {.rtol = 1e-10});
    lattice::Propagator propagator;
    for (int spin = 0; spin < 4; ++spin)
        for (int colour = 0; colour < 3; ++colour) {
            lattice::SpinorField x(extents);
            const auto log = solver.solve(lattice::point_source(extents, {{0, 0, 0, 0}}, spin, colour), x);
            if (!log.converged()) return 1;
            for (auto& value : x.values) value *= 2 * parameters.kappa;
            propagator.columns.push_back(x);
        }
    const auto pion = lattice::pion_correlator(propagator);
    for (std::size_t t = 0; t < pion.size(); ++t) std::printf("C(%zu) = %.6e\n", t, pion[t]);
    return pion[0] > pion[1] && pion[1] > pion[4] && pion[4] > 0 ? 0 : 1;  // positive, and smallest in the middle
}
