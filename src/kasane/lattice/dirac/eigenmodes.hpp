// The lowest eigenmodes of Dhat^+ Dhat, Dhat = A_ee - kappa^2 H_eo A_oo^-1 H_oe, on the host: computed by lowest_eigenmodes()
// (lattice/deflate), and used in solves (WilsonSolver::deflate).
// Invariants: vectors are orthonormal, of even sites in checkerboard order, 12 numbers each, in the basis of SpinorField; values ascend.
#pragma once

#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kasane::lattice {

/// Eigenmodes of Dhat^+ Dhat on one gauge field.
struct Eigenmodes {
    Extents extents;                                         ///< of the lattice
    DiracParameters parameters;                              ///< of D
    double plaquette = 0;                                    ///< of the gauge field: mean Re tr / 3
    std::vector<double> values;                              ///< ascending, positive
    std::vector<double> residuals;                           ///< |Dhat^+ Dhat v - value v|
    std::vector<std::vector<std::complex<double>>> vectors;  ///< [modes][12 half the sites]
    int restarts = 0;                                        ///< of Lanczos's method; 0 where the modes are from a file
    std::uint64_t applications = 0;                          ///< of Dhat^+ Dhat

    /// Vector i as a field that is 0 on the odd sites.
    SpinorField field(std::size_t i) const;
    /// Adds the even sites of a field as the next vector. @param field  of these extents
    void append(const SpinorField& field);
};

}  // namespace kasane::lattice
