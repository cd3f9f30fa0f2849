// kasane predict of a run of gauge fields: hops and iterations of the solver on devices, from a record.
#pragma once

#include <app/command.hpp>
#include <kasane/run/gauge/gauge_file.hpp>

#include <string>

namespace kasane::app {

/// Prints the prediction. @param record  of `kasane bench lattice.scaling`   @param workers  the most devices; 0: as many of 64 as divide
/// the lattice
/// @throws InputError as run::read_lattice_record, run::predict_lattice
int predict_lattice(const Common& common, const run::GaugeFile& run, const std::string& record, int workers);

}  // namespace kasane::app
