// A Cholesky factorisation that is repeated with a larger diagonal until its pivots are positive.
#pragma once

#include <kasane/sparse/options/options.hpp>
#include <kasane/sparse/precondition/threshold.hpp>

#include <optional>
#include <string>
#include <utility>

namespace kasane::sparse {

/// @param factorise  from the part of itself by which the diagonal is raised to an optional<HostTriangle>; nothing where a pivot is not
/// positive   @param name  of the preconditioner, for the message
/// @throws PreconditionError where even twice the diagonal does not help
template <class Factorise>
CholeskyFactor with_positive_pivots(const char* name, const Factorise& factorise) {
    for (double shift = 0; shift < 2; shift = shift == 0 ? 1e-3 : 2 * shift)
        if (auto lower = factorise(shift)) return {std::move(*lower), shift};
    throw PreconditionError(std::string(name) +
                            " finds pivots that are not positive, even with twice the diagonal: the matrix is far from positive definite. "
                            "Take jacobi, or gmres where it is indefinite");
}

}  // namespace kasane::sparse
