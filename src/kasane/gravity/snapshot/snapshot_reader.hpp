// Reads a snapshot of one or several files in parts, so that the particles need not be in memory together.
// Invariants: particles are numbered as read_snapshot() returns them, types in ascending order and those of a type file by file; a
// SnapshotReader exists only if the headers of all files agree with each other and with the sizes of their blocks or data sets.
#pragma once

#include <kasane/gravity/snapshot/snapshot.hpp>

#include <array>
#include <filesystem>
#include <memory>

namespace kasane::gravity {

class SnapshotReader {
   public:
    /// @throws InputError as inspect_snapshot()
    explicit SnapshotReader(const std::filesystem::path& path);
    ~SnapshotReader();
    SnapshotReader(SnapshotReader&&) noexcept;

    using Counts = std::array<std::uint64_t, type_count>;

    const SnapshotSummary& summary() const;
    /// All but the particles: time, units, softenings, force errors, components and model.
    Snapshot outline() const;
    /// Whether the accelerations and potentials of all particles are stored.
    bool has_acceleration() const;
    bool has_potential() const;

    /// The columns that read() reads.
    struct Columns {
        bool position = true, velocity = true, mass = true, id = true;
        bool acceleration = false, potential = false;  ///< where they are stored
    };
    /// Reads the particles skip[t], ..., skip[t] + count[t] - 1 of each type t, in ascending types, into arrays that it resizes; those of
    /// other columns become empty. Checks that values are usable where positions, masses and ids are read.
    /// @throws InputError as read_snapshot(), and where a file has changed since the headers were read
    void read(const Counts& skip, const Counts& count, Snapshot& into, const Columns& columns) const;
    /// Reads the particles first, first + 1, ..., first + n - 1 without accelerations and potentials.
    Particles read(index_t first, index_t n) const;

   private:
    struct Set;
    std::unique_ptr<Set> set_;
};

}  // namespace kasane::gravity
