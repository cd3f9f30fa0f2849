// The workers of a run: parallel.gpus_per_rank, and the spaces of this rank's workers.
#pragma once

#include <kasane/run/driver/kind.hpp>
#include <kasane/run/driver/run_keys.hpp>

#include <string>

namespace kasane::run {

/// Reads parallel.gpus_per_rank and [run], and sets the spaces of this rank's workers. @returns the number of workers on all ranks
int read_workers(io::RunFileReader& reader, io::Section& parallel, const std::string& problem, const RunSource& source, RunFile& file);

}  // namespace kasane::run
