// Creates the particles of an Initial block by block. Counts, masses and labels are known before, so that particles can be written while
// they are created and are never all in memory. Invariants: ids are 1..N in the order of the objects and their components (those of one
// snapshot, taken as it is, are its own); the same particles on any number of threads.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/snapshot/snapshot_writer.hpp>
#include <kasane/run/model/initial.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace kasane::run {

class Sampling {
   public:
    /// Reads the snapshots among the sources, and places the objects; creates no particles. `initial` must outlive this.
    /// @throws InputError with the key's place: unusable snapshots, an impossible orbit
    /// @param on  where draw_all() draws the particles of galaxies; all else is done by the CPU
    Sampling(const Initial& initial, const gravity::Units& units, const AnySpace& on = Cpu{});

    /// Counts, masses, softening, time and components (labels "halo", "first/halo").
    const gravity::SnapshotOutline& outline() const { return outline_; }
    /// Memory to write all of it to a snapshot.
    std::uint64_t memory_bytes() const;
    /// @param asked  the option that sets the count, where it is not the file   @throws InputError: more memory than is free
    void check_memory(const std::optional<Where>& asked = {}) const;

    /// Builds the galaxies: potentials, distribution functions, disks. @throws InputError with the key's place for galaxies that cannot
    /// be in equilibrium; ComputationError
    void build(const ProgressFunction& progress = {});
    /// After build(); null for balls and snapshots.
    const gravity::Galaxy* galaxy(std::size_t source) const { return galaxies_.at(source).get(); }
    /// After build(): warnings about the galaxies, which build() has logged; each with file, line and key, galaxy and component, and
    /// units.
    const std::vector<std::string>& warnings(std::size_t source) const { return warnings_.at(source); }

    /// Creates all particles in blocks. Call it once, after build(); it draws each particle twice, first to find the centres of mass.
    void draw(const std::function<void(const gravity::Particles&)>& sink, const ProgressFunction& progress = {});
    /// Creates the same particles at once, drawing those of galaxies once; on a device they are the same to rounding. Call it once, after
    /// build().
    gravity::Particles draw_all(const ProgressFunction& progress = {});

   private:
    void describe(std::size_t source);
    void warn(std::size_t source);
    /// Places particles of a source, and numbers them from next_id on, which it advances; a snapshot taken as it is stays unchanged.
    void arrange(gravity::Particles& particles, std::size_t source, std::uint64_t& next_id) const;
    gravity::Placement placement(std::size_t source) const;

    const Initial* initial_;
    gravity::Units units_;
    AnySpace space_;
    Cpu on_;
    std::vector<gravity::Snapshot> snapshots_;  // of the sources that are files
    std::vector<std::unique_ptr<const gravity::Galaxy>> galaxies_;
    std::vector<std::vector<std::string>> warnings_;  // of each source
    std::vector<gravity::Placement> placements_;      // of each source, found while the masses of all snapshots are there
    gravity::SnapshotOutline outline_;
    std::array<bool, gravity::type_count> one_mass_{};  // do all particles of the type so far have outline_.mass?
};

/// All particles, with the components that they were sampled from.
struct Sampled {
    gravity::Particles particles;
    gravity::SnapshotOutline outline;
    std::vector<std::string> warnings;  ///< Sampling::warnings() of all sources
};
/// @throws as Sampling does
Sampled load(const Initial& initial, const gravity::Units& units, const AnySpace& on = Cpu{}, const ProgressFunction& progress = {});

}  // namespace kasane::run
