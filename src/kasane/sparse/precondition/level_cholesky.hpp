// Incomplete Cholesky factorisation with levels of fill, IC(k), on the host.                              [Saad 2003, section 10.3.3]
// Invariants: the places of the factor depend on the pattern of A and k alone; columns ascend in rows; every pivot is positive.
#pragma once

#include <kasane/sparse/precondition/factor_places.hpp>
#include <kasane/sparse/precondition/threshold.hpp>

namespace kasane::sparse {

/// Entries at places_of_levels(): IC(0) has the places of A. The diagonal is raised as by threshold_cholesky().
/// @param A  canonical, symmetric with a positive diagonal   @param level  0 or more   @throws PreconditionError as threshold_cholesky();
/// InputError where the limit is passed
CholeskyFactor level_cholesky(const CsrView& A, int level, const PlacesLimit& limit = {});

}  // namespace kasane::sparse
