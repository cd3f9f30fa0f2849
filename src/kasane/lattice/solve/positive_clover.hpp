// Checks that the clover term A is positive definite on every site: A^-1 then exists and has real Cholesky factors.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/dirac/parameters.hpp>

#include <fmt/format.h>

namespace kasane::lattice {

/// Whether A is positive definite on all sites of both parities.
template <Space S>
bool is_positive(const CloverTerm<S>& A) {
    try {
        log_determinant(A, Parity::even);
        log_determinant(A, Parity::odd);
    } catch (const ComputationError&) {
        return false;
    }
    return true;
}

/// @throws InputError: the clover term of these parameters is not positive definite
[[noreturn]] inline void refuse_clover_term(const DiracParameters& parameters) {
    throw InputError(
        fmt::format("the clover term is not positive definite on some site: kappa csw = {:.4g} is too large for this gauge "
                    "field, which is too rough. Take a smaller csw, or smoothed links",
                    parameters.kappa * parameters.csw));
}

}  // namespace kasane::lattice
