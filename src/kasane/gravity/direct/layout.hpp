// Bytes of what direct summation keeps in memory and sends in messages: packed particles and the sums of their accelerations.
#pragma once

#include <kasane/core/math/binned_sum.hpp>
#include <kasane/gravity/direct/direct.hpp>

namespace kasane::gravity {

struct DirectLayout {
    Precision precision = Precision::single_;

    /// A packed particle: position and mass.
    constexpr index_t body_bytes() const { return 4 * real_bytes(); }
    /// A fixed-point sum of one component.
    constexpr index_t sum_bytes() const {
        return static_cast<index_t>(precision == Precision::single_ ? sizeof(BinnedSum<2>) : sizeof(BinnedSum<3>));
    }
    /// The acceleration that one worker sums up for a particle of another one.
    constexpr index_t reaction_bytes() const { return 3 * sum_bytes(); }

   private:
    constexpr index_t real_bytes() const { return static_cast<index_t>(precision == Precision::single_ ? sizeof(float) : sizeof(double)); }
};

}  // namespace kasane::gravity
