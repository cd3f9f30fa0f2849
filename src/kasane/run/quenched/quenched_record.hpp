// The run record of a quenched run: the part of record.json after the common part.
#pragma once

#include <kasane/run/driver/record.hpp>
#include <kasane/run/quenched/measurements.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

struct QuenchedRecord : Record {
    lattice::Extents extents;
    std::string boundary, start;  ///< start: "hot", "weak:0.001", "file"
    std::string start_file;
    double beta = 0;
    std::int64_t sweeps = 0, thermalisation = 0;  ///< requested
    int overrelaxation = 0;
    std::uint64_t start_seed = 0, seed = 0;
    std::int64_t measure_every = 1;
    std::string configuration, format;  ///< file name of the last configuration; format of all configurations
    int bits = 64;

    std::int64_t sweeps_done = 0;
    std::vector<std::string> configurations;  ///< written so far, from the run's directory
    QuenchedMeans means;                      ///< of what was measured so far
    double link_updates = 0;                  ///< of all segments, heatbath and overrelaxation
};

/// The part of record.json after the common part.
nlohmann::ordered_json part_of(const QuenchedRecord& record);
/// @throws InputError when the text is not the record of a quenched run
QuenchedRecord quenched_record_from_json(const std::string& text, const std::filesystem::path& file);

/// Links updated per second of heatbath and overrelaxation; 0: not known.
double link_rate(const QuenchedRecord& record);

}  // namespace kasane::run
