// Particles drawn from a galaxy.
// A particle is a function of (model, seed, index): a seed gives the same galaxy on any number of threads, and any range of particles can
// be drawn without the rest. On a CUDA device the particles are those of the CPU to rounding.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>
#include <kasane/gravity/particles/particles.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace kasane::gravity {

class Galaxy;

/// Draws the particles of a galaxy in the order of its components, with ids 1..N and equal masses within a component. The centre of mass of
/// every component is at the origin and at rest: the constructor draws all particles once to find the centres, and stores none.
class Sampler {
   public:
    /// @param galaxy  must outlive the Sampler
    /// @param on  number of threads; the particles do not depend on it
    /// @param progress  called during the search of the centres; may be empty
    explicit Sampler(const Galaxy& galaxy, Cpu on = {}, const ProgressFunction& progress = {});

    /// Number of particles of the galaxy.
    index_t size() const { return first_.back(); }
    /// Resizes `into` to n and fills it with the particles first, first + 1, ..., first + n - 1 of the galaxy.
    /// @param into  overwritten
    /// @param first  index of the first particle, 0 or more
    /// @param n  number of particles; first + n must not exceed size()
    void fill(Particles& into, index_t first, index_t n) const;

   private:
    std::size_t component_of(index_t particle) const;

    const Galaxy* galaxy_;
    Cpu on_;
    struct Draws;
    std::shared_ptr<const Draws> draws_;             // of each component
    std::vector<index_t> first_;                     // first particle of each component, and the number of all particles
    std::vector<Vec3<double>> position_, velocity_;  // of the components' centres of mass
};

/// Draws all particles at once: those of a Sampler, in half the time of its constructor and fill().
/// @param on  CPU, or a device that draws them: then they are those of a Sampler to rounding
Particles sample(const Galaxy& galaxy, const AnySpace& on = Cpu{}, const ProgressFunction& progress = {});
/// Adds arrays of the same length over all processes that draw a galaxy together, in place on each.
using AddOverProcesses = std::function<void(View<double>)>;
/// Draws the particles first, first + 1, ..., first + n - 1 of a galaxy in one of several processes, which draw different particles at the
/// same time and cover the galaxy together. The particles are those of a Sampler, whatever the division (on a device to rounding). Each
/// process sums blocks of its own particles for the centres of mass; no process has all particles.
/// @param first  0 or more   @param n  may be 0; first + n must not exceed the number of particles of the galaxy
/// @param add  called once in each process, with six numbers for every 4096 particles of the galaxy
Particles sample(const Galaxy& galaxy, const AnySpace& on, index_t first, index_t n, const AddOverProcesses& add,
                 const ProgressFunction& progress = {});
/// Makes a Galaxy of the model, logs its cautions() as warnings, and draws all particles. @throws InputError, ComputationError as Galaxy
/// does
Particles sample(const GalaxyModel& model, const AnySpace& on = Cpu{}, const ProgressFunction& progress = {});
/// Draws all particles of a galaxy of one component.
/// @param component  must have a count or a particle_mass
/// @param seed  of the random numbers
/// @param G  gravitational constant [length^3 / (mass time^2)]
/// @param on  CPU or device, as above
/// @throws InputError with the keys of the component ("mass", "truncation")
/// @throws ComputationError as Galaxy does
Particles sample(const Component& component, std::uint64_t seed = 1, double G = 1, const AnySpace& on = Cpu{});

/// Options of plummer(). The defaults are standard N-body units: G = M = 1, E = -1/4.                     [Heggie & Mathieu 1986]
struct PlummerOptions {
    index_t count = 0;                      ///< number of particles, must be set: 1 to most_particles
    std::uint64_t seed = 1;                 ///< of the random numbers
    double mass = 1;                        ///< total [mass], above 0
    double scale = 0.58904862254808623221;  ///< Plummer radius [length], above 0; default: 3 pi / 16
    double G = 1;                           ///< gravitational constant [length^3 / (mass time^2)], above 0
};
/// Draws a Plummer sphere in equilibrium on all threads. @throws InputError: an option out of range
Particles plummer(const PlummerOptions& options);

}  // namespace kasane::gravity
