// Checkpoints: the state from which a run continues with the same bits, in one HDF5 file with an XXH3 checksum over all of it.
// Invariants: a checkpoint appears whole or not at all (AtomicFile); what read_gravity_checkpoint returns is exactly what was written.
#pragma once

#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/driver/checkpoint.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace kasane::run {

struct GravityCheckpoint : Checkpoint {
    gravity::Particles particles;
    gravity::Units units;
    std::int64_t step = 0;
    double start = 0;                ///< time of step 0
    double dt = 0;                   ///< macro step
    gravity::SimulationState state;  ///< of the force and the steps; empty in files of layout 1, without a frame in those of layout 2
};

/// @throws ComputationError when the disk is full: the file that was there before, if any, is untouched
void write_gravity_checkpoint(const std::filesystem::path& path, const GravityCheckpoint& checkpoint);

/// Reads layouts 1 to 6. @throws InputError: missing, truncated, a newer layout, or the checksum does not match
GravityCheckpoint read_gravity_checkpoint(const std::filesystem::path& path);

}  // namespace kasane::run
