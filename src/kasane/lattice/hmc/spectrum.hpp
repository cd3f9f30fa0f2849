// Smallest and largest eigenvalue of Dhat^+ Dhat by Lanczos's method. A Ritz value never lies outside the spectrum, so both estimates err
// towards its inside; the stated errors are the norms of the residuals of the Ritz vectors. Invariant: a function of (packed links, seed,
// trajectory) alone, the same bits for any number of threads and on all workers of a divided lattice; nothing but scalars leaves the space
// of the links.
#pragma once

#include <kasane/lattice/hmc/quark_operator.hpp>

#include <cstdint>

namespace kasane::lattice {

struct SpectrumOptions {
    double rtol = 0.01;      ///< of both errors, as fractions of their eigenvalues
    int step_limit = 2'000;  ///< of Lanczos's method; a step applies Dhat and Dhat^+ once
};

/// Estimates of the extreme eigenvalues of Dhat^+ Dhat. Within each error of its estimate lies an eigenvalue.
struct Spectrum {
    double smallest = 0, smallest_error = 0;
    double largest = 0, largest_error = 0;
    int steps = 0;           ///< of Lanczos's method
    bool converged = false;  ///< within options.rtol
};

/// Measures the spectrum of the links that are packed; it takes the memory of four vectors of D.                       [Lanczos 1950]
/// Without orthogonalisation: rounding repeats Ritz values that have converged, and moves none of them outside the spectrum.
/// @param seed, trajectory  of the Gaussian vector that the method starts from
/// @return estimates with converged = false where step_limit did not suffice: the smallest eigenvalue is smaller then
/// @throws InputError: options out of range   @throws ComputationError: the links are not finite
template <Space S, class Part>
Spectrum measure_spectrum(const QuarkOperator<S, Part>& D, std::uint64_t seed, std::uint64_t trajectory,
                          const SpectrumOptions& options = {});

}  // namespace kasane::lattice
