// GADGET snapshots, read and written: HDF5 (one or several files) and the binary formats 1 and 2 in either byte order.
// The format of a file is recognised from its content. Files are not trusted: every count, block length and offset is compared with the
// file's size before memory is allocated. (The HDF5 library reads the metadata of an HDF5 file first; faults of the library on damaged
// metadata without checksums are not covered.)
#pragma once

#include <kasane/gravity/particles/particles.hpp>
#include <kasane/gravity/particles/units.hpp>

#include <array>
#include <filesystem>
#include <vector>

namespace kasane::gravity {

/// Relative errors of the accelerations at the time of a snapshot, measured on `count` particles against direct summation.
struct SnapshotForceError {
    std::int64_t count = 0;  ///< particles compared; 0: not measured
    double median = 0;       ///< half of the errors are this or less
    double p99 = 0;          ///< 99% of the errors are this or less
    double max = 0;          ///< largest error
    /// Whether all values are equal.
    friend bool operator==(const SnapshotForceError&, const SnapshotForceError&) = default;
};

/// Particles that were sampled from one component of a model. Their ids are first_id, first_id + 1, ..., first_id + count - 1.
struct SnapshotComponent {
    std::string name;            ///< "halo"; in a model of several objects "first/halo"
    std::string law;             ///< name of the density law: "nfw"
    std::uint64_t first_id = 1,  ///< id of the first particle
        count = 0;               ///< number of particles
    std::uint8_t type = 1;       ///< particle type of the GADGET convention
    double mass = 0;             ///< of all its particles [mass]
    std::uint64_t seed = 0;      ///< seed of the random numbers that it was sampled with
    double softening = 0;        ///< Plummer-equivalent eps [length]; 0: not known
    /// Whether all values are equal.
    friend bool operator==(const SnapshotComponent&, const SnapshotComponent&) = default;
};

/// Contents of a snapshot, in the units `units`.
struct Snapshot {
    Particles particles;                     ///< read_snapshot(): types in ascending order
    double time = 0;                         ///< [time]
    Units units;                             ///< as the file states them; galactic if it does not
    bool states_units = false;               ///< read_snapshot(): the file states its units; write_snapshot() does not use it
    std::vector<Vec3<double>> acceleration;  ///< empty, or one per particle [length / time^2]
    std::vector<double> potential;           ///< empty, or one per particle [length^2 / time^2]
    /// Plummer-equivalent eps of each type [length]; 0: not known, or not the same for all its particles
    std::array<double, type_count> softening{};
    SnapshotForceError force_error;             ///< HDF5 only: attributes ForceErrorMedian, ... of the header
    std::vector<SnapshotComponent> components;  ///< HDF5 only: the components that the particles were sampled from; empty: not known
    std::string model;                          ///< HDF5 only: the model file with every key written out; empty: not known
};

/// File formats of snapshots: HDF5, and the binary formats 1 and 2 of GADGET.
enum class SnapshotFormat { hdf5, gadget1, gadget2 };
/// Byte order of the binary formats: the least (little) or the most (big) significant byte first.
enum class ByteOrder { little, big };

/// Contents of the headers of a snapshot.
struct SnapshotSummary {
    SnapshotFormat format = SnapshotFormat::hdf5;   ///< of the first file
    std::array<std::uint64_t, type_count> count{};  ///< particles of each type in all files
    double time = 0;                                ///< [time]
    int files = 1;                                  ///< files of the set
    Units units;                                    ///< as the file states them; galactic if it does not
    /// Particles of all types; at most the largest std::uint64_t.
    std::uint64_t total() const;
    /// Memory that read_snapshot() needs for the particles, without accelerations and potentials [byte].
    std::uint64_t memory_bytes() const;
};

/// Reads and compares the headers of all files, not the particles.
/// @param path  a file, any file of a set "name.0.hdf5", "name.1.hdf5", ..., or "name.hdf5" for such a set
/// @throws InputError as read_snapshot() does
SnapshotSummary inspect_snapshot(const std::filesystem::path& path);

/// Options of read_snapshot().
struct SnapshotReadOptions {
    bool velocities =
        true;  ///< read them; otherwise `particles.velocity` is empty, and damage to the velocities in the file is not noticed
};

/// Reads all particles, types in ascending order, in the units of the file.
/// @param path  as for inspect_snapshot()
/// @param options  parts that are not needed
/// @throws InputError: missing, a directory, no permission, not a snapshot, truncated or corrupt (with the block or data set), counts that
/// disagree, a redshift above 0 (comoving coordinates), unusable values (see validate()), or more particles than memory
Snapshot read_snapshot(const std::filesystem::path& path, const SnapshotReadOptions& options = {});

/// Options of write_snapshot().
struct SnapshotWriteOptions {
    SnapshotFormat format = SnapshotFormat::hdf5;  ///< binary formats hold one file only
    ByteOrder order = ByteOrder::little;           ///< of the binary formats
    bool double_precision = true;                  ///< positions, velocities, masses, accelerations and potentials in double, else in float
    int files = 1;                                 ///< number of files, 1 or more; each gets an even share of every type. HDF5 only
    bool compress = false;                         ///< HDF5 only: without loss, with the filters shuffle and deflate that every HDF5 has
};

/// Writes a snapshot. HDF5 stores everything. The binary formats store particles, time and units (units other than galactic in the unused
/// end of the header), but no softening, force errors, accelerations, potentials and components. The function writes to a temporary name
/// beside `path` and renames it, so that a reader never sees a part of a file.
/// @param path  with files > 1, "snap.hdf5" becomes "snap.0.hdf5", "snap.1.hdf5", ...
/// @param snapshot  arrays of one length, at least one particle
/// @param options  format, precision and number of files
/// @throws InputError: the directory is missing or not writable, the arrays differ in length, or the format cannot hold the values
/// @throws ComputationError: the disk is full
void write_snapshot(const std::filesystem::path& path, const Snapshot& snapshot, const SnapshotWriteOptions& options = {});
/// The same with particles that belong to another object. @param rest  its own particles are not used
void write_snapshot(const std::filesystem::path& path, const Particles& particles, const Snapshot& rest,
                    const SnapshotWriteOptions& options = {});

}  // namespace kasane::gravity
