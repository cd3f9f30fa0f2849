// The profiles of a model's galaxies as an HDF5 file: the numbers of the curves of its page.
// Layout: /galaxy0/radius, mass, potential, circular_speed, escape_speed [n]; /galaxy0/component0/density, mass, ... [n], energy and
// distribution [m]. Every data set has the attributes `unit` and `description`; groups have `name` and their facts as numbers;
// columns that a component does not have are left out; NaN where a value does not exist.
#pragma once

#include <kasane/run/model/model_report.hpp>

#include <filesystem>

namespace kasane::run {

/// Writes atomically. @throws InputError: not writable; ComputationError: disk full
void write_model_tables(const std::filesystem::path& hdf5, const ModelReport& report);

}  // namespace kasane::run
