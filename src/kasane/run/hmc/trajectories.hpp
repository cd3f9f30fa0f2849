// The trajectories of a run of hybrid Monte Carlo, as measurements.csv, and their means.
// Invariants: 17 significant digits, so that equal bytes mean equal numbers; rows stand in the order of their trajectories.
#pragma once

#include <kasane/lattice/observe/statistics.hpp>
#include <kasane/run/gauge/estimates.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

struct TrajectoryRow {
    std::int64_t trajectory = 0;  ///< from 1
    double plaquette = 0;         ///< Re tr / 3, mean of all planes, of the links after the test
    double rectangle = 0;         ///< Re tr / 3, mean of all 2 x 1 loops
    double dH = 0;                ///< H at the end of the molecular dynamics minus H at its start
    double accepted = 0;          ///< 1 or 0
    double weight() const { return std::exp(-dH); }
    bool operator==(const TrajectoryRow&) const = default;
};

/// Columns trajectory, plaquette, rectangle, dH, accepted, exp_minus_dH.
void write_trajectories(const std::filesystem::path& path, const std::vector<TrajectoryRow>& rows);
/// @throws InputError: the file does not exist, or a line is not a row
std::vector<TrajectoryRow> read_trajectories(const std::filesystem::path& path);

/// Means after thermalisation; autocorrelation times in trajectories. NaN where there are too few rows.
struct HmcMeans {
    lattice::Estimate plaquette, rectangle, dH, acceptance;
    lattice::Estimate weight;  ///< <exp(-dH)>, 1 for an exact algorithm
};
HmcMeans means_of(const std::vector<TrajectoryRow>& rows, std::int64_t thermalisation);

/// The rows after thermalisation.
std::vector<TrajectoryRow> thermalised(const std::vector<TrajectoryRow>& rows, std::int64_t thermalisation);

}  // namespace kasane::run
