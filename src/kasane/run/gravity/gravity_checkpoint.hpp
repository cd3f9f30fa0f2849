// Checkpoints: the state from which a run continues with the same bits, in one HDF5 file with an XXH3 checksum over all of it. The
// particles of a checkpoint with a snapshot of the same step are in particles_NUMBER.hdf5 beside it, a hard link to the snapshot: their
// bytes are written once, and the snapshot may be deleted or replaced. A snapshot that is changed in place makes the checksum differ.
// Invariants: a checkpoint appears whole or not at all (AtomicFile), and after its particles; read_gravity_checkpoint returns exactly the
// written state.
#pragma once

#include <kasane/gravity/simulation.hpp>
#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/driver/checkpoint.hpp>
#include <kasane/run/gravity/particle_rows.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace kasane::run {

struct GravityCheckpoint : Checkpoint {
    gravity::Particles particles;
    gravity::Units units;
    std::int64_t step = 0;
    double start = 0;                    ///< time of step 0
    double dt = 0;                       ///< macro step
    gravity::SimulationState state;      ///< of the force and the steps; empty in files of layout 1, without a frame in those of layout 2
    std::filesystem::path path;          ///< of the file, with `rows`
    std::shared_ptr<ParticleRows> rows;  ///< of the file, where its particles are not in memory; then `state` has no arrays
};

/// @param snapshot  in double precision, of the same particles, complete: the checkpoint links to it where the file system can. Empty: none
/// @throws ComputationError when the disk is full: the file that was there before, if any, is untouched
void write_gravity_checkpoint(const std::filesystem::path& path, const GravityCheckpoint& checkpoint,
                              const std::filesystem::path& snapshot = {});
/// Does the same with particles that belong to another object. @param rest  its own particles are not used
void write_gravity_checkpoint(const std::filesystem::path& path, const gravity::Particles& particles, const GravityCheckpoint& rest,
                              const std::filesystem::path& snapshot);

/// Does the same with particles that are read in parts. @param rest  its own particles and accelerations are not used
void write_gravity_checkpoint(const std::filesystem::path& path, ParticleRows& particles, const GravityCheckpoint& rest,
                              const std::filesystem::path& snapshot);

/// Reads layouts 1 to 8. @throws InputError: missing, truncated, a newer layout, particles that are missing or of another snapshot, or the
/// checksum does not match
GravityCheckpoint read_gravity_checkpoint(const std::filesystem::path& path);
/// Reads and checks the same in parts: particles and accelerations stay in the file, and `rows` reads them.
GravityCheckpoint open_gravity_checkpoint(const std::filesystem::path& path);

}  // namespace kasane::run
