// The places of an incomplete Cholesky factor with levels of fill.                                        [Saad 2003, section 10.3.3]
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace kasane::sparse {

/// Places of a strict lower triangle in compressed rows; columns ascend.
struct FactorPlaces {
    std::vector<index_t> begin;        ///< [rows + 1]
    std::vector<std::int32_t> column;  ///< [begin.back()]
};

/// Limits of a symbolic factorisation.
struct PlacesLimit {
    index_t entries = std::numeric_limits<index_t>::max();  ///< of the triangle
    std::function<void()> check_stop;                       ///< called from time to time; throws to end; may be empty
};

/// The places of A's strict lower triangle have level 0; elimination of column k makes a place (i, j) of the levels of (i, k) and (j, k)
/// and one more, and the smallest counts. Places of level `most` at most are kept. [Saad 2003, eq. 10.18]
/// @param A  canonical, with a symmetric pattern   @throws InputError where the limit is passed
FactorPlaces places_of_levels(const CsrView& A, int most, const PlacesLimit& limit = {});

}  // namespace kasane::sparse
