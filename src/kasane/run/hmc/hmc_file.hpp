// The run file of hybrid Monte Carlo, read and checked as a whole: lattice, start, gauge action, quarks, trajectories, output.
#pragma once

#include <kasane/lattice/gauge/gauge_action.hpp>
#include <kasane/lattice/hmc/integrator.hpp>
#include <kasane/run/gauge/gauge_file.hpp>
#include <kasane/run/hmc/hmc_quarks.hpp>
#include <kasane/run/hmc/hmc_tables.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

struct HmcFile : GaugeFile {
    lattice::GaugeAction action;
    std::string action_name;        ///< "iwasaki"; "c1" where the weight of the rectangles was given
    std::int64_t trajectories = 0;  ///< in all
    double length = 1;              ///< of a trajectory
    std::string integrator;         ///< name
    int steps = 0;                  ///< of a trajectory
    double acceptance = 0;          ///< that the number of steps is tuned to during thermalisation; 0: it is not
    std::int64_t accept_first = 0;  ///< trajectories without Metropolis's test
    std::uint64_t seed = 1;
    std::optional<HmcQuarks> quarks;
    HmcMeasurements measure;

    /// The time scales, from the longest steps to the shortest: those of the quarks, if there are any, and that of the gauge action. Term 0
    /// is the gauge action. @param outer_steps  of a trajectory
    std::vector<lattice::Level> levels(int outer_steps) const;
    std::vector<lattice::Level> levels() const { return levels(steps); }
    /// The integrator's error of H is of the order h^order.
    int order() const;
};

/// @throws InputError with everything that is wrong with the file, with line and column
HmcFile read_hmc_file(const RunSource& source);

}  // namespace kasane::run
