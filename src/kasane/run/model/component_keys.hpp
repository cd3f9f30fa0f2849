// The keys of one component of a galaxy, in a model file or a run file, and where each of its options stands, for errors that only
// show when the galaxy is checked as a whole or built.
#pragma once

#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/galaxy/component.hpp>
#include <kasane/gravity/units.hpp>
#include <kasane/run/driver/run_keys.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

/// What quantities are read in, where relative file names start, and the count of a model that states none (not of [[object]] tables).
struct InitialContext {
    gravity::Units units;
    std::filesystem::path directory;
    std::optional<index_t> count = {};
};

/// Places of a component's options, by their keys in the file.
struct ComponentPlaces {
    Where table;
    std::map<std::string, Where> keys;  ///< "mass", "truncation", "truncation.radius", "w0", "file", ...
    /// @param option  as problems_of() names it: "truncation.radius", "king.w0", "disk.height", "table"
    Where of(const std::string& option) const;
};

struct ModelPlaces {
    Where table;  ///< of the whole galaxy
    Where count;
    std::vector<ComponentPlaces> components;
    /// @param option  "components.2.mass", "count", ...
    Where of(const std::string& option) const;
    /// The problems with their places in the file.
    std::vector<InputProblem> placed(std::vector<InputProblem> problems) const;
};

/// How a component is written: as one of several, or as the only one of its galaxy, whose name, count and seed are the galaxy's.
enum class ComponentForm { one_of_several, alone };

/// The keys of the component that `law` names; problems are recorded in the section.
/// @param law  text of the key `model`, one of law_names() or nothing (then every key is known, and none is read)
gravity::Component read_component(io::Section table, const std::string& law, ComponentForm form, const InitialContext& context,
                                  ComponentPlaces& places);

io::ParseQuantity parse(gravity::Dimension dimension, const gravity::Units& units);

/// Has the system no scale (G = 1)? Then quantities are pure numbers.
inline bool dimensionless(const gravity::Units& units) { return units.length_cm == 0; }

}  // namespace kasane::run
