// Computes the lowest eigenmodes of Dhat^+ Dhat on a space; dirac/eigenmodes.hpp defines their type.
#pragma once

#include <kasane/core/device/space.hpp>
#include <kasane/lattice/dirac/parameters.hpp>
#include <kasane/lattice/dirac/eigenmodes.hpp>
#include <kasane/lattice/gauge_field.hpp>

#include <cstdint>

namespace kasane::lattice {

/// Options of lowest_eigenmodes().
struct EigenmodeOptions {
    int count = 10;           ///< number of modes
    double rtol = 1e-8;       ///< of every residual |Dhat^+ Dhat v - lambda v| / lambda
    int restart_limit = 200;  ///< of Lanczos's method
    std::uint64_t seed = 1;   ///< of the random vector that the method starts from
};

/// Computes the lowest eigenmodes by thick-restart Lanczos with a Chebyshev filter (krylov/lanczos.hpp), in double on the space. It takes
/// the memory of 4.5 count + 25 vectors of half the lattice.
/// @throws InputError: options, links or parameters out of range, or too little memory; ComputationError where the restarts do not suffice
Eigenmodes lowest_eigenmodes(AnySpace on, const GaugeField& links, const DiracParameters& parameters, const EigenmodeOptions& options = {});

/// Memory of lowest_eigenmodes() on its space. [bytes per site]
double eigenmode_bytes_per_site(const DiracParameters& parameters, int count);

}  // namespace kasane::lattice
