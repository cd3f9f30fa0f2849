// The values of a system of units, by their names in record.json and in checkpoints.
#pragma once

namespace kasane::run {

/// @param visit  called as visit(name in JSON, name in HDF5, value)
template <class Units, class Visit>
void for_each_unit_field(Units& units, Visit visit) {
    visit("name", "Name", units.name);
    visit("length_cm", "UnitLength_in_cm", units.length_cm);
    visit("mass_g", "UnitMass_in_g", units.mass_g);
    visit("velocity_cm_s", "UnitVelocity_in_cm_per_s", units.velocity_cm_s);
    visit("G", "G", units.G);
    visit("length_name", "LengthName", units.length_name);
    visit("mass_name", "MassName", units.mass_name);
    visit("velocity_name", "VelocityName", units.velocity_name);
    visit("time_name", "TimeName", units.time_name);
}

}  // namespace kasane::run
