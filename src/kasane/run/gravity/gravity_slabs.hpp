// A gravity run on several ranks: each rank has a slab of the particles, which it draws, reads or receives, and writes. The root rank
// describes this in texts (JSON), which the other ranks execute.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/gravity/distributed/distributed_simulation.hpp>
#include <kasane/gravity/snapshot/snapshot_writer.hpp>
#include <kasane/run/gravity/gravity_checkpoint.hpp>
#include <kasane/run/gravity/gravity_file.hpp>
#include <kasane/run/model/sampling.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace kasane::run {

/// Each rank draws or reads its slab. On the root rank; the other ranks are in slab_loop().
/// @param sampling  built, of file.initial, with Reading::in_parts   @param softenings  of the particles; empty: one for all
/// @throws InputError on all ranks: a rank cannot read the run file, a model or a snapshot
std::shared_ptr<gravity::SlabParticles> sampled_slabs(comm::WorkerCommunicator& communicator, const GravityFile& file, Sampling& sampling,
                                                      const std::vector<GroupSoftening>& softenings,
                                                      const std::vector<io::Setting>& settings, const ProgressFunction& progress);
/// The root rank reads a checkpoint in parts and sends each rank its slab.
/// @param accelerations  those of the checkpoint are used
std::shared_ptr<gravity::SlabParticles> restored_slabs(comm::WorkerCommunicator& communicator, const GravityFile& file, ParticleRows& rows,
                                                       bool accelerations);
/// Executes the commands of the root rank on the other ranks, as Kind::worker.
void slab_loop(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);

/// Removes the files that an earlier segment of the run, on another number of ranks, has written for this snapshot.
/// @param files  of the present one: 1, or the number of a set
void remove_other_files(const std::filesystem::path& snapshot, int files);

/// An outline with the counts and masses of the slabs.
gravity::SnapshotOutline whole_outline(const gravity::SlabParticles& slabs, gravity::SnapshotOutline outline);
/// Writes one file. On the root rank, which has all particles or receives those of the other ranks in parts.
/// @param outline  with counts and masses   @param compress  without loss
void write_one_snapshot(const std::filesystem::path& path, ParticleRows& rows, const gravity::SnapshotOutline& outline, bool compress);
/// Each rank begins to write a file of a set with its slab, "snapshot_0000.3.hdf5", in a thread of its own. Until complete_snapshot_set()
/// no state is taken back to the slabs, and no other thread of this rank calls HDF5.
void begin_snapshot_set(const std::filesystem::path& path, const gravity::SlabParticles& slabs, gravity::SnapshotOutline outline,
                        bool compress);
/// Waits for the files of a set that was begun. They get their names after all ranks have written theirs.
/// @param path  of the set   @throws ComputationError: a rank could not write its file
void complete_snapshot_set(const std::filesystem::path& path, const gravity::SlabParticles& slabs);

}  // namespace kasane::run
