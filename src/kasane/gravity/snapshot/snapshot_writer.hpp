// A writer of HDF5 snapshots whose particles are made block by block, so that they need not be in memory together.
// Invariants: a reader sees the whole file or none, as with write_snapshot(); memory does not grow with the number of particles.
#pragma once

#include <kasane/gravity/snapshot/snapshot.hpp>

#include <memory>

namespace kasane::gravity {

/// Contents of a snapshot that must be known before its particles.
struct SnapshotOutline {
    std::array<std::uint64_t, type_count> count{};
    std::array<double, type_count> mass{};  ///< mass of every particle of the type; 0: particles have their own [mass]
    double time = 0;
    Units units;
    std::array<double, type_count> softening{};
    SnapshotForceError force_error;
    std::vector<SnapshotComponent> components;
    std::string model;

    /// Length of the file without the model's text and headers of about 10 KiB [byte].
    std::uint64_t bytes() const;
};

/// The place of a file in a set that several writers write, one file each.
struct SnapshotSetPlace {
    int file = 0, files = 1;                        ///< number of this file, and files of the set
    std::array<std::uint64_t, type_count> total{};  ///< particles of each type in all files
    std::uint64_t number = 0;                       ///< of the set: a reader refuses files whose numbers differ. 0: none
};

/// The name of a file of a set: "snap.3.hdf5" of "snap.hdf5" and 3.
std::filesystem::path snapshot_file_name(const std::filesystem::path& path, int file);

/// Writes a snapshot block by block.
class SnapshotWriter {
   public:
    /// Creates only the temporary file, so that problems are found before particles are computed.
    /// @param options  precision and compression; `files` is not used
    /// @throws InputError: no such directory, not writable, no particles, above 2^32 of a type; ComputationError: not enough disk space
    SnapshotWriter(const std::filesystem::path& path, SnapshotOutline outline, const SnapshotWriteOptions& options = {});
    /// For one file of a set, which may have no particles. @param path  "snap.hdf5" of the set; the file is "snap.3.hdf5"
    /// @param outline  counts of this file
    SnapshotWriter(const std::filesystem::path& path, SnapshotOutline outline, const SnapshotSetPlace& place,
                   const SnapshotWriteOptions& options = {});
    ~SnapshotWriter();
    SnapshotWriter(SnapshotWriter&&) noexcept;

    /// Appends particles; in the file those of one type have the order of the calls.
    /// @throws ComputationError: more particles than announced, or another mass than that of the outline
    void append(const Particles& block);
    /// Completes the temporary file. @throws ComputationError: fewer particles than announced, disk full
    void complete();
    /// Completes the file, unless complete() has, and renames it. @throws ComputationError as complete()
    void commit();

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::gravity
