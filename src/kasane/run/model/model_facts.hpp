// The numbers of a galaxy for programs (JSON), for terminals (an aligned table) and for pages.
#pragma once

#include <kasane/gravity/galaxy/facts.hpp>
#include <kasane/gravity/units.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace kasane::run {

/// Keys are the members' names; values in the model's units, whose names are in "units" (null: N-body units have none); what a component
/// has not is left out.
nlohmann::ordered_json facts_json(const gravity::GalaxyFacts& facts, const gravity::Units& units);

/// A table of the components, and lines below it. Ends without a line break.
std::string facts_text(const gravity::GalaxyFacts& facts, const gravity::Units& units);

/// "8.11 × 10¹¹ M☉", "12.5 kpc" or "9.03 pc", "981 km/s", "1.2 Gyr"; the number alone where units have no names.
std::string mass_text(double mass, const gravity::Units& units);
std::string length_text(double length, const gravity::Units& units);
std::string velocity_text(double velocity, const gravity::Units& units);
std::string time_text(double time, const gravity::Units& units);
/// A time as a run file takes it, with its unit: "4e-05 × 0.978 Gyr (39.1 kyr)"; the number alone where units have no names.
/// @param number  the time's digits
std::string step_text(const std::string& number, double time, const gravity::Units& units);

/// [force] and [step] of a run file with the suggested numbers; empty: there are none.
std::string run_file_lines(const gravity::GalaxyFacts& facts, const gravity::Units& units);

}  // namespace kasane::run
