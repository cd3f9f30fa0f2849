// The colours of particles: one group for each object, and one for haloes beside stars.
// A particle's group depends on its id, so that it keeps its colour when it moves.
#pragma once

#include <kasane/gravity/particles/particles.hpp>
#include <kasane/run/gravity/history.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run {

/// Assigns particles to objects 0, 1, ...
class Membership {
   public:
    /// All particles are one object.
    Membership() = default;
    /// Objects of consecutive ids from 1, by their counts. Objects about one centre (a halo and its disk) count as one.
    static Membership by_counts(const std::vector<std::int64_t>& counts, const gravity::Particles& particles);
    /// Two objects where the particles (the stars, if there are haloes too) form two separate clumps, otherwise one object.
    static Membership by_position(const gravity::Particles& particles);

    int objects() const { return objects_; }
    std::uint8_t of(std::uint64_t id) const;

   private:
    int objects_ = 1;
    std::vector<std::uint64_t> last_id_;  // by counts: the last id of each part,
    std::vector<std::uint8_t> object_;    // and the object it belongs to
    std::vector<std::uint64_t> second_;   // by position: ids of the second object, ascending
};

struct Group {
    std::string name;
    double hue = 0;     ///< degrees
    double weight = 1;  ///< factor of its surface density in the picture
    bool dark = false;  ///< a halo beside stars
    std::int64_t count = 0;
};

struct Groups {
    static constexpr std::uint8_t hidden = 255;  ///< the group of particles that are not drawn

    std::vector<Group> group;
    Membership member;
    bool haloes_drawn = true;
    std::int64_t hidden_count = 0;

    /// Whether each object is one particle, without motions inside.
    bool points() const {
        return std::ranges::all_of(group, [](const Group& g) { return g.count <= 1; });
    }
    /// The group of every particle, or `hidden`.
    std::vector<std::uint8_t> of(const gravity::Particles& particles) const;
};

/// Makes groups from the first snapshot and the [[object]] tables of the run file.
Groups make_groups(const gravity::Particles& first, const History& history);

/// The centre of object `which`: the centre of mass in a sphere that shrinks about the last centre (Power et al. 2003), down to 1% of its
/// particles.
Vec3<double> center_of(const gravity::Particles& particles, const Membership& member, std::uint8_t which);

}  // namespace kasane::run
