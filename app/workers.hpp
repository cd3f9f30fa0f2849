// The workers of a verb that runs as OnRanks::led: --gpus-per-rank, and their spaces.
#pragma once

#include <app/command.hpp>

#include <vector>

namespace kasane::app {

struct Workers {
    std::vector<AnySpace> here;  ///< spaces of this rank's workers
    int count = 1;               ///< on all ranks
    int on_this_host = 1;        ///< of those, workers that share the root rank's host
};

/// Chooses the spaces. @throws InputError: no such device, or several workers of a rank on the CPU
Workers place_workers(const Common& common, int per_rank);

/// The heading of options for several workers.
inline constexpr const char* workers_group = "Several workers: ranks of an MPI launcher, GPUs of a rank";
/// --gpus-per-rank.
void add_gpus_per_rank(CLI::App& app, int& gpus_per_rank);

}  // namespace kasane::app
