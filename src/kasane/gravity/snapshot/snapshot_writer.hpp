// An HDF5 snapshot that is written while its particles are made: nobody ever holds all of them.
// Invariants: as write_snapshot(), a reader sees the whole file or none; memory is that of the file, which HDF5 keeps until the end.
#pragma once

#include <kasane/gravity/snapshot/snapshot.hpp>

#include <memory>

namespace kasane::gravity {

/// What is known of a snapshot before its particles are.
struct SnapshotOutline {
    std::array<std::uint64_t, type_count> count{};
    std::array<double, type_count> mass{};  ///< of every particle of the type; 0: each brings its own
    double time = 0;
    Units units;
    std::array<double, type_count> softening{};
    std::vector<SnapshotComponent> components;
    std::string model;

    /// Length of the file, but for some 10 KiB of headers and the model's text.
    std::uint64_t bytes() const;
};

class SnapshotWriter {
   public:
    /// Writes nothing but the name of a temporary file, so that what cannot be written is refused before anything is computed.
    /// @throws InputError: no such directory, not writable, no particles, above 2^32 of a type; ComputationError: disk too full
    SnapshotWriter(const std::filesystem::path& path, SnapshotOutline outline);
    ~SnapshotWriter();
    SnapshotWriter(SnapshotWriter&&) noexcept;

    /// The next particles; those of one type lie in the file in the order in which they came.
    /// @throws ComputationError: more than announced, or another mass than the outline's
    void append(const Particles& block);
    /// Puts the file in its place. @throws ComputationError: fewer than announced, disk full
    void commit();

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::gravity
