// The particles of a run in slabs, one on each rank, so that no rank has all of them. Each rank keeps ids, types, masses and softenings of
// its slab, also where particles move between workers, and takes positions and velocities back when they are written.
// Invariants: slabs follow each other, rank by rank, in the order of all particles; every rank has the same facts about all particles.
#pragma once

#include <kasane/core/comm/communicator.hpp>
#include <kasane/gravity/check_range.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kasane::gravity {

/// One slab: the particles first, first + 1, ... of all.
struct RankSlab {
    index_t first = 0;
    Particles own;
    std::vector<Vec3<float>> acceleration;  ///< of a tree's last force; empty: none
};

/// Facts about the particles of all slabs.
struct SlabFacts {
    std::array<std::uint64_t, type_count> count{};  ///< particles of each type
    /// Smallest and largest mass of each type, and softening where particles have them.
    std::array<double, type_count> least_mass, most_mass, least_softening, most_softening;
    ParticleRange range;
    bool softenings = false;   ///< particles have softenings
    bool accelerated = false;  ///< the accelerations of an earlier segment are known

    index_t total() const;
    double largest_mass() const;
    /// Whether all particles have the same mass.
    bool equal_masses() const;
    /// The mass of every particle of a type; 0 where masses differ or are 0.
    double common_mass(std::size_t type) const;
    /// The softening of every particle of a type; 0 where they differ, or where there are none.
    double common_softening(std::size_t type) const;
    /// The smallest and the largest softening; none where particles have none.
    std::optional<std::pair<double, double>> softening() const;
};

/// Columns of the particles.
enum class Column : std::int64_t { position, velocity, mass, id, type, softening, acceleration };
/// Bytes of a value of a column.
std::size_t bytes_of(Column column);

/// Rows that are transferred or written at a time: 24 MiB of positions.
inline constexpr index_t rows_at_once = 1 << 20;

/// Divides particles that the root rank reads in parts. Collective.
/// @param bounds  first particle of each rank, and the number of all   @param columns  the same on all ranks; with `type` and `mass`
/// @param read  on the root rank: returns the rows first, first + 1, ..., first + n - 1 of a column, valid until the next call
RankSlab scatter(comm::Communicator& ranks, const std::vector<index_t>& bounds, const std::vector<Column>& columns,
                 const std::function<const void*(Column column, index_t first, index_t n)>& read);

class RankSlabs {
   public:
    /// Collective. Checks the particles. @param slab  of this rank; slabs may be empty, but not all of them
    /// @throws InputError on every rank: unusable particles, with the rank that has them
    RankSlabs(comm::Communicator& ranks, RankSlab slab);

    const SlabFacts& facts() const { return facts_; }
    index_t total() const { return bounds_.back(); }
    comm::Communicator& ranks() const { return ranks_; }
    /// Whether the slabs have accelerations, at the start or since the last take_back().
    bool accelerated() const { return accelerated_; }
    const RankSlab& slab() const { return slab_; }

    /// Takes the present positions, velocities and accelerations back from the workers of all ranks. Collective.
    /// @param number  of the particles in the arrays among all particles; empty: those of this slab in order
    /// @param acceleration  may be empty, on all ranks
    /// @return whether all positions and velocities of all ranks are finite
    bool take_back(const std::vector<std::uint32_t>& number, std::vector<Vec3<double>> position, std::vector<Vec3<double>> velocity,
                   std::vector<Vec3<float>> acceleration);

    /// Largest host memory of the process of each rank so far [byte]. Collective.
    std::vector<std::uint64_t> peak_memory() const;

    /// Copies the rows first, first + 1, ..., first + n - 1 of a column to the root rank. Collective. @param to  not used on other ranks
    void rows(Column column, index_t first, index_t n, void* to) const;

   private:
    void find_facts();
    int rank_of(index_t particle) const;
    const void* values(Column column) const;

    comm::Communicator& ranks_;
    RankSlab slab_;
    std::vector<index_t> bounds_;  ///< first particle of each rank, and the number of all
    SlabFacts facts_;
    bool accelerated_ = false;
};

}  // namespace kasane::gravity
