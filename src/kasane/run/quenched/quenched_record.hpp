// record.json of a quenched run: what was updated, where, for how long, and what came out; written at the start, with every checkpoint and
// at the end. Checkpoints carry the same record, so that a resumed run goes on counting.
#pragma once

#include <kasane/core/base/timer.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/run/quenched/measurements.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace kasane::run {

struct QuenchedRecord {
    /// One life of the process.
    struct Segment {
        std::string started;  ///< ISO 8601
        std::string device, commit;
        int threads = 0;
        std::int64_t first_sweep = 0, last_sweep = 0;
        double seconds = 0;
    };

    std::string title, status = "running";  ///< running | done | interrupted | failed
    std::string message;                    ///< why it failed
    std::string started, finished;
    DeviceInfo device;
    int threads = 0;
    std::string simd;
    std::string version, commit, compiler, cuda;  ///< of the program that wrote the record; empty: this one

    lattice::Extents extents;
    std::string boundary, start;  ///< start: "hot", "weak:0.001", "file"
    std::string start_file;
    double beta = 0;
    std::int64_t sweeps = 0, thermalisation = 0;  ///< wanted
    int overrelaxation = 0;
    std::uint64_t start_seed = 0, seed = 0;
    std::int64_t measure_every = 1;
    std::string configuration, format;  ///< name of the last configuration, of all configurations' files
    int bits = 64;

    std::int64_t sweeps_done = 0;
    std::vector<std::string> configurations;  ///< written so far, from the run's directory
    QuenchedMeans means;                      ///< of what was measured so far; not read back
    double link_updates = 0;                  ///< of all segments, heatbath and overrelaxation
    double seconds = 0;                       ///< wall, of all segments
    std::map<std::string, Timers::Part> timers;
    std::vector<Segment> segments;
    std::vector<std::string> unused_keys, papers;
};

std::string to_json(const QuenchedRecord& record);
/// @throws InputError when the text is no record of a quenched run
QuenchedRecord quenched_record_from_json(const std::string& text, const std::filesystem::path& file);

}  // namespace kasane::run
