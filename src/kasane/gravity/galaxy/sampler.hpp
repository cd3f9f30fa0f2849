// Particles drawn from a galaxy.
// A particle is a function of (model, seed, index): a seed gives the same galaxy on any number of threads, and any part of it can be
// made without the rest.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/galaxy/component.hpp>
#include <kasane/gravity/particles.hpp>

#include <vector>

namespace kasane::gravity {

class Galaxy;

/// The particles of a galaxy, in the order of its components, ids 1..N, equal masses within a component. Every component's centre of
/// mass is at the origin and at rest: the constructor goes through all particles once to find it, and needs no memory for them.
class Sampler {
   public:
    /// The galaxy must outlive this.
    explicit Sampler(const Galaxy& galaxy, Cpu on = {}, const ProgressFunction& progress = {});

    index_t size() const { return first_.back(); }
    /// Fills `into` (resized) with the particles first, first + 1, ..., first + n - 1 of the galaxy.
    void fill(Particles& into, index_t first, index_t n) const;

   private:
    friend Particles sample(const Galaxy&, Cpu, const ProgressFunction&);
    /// Keeps the particles in `all` on the way where given, already moved to the centres of mass.
    Sampler(const Galaxy& galaxy, Cpu on, const ProgressFunction& progress, Particles* all);
    /// Everything but positions and velocities of the particles first, first + 1, ...
    void label(Particles& into, index_t first) const;
    std::size_t component_of(index_t particle) const;

    const Galaxy* galaxy_;
    Cpu on_;
    std::vector<index_t> first_;                     // particle of each component, and the end
    std::vector<Vec3<double>> position_, velocity_;  // of the components' centres of mass, as drawn
};

/// All particles at once: the Sampler's, in half its time.
Particles sample(const Galaxy& galaxy, Cpu on = {}, const ProgressFunction& progress = {});
/// Logs the cautions() of the galaxy as warnings. @throws as Galaxy does
Particles sample(const GalaxyModel& model, Cpu on = {}, const ProgressFunction& progress = {});
/// A galaxy of one component. @throws InputError with the component's own keys ("mass", "truncation")
Particles sample(const Component& component, std::uint64_t seed = 1, double G = 1, Cpu on = {});

/// Plummer sphere; defaults are standard N-body units: G = M = 1, E = -1/4.                     [Heggie & Mathieu 1986]
struct PlummerOptions {
    index_t count = 0;
    std::uint64_t seed = 1;
    double mass = 1;
    double scale = 0.58904862254808623221;  ///< 3 pi / 16
    double G = 1;
};
Particles plummer(const PlummerOptions& options);

}  // namespace kasane::gravity
