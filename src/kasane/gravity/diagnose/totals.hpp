// Sums over all particles from which most diagnostics follow, in one order for the host and for the reductions on a space.
#pragma once

#include <kasane/gravity/diagnose/diagnose.hpp>

#include <array>

namespace kasane::gravity::detail {

/// Sums of m, m v^2, m phi, m v (3 components), m x cross v (3) and m x (3).
using Totals = std::array<double, 12>;

/// Energies, momenta and centre of mass; the other fields are left at their defaults. @throws InputError: the total mass is 0
Diagnostics diagnostics_of(const Totals& total);

/// @throws InputError: the total mass is 0
void check_total_mass(double mass);

}  // namespace kasane::gravity::detail
