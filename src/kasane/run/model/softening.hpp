// The softenings of the particles of a run: one for all, or one for each component or type, stated by the run file or by the model or
// snapshot that the particles come from. The first of these holds for a particle:
//   1. softening = 0.01               one number in the run file
//   2. softening = {"a/halo" = 0.1}   the component by its whole name (in a run of several objects)
//   3. softening = {halo = 0.1}       the component by its name
//   4. softening = {type1 = 0.1}      its particle type
//   5. the softening of its component in the model, or of its type in the snapshot
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/snapshot/snapshot_writer.hpp>

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

/// The softenings that a run file states.
struct SofteningKeys {
    struct Named {
        std::string name;  ///< of a component, or "type0" to "type5"
        double value = 0;  ///< [length]
        Where where;
    };
    std::optional<double> all;  ///< one softening for all particles [length]
    std::vector<Named> named;
    Where where;  ///< of the key `softening`

    bool one() const { return all.has_value(); }
    /// The table in one line, "{disk = 0.02, halo = 0.1}"; "of the initial particles" if there is none; empty for one number.
    std::string text() const;
};

/// The softening of one component, or of the particles of one type that belong to no component.
struct GroupSoftening {
    std::string name;  ///< "halo", or "type 1"
    std::uint64_t first_id = 0, count = 0;
    std::uint8_t type = 0;
    double softening = 0;  ///< [length]
};

/// The softening of every component and type. @throws InputError: a name that is no component, or a component without softening
std::vector<GroupSoftening> resolve(const SofteningKeys& keys, const gravity::SnapshotOutline& outline);
/// Softenings of the components and types that the model or snapshot states, as a text: "halo 0.1, disk 0.02"; empty: none.
std::string carried(const gravity::SnapshotOutline& outline);
/// [particles] softening of each particle. @param groups  result of resolve()
std::vector<double> softenings(const gravity::Particles& particles, const std::vector<GroupSoftening>& groups);
/// Softening of each type for a snapshot: 0 where there are no particles of it, or particles with different softenings.
std::array<double, gravity::type_count> by_type(const gravity::Particles& particles);

}  // namespace kasane::run
