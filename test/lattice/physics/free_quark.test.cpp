// The free quark through the whole solver, in every storage of the links: propagator and pion against momentum sums and published numbers.
#include <kasane/lattice/observe/correlators.hpp>
#include <kasane/lattice/observe/sources.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include "lattice/physics/spaces.hpp"
#include "lattice/random_fields.hpp"
#include "reference/free_quark.hpp"

#include <cmath>

namespace kasane::lattice {
namespace {

class FreeQuark : public test::OnEverySpace {
   protected:
    static Propagator propagator(const GaugeField& links, const DiracParameters& parameters, const SolverOptions& options) {
        WilsonSolver solver(space(), links, parameters, options);
        Propagator out;
        for (int column = 0; column < 12; ++column) {
            SpinorField x(links.extents);
            const auto log = solver.solve(point_source(links.extents, {}, column / 3, column % 3), x);
            EXPECT_TRUE(log.converged()) << name(log.end);
            for (auto& value : x.values) value *= 2 * parameters.kappa;
            out.columns.push_back(std::move(x));
        }
        return out;
    }
};
KS_ON_EVERY_SPACE(FreeQuark);

TEST_P(FreeQuark, PropagatorInEachStorageOfTheLinks) {
    const Extents extents{{4, 4, 4, 8}};
    const auto exact = reference::FreeQuark{{4, 4, 4, 8}, 0.12, true}.in_space();
    for (const auto reals : {LinkReals::all, LinkReals::two_rows, LinkReals::parameters})
        for (const bool temporal_gauge : {false, true}) {  // unit links are in it
            SolverOptions options;
            options.rtol = 1e-13;  // smallest eigenvalue / largest is about 1/20: the error stays below 1e-11 of the largest entry
            options.outer_links = {reals, false, temporal_gauge};
            options.inner_links = {reals, true, temporal_gauge};
            const auto where = name(Precision::double_, options.outer_links);
            const auto s = propagator(test::unit_gauge(extents), {0.12, 0, Boundary::antiperiodic}, options);
            double worst = 0;
            for (index_t site = 0; site < extents.volume(); ++site)
                for (int column = 0; column < 12; ++column)
                    for (int row = 0; row < 12; ++row) {
                        const auto& spins = exact[static_cast<std::size_t>(site)];
                        const auto of_spins = spins[static_cast<std::size_t>(row / 3)][static_cast<std::size_t>(column / 3)];
                        const auto expected = row % 3 == column % 3 ? of_spins : 0;
                        const auto got = s.columns[static_cast<std::size_t>(column)].at(site, row / 3, row % 3);
                        worst = std::max(worst, std::abs(got - expected));
                    }
            EXPECT_LT(worst, 1e-10 * std::abs(exact[0][0][0])) << where;
            EXPECT_NEAR(s.columns[0].at(0, 0, 0).real(), 0.233204648486, 1e-10) << where;
            const auto pion = pion_correlator(s);
            std::size_t t = 0;
            for (const double expected : reference::pion_4x4x4x8_antiperiodic) {
                EXPECT_NEAR(pion[t], expected, 1e-10 * expected) << where << " t " << t;
                ++t;
            }
        }
}

TEST_P(FreeQuark, PionOnALargerPeriodicLattice) {
    const Extents extents{{8, 8, 8, 16}};
    const auto links = test::unit_gauge(extents);
    SolverOptions options;
    options.rtol = 1e-13;
    WilsonSolver solver(space(), links, {0.12, 0, Boundary::periodic}, options);
    std::vector<double> pion(16, 0.0);
    for (int spin = 0; spin < 4; ++spin) {  // the three colours of the source give the same
        SpinorField x(extents);
        EXPECT_TRUE(solver.solve(point_source(extents, {}, spin, 0), x).converged());
        for (std::size_t i = 0; i < x.values.size(); ++i) pion[i / (12 * 512)] += 3 * std::norm(2 * 0.12 * x.values[i]);
    }
    std::size_t t = 0;
    for (const double expected : reference::pion_8x8x8x16_periodic) {
        EXPECT_NEAR(pion[t], expected, 1e-10 * expected) << t;
        ++t;
    }
}

TEST_P(FreeQuark, CloverTermAndPureGaugeChangeNothing) {
    // A gauge transformation of the unit field has no field strength, and does not change the pion.
    const Extents extents{{4, 4, 4, 8}};
    const auto u = test::transformed(test::unit_gauge(extents), test::random_transformation(extents, 51));
    SolverOptions options;
    options.rtol = 1e-13;
    const auto pion = pion_correlator(propagator(u, {0.12, 1.7, Boundary::antiperiodic}, options));
    std::size_t t = 0;
    for (const double expected : reference::pion_4x4x4x8_antiperiodic) {
        EXPECT_NEAR(pion[t], expected, 1e-10 * expected) << t;
        ++t;
    }
}

}  // namespace
}  // namespace kasane::lattice
