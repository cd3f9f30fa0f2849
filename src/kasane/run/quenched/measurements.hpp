// The measurements of a quenched run, sweep by sweep, as measurements.csv, and their means.
// Invariants: 17 significant digits, so that equal bytes mean equal numbers; rows stand in the order of their sweeps.
#pragma once

#include <kasane/lattice/geometry.hpp>
#include <kasane/lattice/observe/statistics.hpp>
#include <kasane/run/gauge/estimates.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

struct Measurement {
    std::int64_t sweep = 0;      ///< 0: the start
    double plaquette_space = 0;  ///< Re tr / 3
    double plaquette_time = 0;
    double polyakov_re = 0;  ///< tr / 3, mean over space
    double polyakov_im = 0;
    double plaquette() const { return (plaquette_space + plaquette_time) / 2; }
    double polyakov() const { return std::hypot(polyakov_re, polyakov_im); }
    bool operator==(const Measurement&) const = default;
};

/// Columns sweep, plaquette, plaquette_space, plaquette_time, polyakov_re, polyakov_im.
void write_measurements(const std::filesystem::path& path, const std::vector<Measurement>& rows);
/// @throws InputError: the file does not exist, or a line is not a row
std::vector<Measurement> read_measurements(const std::filesystem::path& path);

/// Means after thermalisation; autocorrelation times in sweeps. NaN where there are too few rows.
struct QuenchedMeans {
    lattice::Estimate plaquette, plaquette_space, plaquette_time;
    lattice::Estimate polyakov_re, polyakov_im, polyakov;  ///< the last of |P|
    lattice::Jackknife susceptibility;                     ///< X Y Z (<|P|^2> - <|P|>^2)
};
QuenchedMeans means_of(const std::vector<Measurement>& rows, std::int64_t thermalisation, std::int64_t measure_every,
                       const lattice::Extents& extents);

/// The rows after thermalisation.
std::vector<Measurement> measured(const std::vector<Measurement>& rows, std::int64_t thermalisation);

}  // namespace kasane::run
