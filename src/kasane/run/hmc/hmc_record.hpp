// The run record of hybrid Monte Carlo: the part of record.json after the common part.
#pragma once

#include <kasane/lattice/geometry.hpp>
#include <kasane/run/driver/record.hpp>
#include <kasane/run/hmc/hmc_flavours.hpp>
#include <kasane/run/hmc/hmc_tables.hpp>
#include <kasane/run/hmc/trajectories.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace kasane::run {

struct HmcRecord : Record {
    lattice::Extents extents;
    std::string start, start_file;  ///< start: "hot", "weak:0.001", "file"
    std::uint64_t start_seed = 0;
    std::string action;  ///< "iwasaki"; "c1" where the weight was given
    double beta = 0, c1 = 0;
    std::int64_t trajectories = 0, thermalisation = 0, accept_first = 0;  ///< requested
    double length = 0;
    std::string integrator;
    int steps = 0;
    std::uint64_t seed = 0;
    /// Of the number of steps (step_tuner.hpp).
    struct Tuning {
        double acceptance = 0;  ///< wanted; 0: steps stays
        int steps = 0;          ///< now
        bool done = false;      ///< the trajectories of thermalisation are over: steps does not change any more
    };
    Tuning tuning;
    HmcMeasurements measure;
    std::optional<HmcQuarks> quarks;
    std::vector<FlavourRecord> flavours;  ///< as quarks->single
    std::string configuration, format;    ///< file name of the last configuration; format of all configurations
    int bits = 64;

    std::int64_t trajectories_done = 0;
    std::vector<std::string> configurations;  ///< written so far, from the run's directory
    HmcMeans means;                           ///< of the trajectories so far
    HmcSummary summary;                       ///< of the tables so far
};

/// The part of record.json after the common part.
nlohmann::ordered_json part_of(const HmcRecord& record);
/// @throws InputError when the text is not the record of a run of hybrid Monte Carlo
HmcRecord hmc_record_from_json(const std::string& text, const std::filesystem::path& file);

/// Wall time of a trajectory without measurements and output [s]; 0: not known.
double trajectory_seconds(const HmcRecord& record);

}  // namespace kasane::run
