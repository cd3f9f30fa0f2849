// The part of a run record that every chain of gauge fields has: lattice, start, seed, configurations.
#pragma once

#include <kasane/lattice/geometry.hpp>
#include <kasane/run/driver/record.hpp>
#include <kasane/run/gauge/gauge_file.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run {

struct GaugeRecord : Record {
    lattice::Extents extents;
    std::string start, start_file;  ///< start: "hot", "weak:0.001", "file"
    std::uint64_t start_seed = 0;
    std::int64_t thermalisation = 0;    ///< updates, requested
    std::string configuration, format;  ///< file name of the last configuration; format of all configurations
    int bits = 64;
    std::vector<std::string> configurations;  ///< written so far, from the run's directory
};

/// Copies the requests of the run file to the record.
inline void take_over(const GaugeFile& file, GaugeRecord& record) {
    record.extents = file.extents;
    record.start = file.start.text(), record.start_file = file.start.file.string(), record.start_seed = file.start.seed;
    record.thermalisation = file.thermalisation;
    record.configuration = file.configuration, record.format = name(file.format.format), record.bits = file.format.bits;
}

/// Fields of the start (driver/fields.hpp).
template <class Fields, class R>
void list_start(Fields& f, R& r) {
    f.part("start", [&](auto& in) { in("kind", r.start), in.text("file", r.start_file), in("seed", r.start_seed); });
}
/// Fields of the configurations.
template <class Fields, class R>
void list_configurations(Fields& f, R& r) {
    f.part("configuration",
           [&](auto& in) { in("name", r.configuration), in("format", r.format), in("bits", r.bits), in("written", r.configurations); });
}

}  // namespace kasane::run
