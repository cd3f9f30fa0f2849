// Where a run's particles come from: a snapshot, one model, or objects placed in space (models or snapshots, each with its own
// position and velocity, or two of them on a Kepler orbit). Reading the description makes no particles; load() does.
#pragma once

#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/galaxy/model.hpp>
#include <kasane/gravity/galaxy/orbit.hpp>
#include <kasane/gravity/units.hpp>

#include <filesystem>
#include <optional>
#include <vector>

namespace kasane::run {

/// One source of particles: a model, or a snapshot when `file` is not empty; and where it is put.
struct Source {
    std::string name;  ///< of the object, for pictures; may be empty
    gravity::Object object;
    std::filesystem::path file;
    index_t count = 0;
    Where where;  ///< of the key that says how many there are, for errors that show when they are made
};

struct Initial {
    std::vector<Source> sources;
    std::optional<gravity::Orbit> orbit;  ///< of two sources, point masses at their centres
    Where orbit_where;
    bool as_is = false;  ///< one snapshot, taken with its ids and time
    double time = 0;     ///< of the particles
    index_t count() const;
};

/// What quantities are read in, and where relative file names start.
struct InitialContext {
    gravity::Units units;
    std::filesystem::path directory;
};

/// Reads `table` ([initial], or a model file's top level), or [[object]] and [orbit] under `root`. Problems are recorded in the
/// sections.
Initial read_initial(io::Section root, io::Section table, const InitialContext& context);

/// Changes how many particles there are in all (each object its share, at least one), and the seeds (the first object's).
void set_count(Initial& initial, index_t count);
void set_seed(Initial& initial, std::uint64_t seed);

/// Samples and reads; ids are 1..N unless as_is. @throws InputError with the key's place for unusable files and models
gravity::Particles load(const Initial& initial, const gravity::Units& units, Cpu on = {});

/// The units that the key `units` of `table` and the table [units] of `root` name; "auto" is `stated`, or galactic units.
gravity::Units read_units(io::Section table, io::Section root, const std::optional<gravity::Units>& stated);
/// The units that the snapshot named by `file` states, when there is one that can be read.
std::optional<gravity::Units> stated_units(io::Section table, const std::filesystem::path& directory);

io::ParseQuantity parse(gravity::Dimension dimension, const gravity::Units& units);

}  // namespace kasane::run
