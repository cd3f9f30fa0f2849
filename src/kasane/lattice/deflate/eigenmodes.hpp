// The lowest eigenmodes of Dhat^+ Dhat, Dhat = A_ee - kappa^2 H_eo A_oo^-1 H_oe, on the host: computed, checked, and used in solves
// (WilsonSolver::deflate).
// Invariants: vectors are orthonormal, of even sites in checkerboard order, 12 numbers each, in the basis of SpinorField; values ascend.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <complex>
#include <cstdint>
#include <vector>

namespace kasane::lattice {

/// Options of lowest_eigenmodes().
struct EigenmodeOptions {
    int count = 10;           ///< number of modes
    double rtol = 1e-8;       ///< of every residual |Dhat^+ Dhat v - lambda v| / lambda
    int restart_limit = 200;  ///< of Lanczos's method
    std::uint64_t seed = 1;   ///< of the random vector that the method starts from
};

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
};

/// Computes them by thick-restart Lanczos with a Chebyshev filter (krylov/lanczos.hpp), in double on the space. It takes the memory of
/// 4.5 count + 25 vectors of half the lattice.
/// @throws InputError: options, links or parameters out of range, or too little memory; ComputationError where the restarts do not suffice
Eigenmodes lowest_eigenmodes(AnySpace on, const GaugeField& links, const DiracParameters& parameters, const EigenmodeOptions& options = {});

/// Memory of lowest_eigenmodes() on its space. [bytes per site]
double eigenmode_bytes_per_site(const DiracParameters& parameters, int count);

}  // namespace kasane::lattice
