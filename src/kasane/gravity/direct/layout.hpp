// Sizes of the arrays that direct summation keeps in memory and sends in messages: packed particles and the sums of their accelerations.
#pragma once

#include <kasane/core/math/binned_sum.hpp>
#include <kasane/gravity/direct/direct.hpp>

namespace kasane::gravity {

struct DirectLayout {
    Precision precision = Precision::single_;
    bool softenings = false;  ///< a packed particle has a softening term

    /// Bytes of a packed particle: position and mass, and its softening term.
    constexpr index_t body_bytes() const { return (softenings ? 5 : 4) * real_bytes(); }
    /// Bytes of a fixed-point sum of one component.
    constexpr index_t sum_bytes() const {
        return static_cast<index_t>(precision == Precision::single_ ? sizeof(BinnedSum<2>) : sizeof(BinnedSum<3>));
    }
    /// Bytes of the sums of n particles with 3 components (acceleration) or 4 (and potential).
    /// @param binned  in fixed point; otherwise 3 components in the precision of the pairs, stored as four numbers (CUDA, not
    /// deterministic)
    constexpr index_t sums_bytes(index_t n, int components, bool binned = true) const {
        return n * (binned ? components * sum_bytes() : 4 * real_bytes());
    }
    /// Bytes of the deterministic acceleration that one worker sums for a particle of another worker.
    constexpr index_t reaction_bytes() const { return sums_bytes(1, 3); }

   private:
    constexpr index_t real_bytes() const { return static_cast<index_t>(precision == Precision::single_ ? sizeof(float) : sizeof(double)); }
};

}  // namespace kasane::gravity
