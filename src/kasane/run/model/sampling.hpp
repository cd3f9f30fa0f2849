// Creates the particles of an Initial block by block. Counts, masses and labels are known before, so that particles can be written while
// they are created and are never all in memory. Invariants: ids are 1..N in the order of the objects and their components (those of one
// snapshot, taken as it is, are its own); the same particles on any number of threads.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>
#include <kasane/gravity/snapshot/snapshot_reader.hpp>
#include <kasane/gravity/snapshot/snapshot_writer.hpp>
#include <kasane/run/model/initial.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace kasane::run {

class Sampling {
   public:
    /// How the snapshots among the sources are read.
    enum class Reading {
        whole,    ///< by the constructor
        in_parts  ///< by draw_part(); the constructor reads masses at most, block by block
    };
    /// Reads the snapshots among the sources, and places the objects; creates no particles. `initial` must outlive this.
    /// @throws InputError with the key's place: unusable snapshots, an impossible orbit
    /// @param on  where draw_all() draws the particles of galaxies; all else is done by the CPU
    Sampling(const Initial& initial, const gravity::Units& units, const AnySpace& on = Cpu{}, Reading reading = Reading::whole);
    /// For a process that only calls build() and draw_part(): uses the placements that another process found, and reads no masses.
    Sampling(const Initial& initial, const gravity::Units& units, const AnySpace& on, std::vector<gravity::Placement> placements);

    /// Counts, masses, softening, time and components (labels "halo", "first/halo").
    const gravity::SnapshotOutline& outline() const { return outline_; }
    /// Memory to write all of it to a snapshot.
    std::uint64_t memory_bytes() const;
    /// @param asked  place of the option that sets the count, where it is not the file   @throws InputError: more memory than is free
    void check_memory(const std::optional<Where>& asked = {}) const;

    /// Builds the galaxies: potentials, distribution functions, disks. @throws InputError with the key's place for galaxies that cannot
    /// be in equilibrium; ComputationError
    void build(const ProgressFunction& progress = {});
    /// Galaxy of a source, after build(); null for balls and snapshots.
    const gravity::Galaxy* galaxy(std::size_t source) const { return galaxies_.at(source).get(); }
    /// Warnings about the galaxies, after build(), which has logged them; each with file, line and key, galaxy and component, and units.
    const std::vector<std::string>& warnings(std::size_t source) const { return warnings_.at(source); }

    /// Creates all particles in blocks. Call it once, after build(); it draws each particle twice, first to find the centres of mass.
    void draw(const std::function<void(const gravity::Particles&)>& sink, const ProgressFunction& progress = {});
    /// Creates the same particles at once, drawing those of galaxies once; on a device they are the same to rounding. Call it once, after
    /// build().
    gravity::Particles draw_all(const ProgressFunction& progress = {});
    /// Creates the particles first, first + 1, ..., first + n - 1 of draw_all() in one of several processes, which call this together and
    /// cover all particles; those of a snapshot are read. Needs Reading::in_parts. Call it once, after build().
    gravity::Particles draw_part(index_t first, index_t n, const gravity::AddOverProcesses& add, const ProgressFunction& progress = {});
    /// Reads all particles of the snapshots that are read in parts, and keeps none. @throws InputError with the key's place
    void check_files() const;
    /// Position, velocity and orientation of each source.
    const std::vector<gravity::Placement>& placements() const { return placements_; }

   private:
    void open(Reading reading, bool masses);
    void describe_file(std::size_t source, bool masses);
    void add_component(const std::string& name, const std::string& law, index_t count, std::uint8_t type, double mass, std::uint64_t seed,
                       double softening);
    /// Counts particles of a type. @param mass  of each; 0: they differ, or it is not known
    void count_particles(std::uint8_t type, std::uint64_t n, double mass);
    std::string prefix(std::size_t source) const;
    /// @param masses  reads those of snapshots
    void describe(std::size_t source, bool masses);
    void warn(std::size_t source);
    /// Places particles of a source, and numbers them from next_id on, which it advances; a snapshot taken as it is stays unchanged.
    void arrange(gravity::Particles& particles, std::size_t source, std::uint64_t& next_id) const;
    gravity::Placement placement(std::size_t source) const;

    const Initial* initial_;
    gravity::Units units_;
    AnySpace space_;
    Cpu on_;
    std::vector<gravity::Snapshot> snapshots_;  // of the sources that are files; without particles where these are read in parts
    std::vector<std::unique_ptr<const gravity::SnapshotReader>> readers_;  // of these sources, where they are read in parts
    std::vector<double> file_mass_;                                        // of all particles of each file
    std::vector<std::unique_ptr<const gravity::Galaxy>> galaxies_;
    std::vector<std::vector<std::string>> warnings_;  // of each source
    std::vector<gravity::Placement> placements_;      // of each source, found while the masses of all snapshots are there
    gravity::SnapshotOutline outline_;
    std::uint64_t next_id_ = 1;                         // of the next component of the outline
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
