// The reference problem of the CCS QCD solver benchmark, whose printed results come from another program in another spin basis.
#include <kasane/lattice/dirac/clover_term.hpp>

#include "reference/ccs_qcd.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace kasane::lattice
