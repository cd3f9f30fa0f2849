// The colours of particles: stars and haloes apart when both are there, and each of several objects in a hue of its own.
// Membership goes by id, so a particle keeps its colour wherever it flies.
#pragma once

#include <kasane/gravity/particles.hpp>
#include <kasane/run/gravity/history.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run {

/// Tells which object (0, 1, ...) a particle belongs to.
class Membership {
   public:
    /// All particles are one object.
    Membership() = default;
    /// Objects of consecutive ids from 1, by their counts; those that lie about one centre, a halo and its disk, count as one.
    static Membership by_counts(const std::vector<std::int64_t>& counts, const gravity::Particles& particles);
    /// Two objects when the particles (the stars, if there are haloes too) form two clumps well apart, one object otherwise.
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
    double weight = 1;  ///< what its surface density is multiplied by before it is drawn
    bool dark = false;  ///< a halo beside stars
    std::int64_t count = 0;
};

struct Groups {
    static constexpr std::uint8_t hidden = 255;  ///< the group of particles that are not drawn

    std::vector<Group> group;
    Membership member;
    bool haloes_drawn = true;
    std::int64_t hidden_count = 0;

    /// The group of every particle, or `hidden`.
    std::vector<std::uint8_t> of(const gravity::Particles& particles) const;
};

/// From the first snapshot and what the run file says about objects.
Groups make_groups(const gravity::Particles& first, const History& history);

/// The centre of object `which`: the mean of ever smaller spheres about the last mean (Power et al. 2003), down to 1% of its
/// particles.
Vec3<double> center_of(const gravity::Particles& particles, const Membership& member, std::uint8_t which);

}  // namespace kasane::run
