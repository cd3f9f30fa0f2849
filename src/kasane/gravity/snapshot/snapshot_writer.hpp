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
    std::vector<SnapshotComponent> components;
    std::string model;

    /// Length of the file without the model's text and headers of about 10 KiB [byte].
    std::uint64_t bytes() const;
};

/// Writes a snapshot block by block.
class SnapshotWriter {
   public:
    /// Creates only the temporary file, so that problems are found before particles are computed.
    /// @throws InputError: no such directory, not writable, no particles, above 2^32 of a type; ComputationError: not enough disk space
    SnapshotWriter(const std::filesystem::path& path, SnapshotOutline outline);
    ~SnapshotWriter();
    SnapshotWriter(SnapshotWriter&&) noexcept;

    /// Appends particles; in the file those of one type have the order of the calls.
    /// @throws ComputationError: more particles than announced, or another mass than that of the outline
    void append(const Particles& block);
    /// Completes and renames the file. @throws ComputationError: fewer particles than announced, disk full
    void commit();

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::gravity
