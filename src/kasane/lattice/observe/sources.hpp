// Right-hand sides of quark solves. Random ones are functions of (seed, site) alone: the same bits for any number of threads.
#pragma once

#include <kasane/lattice/spinor_field.hpp>

#include <cstdint>

namespace kasane::lattice {

/// Returns a field that is 1 at one site, spin (0 to 3) and colour (0 to 2). @throws LogicError: one of them is out of range
SpinorField point_source(const Extents& extents, const Site& site, int spin, int colour);

/// Returns a field that is 1 at every site of one time slice, for one spin and colour: zero momentum where the gauge is fixed.
/// @throws LogicError as point_source()
SpinorField wall_source(const Extents& extents, int t, int spin, int colour);

/// The twelve sources of a propagator, column 3 * spin + colour: 1 at one site or at every site of a time slice.
struct PropagatorSource {
    Site site{};        ///< of a point source; a wall source uses only its time
    bool wall = false;  ///< the whole time slice

    /// Whether the source is not 0 at this site.
    KS_FN bool contains(const Site& s) const {
        return s[3] == site[3] && (wall || (s[0] == site[0] && s[1] == site[1] && s[2] == site[2]));
    }
    /// Overwrites a field with source c, 0 to 11. @throws LogicError: c or the source is out of range
    void fill(int c, SpinorField& field) const;
};

/// Distribution of a random source.
enum class Noise {
    gaussian,  ///< complex normal numbers with mean |eta|^2 = 1
    z2,        ///< +1 or -1
};
/// Noise on every site, spin and colour.
SpinorField random_source(const Extents& extents, std::uint64_t seed, Noise noise = Noise::gaussian);

}  // namespace kasane::lattice
