// The keys of one component of a galaxy, in a model file or a run file, and their places in the file, for errors that are only found when
// the galaxy is checked as a whole or built.
#pragma once

#include <kasane/core/io/toml.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>
#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/driver/run_keys.hpp>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

/// The units of quantities, the directory of relative file names, and the count of a model that states none (not of [[object]] tables).
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

/// Whether a component is one of several, or the only one of its galaxy, whose name, count and seed are those of the galaxy.
enum class ComponentForm { one_of_several, alone };

/// Reads the keys of a component; problems are recorded in the section.
/// @param law  value of the key `model`; where it is not one of law_names(), all keys are valid and none is read
gravity::Component read_component(io::Section table, const std::string& law, ComponentForm form, const InitialContext& context,
                                  ComponentPlaces& places);

io::ParseQuantity parse(gravity::Dimension dimension, const gravity::Units& units);

/// Whether the units have no scales (G = 1). Then quantities are pure numbers.
inline bool dimensionless(const gravity::Units& units) { return units.length_cm == 0; }

}  // namespace kasane::run
