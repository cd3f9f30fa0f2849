// Particles on the host, structure of arrays, all of one length. Ids and types travel with the particles.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/math/vec3.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::gravity {

/// Number of particle types of the GADGET convention: 0 gas, 1 halo, 2 disk, 3 bulge, 4 stars, 5 boundary.
inline constexpr int type_count = 6;

struct Particles {
    std::vector<Vec3<double>> position;  ///< [length]
    std::vector<Vec3<double>> velocity;  ///< [length / time]
    std::vector<double> mass;            ///< [mass]
    std::vector<std::uint64_t> id;       ///< unique
    std::vector<std::uint8_t> type;      ///< below type_count

    index_t size() const { return static_cast<index_t>(mass.size()); }
    void resize(index_t n);
    /// Adds the particles of `other` behind these; ids are taken as they are.
    void append(const Particles& other);
};

/// Every particle usable: equal lengths, at least one, finite positions and velocities, masses finite and not negative, types
/// known. @throws InputError naming the first bad particle and what is wrong with it; `source` says where they come from.
void validate(const Particles& particles, const std::string& source);

}  // namespace kasane::gravity
