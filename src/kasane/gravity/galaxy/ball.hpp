// Uniform spheres that are not in equilibrium: virialised as a whole, or at rest. One particle at rest is a point mass.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <cstdint>

namespace kasane::gravity {

/// A sphere of uniform density.
struct Ball {
    /// Initial velocities.
    enum class Motion {
        uniform,  ///< uniform in a sphere of velocities up to sqrt(G mass / radius): 2K = |W|, but not a steady state
        cold,     ///< at rest
    };
    Motion motion = Motion::uniform;  ///< initial velocities
    index_t count = 0;                ///< number of particles, must be set: 1 to most_particles
    std::uint64_t seed = 1;           ///< of the random numbers
    double mass = 1;                  ///< total [mass], above 0
    double radius = 1;                ///< [length], above 0
    double G = 1;                     ///< gravitational constant [length^3 / (mass time^2)], above 0
    std::uint8_t type = 1;            ///< particle type of the GADGET convention
};

/// Draws the particles of a Ball: centre of mass at the origin and at rest, equal masses, ids 1..count. A particle is a function of
/// (ball, index), as with a Sampler. The constructor draws all particles once to find their mean, and stores none.
class BallSampler {
   public:
    /// @param ball  sphere to draw
    /// @param on  number of threads; the particles do not depend on it
    /// @param progress  called during the search of the mean; it may throw to stop the search
    /// @throws InputError: count below 1 or above most_particles; mass, radius or G not finite or not above 0; an unknown type
    explicit BallSampler(const Ball& ball, Cpu on = {}, const ProgressFunction& progress = {});

    /// Number of particles.
    index_t size() const { return ball_.count; }
    /// Resizes `into` to n and fills it with the particles first, first + 1, ..., first + n - 1.
    /// @param into  overwritten
    /// @param first  index of the first particle, 0 or more
    /// @param n  number of particles; first + n must not exceed size()
    void fill(Particles& into, index_t first, index_t n) const;

   private:
    Ball ball_;
    Cpu on_;
    Vec3<double> position_, velocity_;  // means of the drawn particles
};

/// Draws all particles of a ball. @throws InputError as BallSampler does
Particles sample(const Ball& ball, Cpu on = {});
/// Draws the particles first, first + 1, ..., first + n - 1 in one of several processes, which draw different particles at the same time
/// and cover the ball together. The particles are those of a BallSampler, bit by bit, each drawn once. The processes add their particles to
/// the mean one after the other.
/// @param first  0 or more   @param n  may be 0; first + n must not exceed the number of particles
/// @param add  called in each process, as often as there are processes with particles, with 13 numbers
/// @throws InputError as BallSampler does
Particles sample(const Ball& ball, Cpu on, index_t first, index_t n, const AddOverProcesses& add, const ProgressFunction& progress = {});

}  // namespace kasane::gravity
