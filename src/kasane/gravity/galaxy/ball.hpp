// Uniform spheres that are in no equilibrium: balanced as a whole, or at rest. One particle at rest is a point.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/particles.hpp>

#include <cstdint>

namespace kasane::gravity {

struct Ball {
    enum class Motion {
        uniform,  ///< velocities uniform in a ball, 2K = |W|: balanced as a whole, not steady
        cold,     ///< at rest
    };
    Motion motion = Motion::uniform;
    index_t count = 0;
    std::uint64_t seed = 1;
    double mass = 1;    ///< total [mass]
    double radius = 1;  ///< [length]
    double G = 1;
    std::uint8_t type = 1;
};

/// Its particles: centre of mass at the origin and at rest, equal masses, ids 1..count. A particle is a function of (ball, index), as
/// those of a Sampler are; the constructor goes through all of them once to find their mean, and keeps none.
class BallSampler {
   public:
    /// @param progress  may throw to stop
    /// @throws InputError: count below 1 or above most_particles; mass, radius or G not finite or not above 0; an unknown type
    explicit BallSampler(const Ball& ball, Cpu on = {}, const ProgressFunction& progress = {});

    index_t size() const { return ball_.count; }
    /// Fills `into` (resized) with the particles first, first + 1, ..., first + n - 1.
    void fill(Particles& into, index_t first, index_t n) const;

   private:
    void draw(Particles& into, index_t first) const;

    Ball ball_;
    Cpu on_;
    Vec3<double> position_, velocity_;  // means of what is drawn
};

/// All at once. @throws as BallSampler does
Particles sample(const Ball& ball, Cpu on = {});

}  // namespace kasane::gravity
