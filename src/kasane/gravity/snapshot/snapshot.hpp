// GADGET snapshots, read and written: HDF5 (one or several files) and the binary formats 1 and 2 in either byte order.
// The format of a file is recognised from its content. Files are hostile until checked: every count, block length and
// offset is compared with the file's size before memory is taken. (In HDF5 files of other programs, whose metadata may lack checksums,
// the HDF5 library is the first to read them: its own faults on damaged metadata are beyond this.)
#pragma once

#include <kasane/gravity/particles.hpp>
#include <kasane/gravity/units.hpp>

#include <array>
#include <filesystem>
#include <vector>

namespace kasane::gravity {

/// Relative errors of the accelerations at a snapshot's time, measured on so many particles against direct summation.
struct SnapshotForceError {
    std::int64_t count = 0;  ///< 0: not measured
    double median = 0, p99 = 0, max = 0;
    friend bool operator==(const SnapshotForceError&, const SnapshotForceError&) = default;
};

/// Particles that were made together and stay together by their ids: first_id, first_id + 1, ..., first_id + count - 1.
struct SnapshotComponent {
    std::string name;  ///< "halo"; of several objects "first/halo"
    std::string law;   ///< "nfw"
    std::uint64_t first_id = 1, count = 0;
    std::uint8_t type = 1;
    double mass = 0;  ///< of all its particles [mass]
    std::uint64_t seed = 0;
    friend bool operator==(const SnapshotComponent&, const SnapshotComponent&) = default;
};

struct Snapshot {
    Particles particles;
    double time = 0;
    Units units;                                 ///< as the file states them, else galactic
    bool states_units = false;                   ///< of what was read: does the file state them?
    std::vector<Vec3<double>> acceleration;      ///< empty, or one per particle
    std::vector<double> potential;               ///< empty, or one per particle
    std::array<double, type_count> softening{};  ///< Plummer softening per type; 0 where not known
    SnapshotForceError force_error;              ///< HDF5 only: attributes ForceErrorMedian, ... of the header
    std::vector<SnapshotComponent> components;   ///< HDF5 only, where known: what the particles were sampled as
    std::string model;                           ///< HDF5 only, where known: the model file, every key spelled out
};

enum class SnapshotFormat { hdf5, gadget1, gadget2 };
enum class ByteOrder { little, big };

struct SnapshotSummary {
    SnapshotFormat format = SnapshotFormat::hdf5;
    std::array<std::uint64_t, type_count> count{};
    double time = 0;
    int files = 1;
    Units units;  ///< as the file states them, else galactic
    std::uint64_t total() const;
    /// Memory that read_snapshot takes for the particles.
    std::uint64_t memory_bytes() const;
};

/// Reads headers alone. @param path a file, or any file of a set "name.0.hdf5", "name.1.hdf5", ...
/// @throws InputError as read_snapshot does
SnapshotSummary inspect_snapshot(const std::filesystem::path& path);

/// Reads all particles, types in ascending order, positions and masses in the file's units.
/// @throws InputError: missing, a directory, no permission, not a snapshot, truncated or corrupt (naming the block or data set),
/// counts that disagree, unusable values (see validate), or more particles than memory
Snapshot read_snapshot(const std::filesystem::path& path);

struct SnapshotWriteOptions {
    SnapshotFormat format = SnapshotFormat::hdf5;
    ByteOrder order = ByteOrder::little;  ///< for the binary formats
    bool double_precision = true;         ///< of positions, velocities, masses; accelerations and potentials follow
    int files = 1;                        ///< HDF5 only: the particles of each type split evenly over so many files
};

/// HDF5 keeps everything; it takes as much memory as the file is long. The binary formats keep particles, time and units (those other
/// than galactic at the unused end of the header), and drop softening, force errors, accelerations, potentials and components.
/// Writes to a temporary name beside `path` and renames, so that a reader never sees half a file.
/// With files > 1, "snap.hdf5" becomes "snap.0.hdf5", "snap.1.hdf5", ...
/// @throws InputError when the directory is missing or not writable; ComputationError when the disk is full
void write_snapshot(const std::filesystem::path& path, const Snapshot& snapshot, const SnapshotWriteOptions& options = {});

}  // namespace kasane::gravity
