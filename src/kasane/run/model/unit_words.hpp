// Times and surface densities of a model or a run in the units that a reader expects, as Unicode text.
#pragma once

#include <kasane/gravity/particles/units.hpp>
#include <kasane/report/words.hpp>

#include <string>

namespace kasane::run {

/// Gyr or Myr, whichever suits a run of this length, when the units have a scale; for other lengths the name of the unit of time, or years.
report::TimeScale time_scale(const gravity::Units& units, double longest);

/// [mass / length^2] as Msun/pc^2 where the units have a scale.
std::string surface_density_text(double value, const gravity::Units& units);

}  // namespace kasane::run
