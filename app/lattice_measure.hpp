// `kasane lattice measure`: options, one measurement, and the table of several.
#pragma once

#include <kasane/core/io/json_value.hpp>
#include <app/lattice_workers.hpp>
#include <kasane/lattice/distributed/distributed_measurement.hpp>

#include <optional>
#include <string>
#include <vector>

namespace kasane::app {

struct MeasureOptions {
    std::vector<std::string> files;
    std::string grid, directory;
    double flow_time = 0, flow_step = 0.01;
    int gpus_per_rank = 1, bin = 1;
    bool force = false;
};

struct MeasureResult {
    std::string file, device;
    lattice::GluonicMeasurement measured;
    lattice::GaugeFileFacts facts;
    lattice::Extents extents;
    lattice::GridShape grid{1, 1, 1, 1};
    double seconds = 0;
};

/// Measures a configuration that was read. @throws InputError: not enough memory
MeasureResult measure_on(const AnySpace& space, const std::string& file, const lattice::GaugeFile& gauge, double flow_time,
                         double flow_step);
/// Measures a file on all workers, with their grid.
MeasureResult measure_on_all(const Common& common, const Workers& workers, const std::optional<lattice::GridShape>& grid,
                             const std::string& file, double flow_time, double flow_step);
io::Json as_json(const MeasureResult& result, double flow_step);

/// Several configurations, or results in a directory. @returns the exit status
int measure_many(const Common& common, const Workers& workers, const std::optional<lattice::GridShape>& grid,
                 const MeasureOptions& options);

}  // namespace kasane::app
