// The run record of hybrid Monte Carlo: the part of record.json after the common part.
#pragma once

#include <kasane/lattice/geometry.hpp>
#include <kasane/run/gauge/gauge_record.hpp>
#include <kasane/run/hmc/hmc_flavours.hpp>
#include <kasane/run/hmc/hmc_tables.hpp>
#include <kasane/run/hmc/trajectories.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

struct HmcRecord : GaugeRecord {
    std::string action;  ///< "iwasaki"; "c1" where the weight was given
    double beta = 0, c1 = 0;
    std::int64_t trajectories = 0, accept_first = 0;  ///< requested
    double length = 0;
    std::string integrator;
    int steps = 0;
    std::uint64_t seed = 0;
    /// Tuning of the number of steps (step_tuner.hpp).
    struct Tuning {
        double acceptance = 0;  ///< requested; 0: the number of steps stays
        int steps = 0;          ///< now
        bool done = false;      ///< the trajectories of thermalisation are over: steps does not change any more
    };
    Tuning tuning;
    HmcMeasurements measure;
    std::optional<HmcQuarks> quarks;
    std::vector<FlavourRecord> flavours;  ///< as quarks->single

    std::int64_t trajectories_done = 0;
    HmcMeans means;      ///< of the trajectories so far
    HmcSummary summary;  ///< of the tables so far
};

/// The part of record.json after the common part.
io::Json part_of(const HmcRecord& record);
/// @throws InputError when the text is not the record of a run of hybrid Monte Carlo
HmcRecord hmc_record_from_json(const std::string& text, const std::filesystem::path& file);

/// Wall time of a trajectory without measurements and output [s]; 0: not known.
double trajectory_seconds(const HmcRecord& record);

}  // namespace kasane::run
