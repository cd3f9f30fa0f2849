// The sums that a phase of an iteration takes over its rows.
#pragma once

namespace kasane::sparse {

/// Sums of a phase over rows; each phase defines their meaning.
struct Sums {
    double a = 0, b = 0;
};

}  // namespace kasane::sparse
