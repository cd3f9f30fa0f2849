// The initial particles of a run: a snapshot, a galaxy of any number of components, or objects placed in space (galaxies or snapshots,
// each with its own position and velocity, or two of them on a Kepler orbit). Reading creates no particles; Sampling does.
#pragma once

#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/galaxy/ball.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>
#include <kasane/gravity/galaxy/orbit.hpp>
#include <kasane/gravity/galaxy/place.hpp>
#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/model/component_keys.hpp>

#include <filesystem>
#include <optional>
#include <variant>
#include <vector>

namespace kasane::run {

/// The angles between an object's plane and the orbit: see spin_on_orbit().
struct Tilt {
    double inclination = 0, argument = 0;  ///< [degrees]
};

/// One source of particles, and its place.
struct Source {
    std::string name;  ///< of the object, for pictures and labels; may be empty
    std::variant<gravity::GalaxyModel, gravity::Ball, std::filesystem::path> origin;
    gravity::Placement placement;
    std::optional<Tilt> tilt;  ///< instead of placement.spin
    index_t count = 0;
    bool point = false;  ///< one particle, for any requested count
    Where where;         ///< of the key that sets the count, for errors that are found when particles are created
    ModelPlaces places;  ///< of a galaxy's keys

    const gravity::GalaxyModel* galaxy() const { return std::get_if<gravity::GalaxyModel>(&origin); }
    const gravity::Ball* ball() const { return std::get_if<gravity::Ball>(&origin); }
    /// The snapshot that is read; null for models.
    const std::filesystem::path* file() const { return std::get_if<std::filesystem::path>(&origin); }
};

struct Initial {
    std::vector<Source> sources;
    std::optional<gravity::Orbit> orbit;  ///< of two sources, point masses at their centres
    Where orbit_where;
    bool as_is = false;  ///< one snapshot, taken with its ids and time
    double time = 0;     ///< of the particles
    index_t count() const;
};

/// Reads `table` ([initial], or a model file's top level), or [[object]] and [orbit] under `root`. Problems are recorded in the
/// sections.
Initial read_initial(io::Section root, io::Section table, const InitialContext& context);

/// Sets the total number of particles (each object and component gets its share, at least one), and the seed of the first object.
/// @throws InputError: a snapshot among the sources, or fewer particles than components
void set_count(Initial& initial, index_t count);
void set_seed(Initial& initial, std::uint64_t seed);

/// The units that the key `units` of `table` and the table [units] of `root` name; "auto" is `stated`, or galactic units.
gravity::Units read_units(io::Section table, io::Section root, const std::optional<gravity::Units>& stated);
/// The units that the snapshot named by `file` states, when there is one that can be read.
std::optional<gravity::Units> stated_units(io::Section table, const std::filesystem::path& directory);

}  // namespace kasane::run
