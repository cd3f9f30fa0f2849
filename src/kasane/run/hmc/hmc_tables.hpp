// The tables of a run of hybrid Monte Carlo in addition to measurements.csv, and their summary after thermalisation: the forces of each
// term, returns to the start, the Wilson flow, the smallest eigenvalue.
#pragma once

#include <kasane/lattice/hmc/trajectory.hpp>
#include <kasane/lattice/observe/statistics.hpp>
#include <kasane/run/gauge/estimates.hpp>
#include <kasane/run/gauge/update_table.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

/// Measurements beside those of every trajectory: trajectories between two of a kind, 0: never.
struct HmcMeasurements {
    std::int64_t reversibility_every = 0, flow_every = 0, spectrum_every = 0;
    double flow_time = 4, flow_step = 0.02;  ///< [a^2]

    static bool due(std::int64_t every, std::int64_t trajectory) { return every > 0 && trajectory % every == 0; }
};

struct HmcTables {
    UpdateTable dynamics{"dynamics", {}};  ///< of every trajectory: steps, and numbers of each term
    UpdateTable reversibility{"reversibility", {"distance", "dH"}};
    UpdateTable flow{"flow", {"charge", "t2E", "t0"}};  ///< charge and t^2 E at the end of the flow; t0 NaN where it is not reached

    UpdateTable spectrum{"spectrum", {"smallest", "smallest_error", "largest", "largest_error"}};  ///< of Dhat^+ Dhat of two flavours

    std::array<UpdateTable*, 4> all() { return {&dynamics, &reversibility, &flow, &spectrum}; }
    std::array<const UpdateTable*, 4> all() const { return {&dynamics, &reversibility, &flow, &spectrum}; }
};

/// The columns of `dynamics` for these terms of the action: "steps", "force_mean[gauge]", ...
std::vector<std::string> dynamics_columns(const std::vector<std::string>& terms);
/// The row of `dynamics` for one trajectory.
std::vector<double> dynamics_row(int steps, const std::vector<lattice::TermDynamics>& terms);

/// Summary of the tables after thermalisation.
struct HmcSummary {
    /// Means over trajectories; the largest force is of all of them. Force: |F| = sqrt(sum_a f_a^2) of a link.
    struct Term {
        std::string name;
        double force_mean = 0, force_largest = 0, iterations = 0, force_iterations = 0;
    };
    std::vector<Term> terms;
    std::int64_t returns = 0;           ///< to the start, all of the run
    double return_distance = 0;         ///< largest |dU|
    double return_dH = 0;               ///< largest |dH|
    lattice::Estimate charge, charge2;  ///< Q and Q^2; times in trajectories
    lattice::Estimate t2E, t0;          ///< t0 unknown where one of them is
    lattice::Estimate eigenvalue;       ///< the smallest one
    double least_eigenvalue = 0;        ///< of all of them
};
HmcSummary summary_of(const HmcTables& tables, std::int64_t thermalisation, const HmcMeasurements& how);

/// Writes those that are not empty into a directory.
void write_hmc_tables(const std::filesystem::path& directory, const HmcTables& tables);
/// Reads those that exist. @throws InputError: one is damaged
HmcTables read_hmc_tables(const std::filesystem::path& directory);

}  // namespace kasane::run
