// Particles on the host as a structure of arrays; all arrays have the same length. Ids and types stay with their particles.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/math/vec3.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kasane::gravity {

/// Number of particle types of the GADGET convention: 0 gas, 1 halo, 2 disk, 3 bulge, 4 stars, 5 boundary.
inline constexpr int type_count = 6;

/// Particles in any consistent system of units; Units (units.hpp) names one.
struct Particles {
    std::vector<Vec3<double>> position;  ///< [length]
    std::vector<Vec3<double>> velocity;  ///< [length / time]
    std::vector<double> mass;            ///< [mass]
    std::vector<std::uint64_t> id;       ///< unique
    std::vector<std::uint8_t> type;      ///< below type_count
    std::vector<double> softening{};     ///< eps of each particle [length]; empty: one softening for all, an option of the force

    /// Number of particles: the length of `mass`.
    index_t size() const { return static_cast<index_t>(mass.size()); }
    /// Resizes all arrays to n, `softening` only if it is not empty; new elements are 0.
    void resize(index_t n);
    /// Reserves memory for n particles, so that append() does not copy those that are there.
    void reserve(index_t n);
    /// Appends the particles of `other`; ids are not changed, and the caller makes them unique. Softenings stay only if both have them.
    void append(const Particles& other);
};

/// Checks that all particles can be used: arrays of equal lengths, at least one particle, finite positions and velocities, masses and
/// softenings finite and not negative, types below type_count. Ids are not checked.
/// @param particles  checked, not changed
/// @param source  origin of the particles, for the message (a file name)
/// @param velocities  false: `particles.velocity` is not used, and not checked
/// @throws InputError with the first bad particle and its fault
void validate(const Particles& particles, const std::string& source, bool velocities = true);

/// The smallest id that occurs more than once. Takes 8 bytes per particle, and sorts, unless the ids ascend.
std::optional<std::uint64_t> repeated_id(const Particles& particles);

}  // namespace kasane::gravity
