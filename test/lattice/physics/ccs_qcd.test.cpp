// The reference problem of the CCS QCD solver benchmark, whose printed results come from another program in another spin basis.
#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/gamma_basis.hpp>
#include <kasane/lattice/solve/solver.hpp>

#include "lattice/physics/spaces.hpp"
#include "reference/ccs_qcd.hpp"
#include "reference/wilson.hpp"

namespace kasane::lattice {
namespace {

using reference::CcsQcd;

TEST(CcsQcdReference, FieldAndSourceAreTheirs) {
    const CcsQcd problem;
    std::complex<double> links = 0, source = 0;
    for (const auto& link : problem.links.links)
        for (const auto& row : link.e)
            for (const auto& entry : row) links += std::complex<double>(entry.re, entry.im);
    for (const auto value : problem.source.values) source += value;
    // Sums of 3e5 and 1e5 numbers near 1 in another order; both programs round at every addition.
    EXPECT_LT(std::abs(links - CcsQcd::sum_of_links), 1e-13 * std::abs(CcsQcd::sum_of_links) * 100);
    EXPECT_LT(std::abs(source - CcsQcd::sum_of_source), 1e-10);
}

TEST(CcsQcdReference, CloverDeterminant) {
    const CcsQcd problem;
    const auto A = clover_term(links_on(Cpu{}, problem.links), CcsQcd::kappa * CcsQcd::csw);
    EXPECT_NEAR(log_determinant(A, Parity::even) + log_determinant(A, Parity::odd), CcsQcd::log_determinant, 1e-10);
}

class CcsQcdSolve : public test::OnEverySpace {};
KS_ON_EVERY_SPACE(CcsQcdSolve);

TEST_P(CcsQcdSolve, SolutionHasTheirNorm) {
    // Theirs is x_e of (1 - kappa^2 A_ee^-1 H_eo A_oo^-1 H_oe) x_e = y_e, ours of D x = (A_ee y_e, 0). They stop at 1e-13 as well.
    const CcsQcd problem;
    const auto y = rotated(problem.source, GammaBasis::dirac_pauli, GammaBasis::degrand_rossi);
    const reference::WilsonClover oracle(problem.links, CcsQcd::kappa, CcsQcd::csw, false);
    SolverOptions options;
    options.rtol = 1e-13;
    WilsonSolver solver(space(), problem.links, {CcsQcd::kappa, CcsQcd::csw, Boundary::periodic}, options);
    SpinorField x(CcsQcd::extents);
    const auto log = solver.solve(oracle.only(Parity::even, oracle.clover(y)), x);
    EXPECT_TRUE(log.converged()) << name(log.end) << ' ' << log.true_residual;
    const auto even = oracle.only(Parity::even, x);
    // The condition number of this D, some 100, times the tolerance.
    EXPECT_NEAR(reference::dot(even, even).real(), CcsQcd::solution_norm2, 1e-10 * CcsQcd::solution_norm2);
}

}  // namespace
}  // namespace kasane::lattice
