// The run record of a quenched run: the part of record.json after the common part.
#pragma once

#include <kasane/run/gauge/gauge_record.hpp>
#include <kasane/run/quenched/measurements.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace kasane::run {

struct QuenchedRecord : GaugeRecord {
    std::string boundary;
    double beta = 0;
    std::int64_t sweeps = 0;  ///< requested
    int overrelaxation = 0;
    std::uint64_t seed = 0;
    std::int64_t measure_every = 1;

    std::int64_t sweeps_done = 0;
    QuenchedMeans means;      ///< of what was measured so far
    double link_updates = 0;  ///< of all segments, heatbath and overrelaxation
};

/// The part of record.json after the common part.
io::Json part_of(const QuenchedRecord& record);
/// @throws InputError when the text is not the record of a quenched run
QuenchedRecord quenched_record_from_json(const std::string& text, const std::filesystem::path& file);

/// Links updated per second of heatbath and overrelaxation; 0: not known.
double link_rate(const QuenchedRecord& record);

}  // namespace kasane::run
