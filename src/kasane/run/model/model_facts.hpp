// The numbers of a galaxy for programs (JSON), for terminals (an aligned table) and for pages.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <kasane/gravity/galaxy/facts.hpp>
#include <kasane/gravity/particles/units.hpp>

#include <string>

namespace kasane::run {

/// Keys are the names of the facts; values are in the model's units, whose names are in "units" (null: N-body units have none). Numbers
/// that do not exist are left out.
io::Json facts_json(const gravity::GalaxyFacts& facts, const gravity::Units& units);

/// Calls visit(key, value) for the numbers of a galaxy, in the order of JSON and HDF5 files; a number that does not exist is 0.
template <class Visit>
void for_each_number(const gravity::GalaxyFacts& f, Visit visit) {
    visit("mass", f.mass);
    visit("half_mass_radius", f.half_mass_radius);
    visit("escape_speed", f.escape_speed);
    visit("escape_radius", f.escape_radius);
    visit("virial_ratio", f.virial_ratio);
    visit("dynamical_time", f.dynamical_time);
    visit("crossing_time", f.crossing_time);
    visit("suggested_softening", f.suggested_softening);
    visit("suggested_step", f.suggested_step);
    visit("suggested_dt_max", f.suggested_dt_max);
}
/// Does the same for one component.
template <class Visit>
void for_each_number(const gravity::ComponentFacts& c, Visit visit) {
    visit("mass", c.mass);
    visit("particle_mass", c.particle_mass);
    visit("half_mass_radius", c.half_mass_radius);
    visit("dispersion", c.dispersion);
    visit("dynamical_time", c.dynamical_time);
    visit("clamped_fraction", c.clamped_fraction);
    visit("clamped_radius", c.clamped_radius);
    visit("least_q", c.least_q);
    visit("least_q_radius", c.least_q_radius);
    visit("density_miss", c.density_miss);
    visit("dispersion_miss", c.dispersion_miss);
    visit("suggested_softening", c.suggested_softening);
}

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
