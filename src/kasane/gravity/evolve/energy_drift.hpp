// Estimate of how far the total energy of a run drifts.
#pragma once

#include <kasane/gravity/evolve/options.hpp>

namespace kasane::gravity {

/// Estimates the relative drift of the energy per crossing time G M^(5/2) / (2 |E|)^(3/2) of a system near equilibrium, to within a factor
/// of five: the error of block or adaptive steps, and that of tree forces. 0 where there is no estimate: with constant steps the energy
/// oscillates, and no drift was measured for the absolute criterion of cells. Source: the measurements in docs/energy.md.
double expected_energy_drift(const Force& force, const Steps& steps, index_t particles);

}  // namespace kasane::gravity
