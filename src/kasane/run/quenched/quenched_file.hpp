// The run file of quenched updates, read and checked as a whole: lattice, start, action, sweeps, output.
#pragma once

#include <kasane/run/gauge/gauge_file.hpp>

#include <cstdint>
#include <string>

namespace kasane::run {

struct QuenchedFile : GaugeFile {
    std::string boundary;  ///< of the quarks in time, for the record; the links are periodic
    double beta = 0;
    std::int64_t sweeps = 0;  ///< in all; each is one of heatbath and `overrelaxation` of overrelaxation
    int overrelaxation = 0;
    std::uint64_t seed = 1;
    std::int64_t measure_every = 1;  ///< sweeps

    /// Whether a measurement is due after this sweep. Sweep 0 is the start.
    bool measures(std::int64_t sweep) const { return sweep % measure_every == 0; }
};

/// @throws InputError with everything that is wrong with the file, with line and column
QuenchedFile read_quenched_file(const RunSource& source);

}  // namespace kasane::run
