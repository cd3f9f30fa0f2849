// A galaxy in equilibrium: components in the potential of all of them, from which particles are drawn.
// A particle is a function of (model, seed, index): a seed gives the same galaxy on any number of threads, and any part of it can be
// made without the rest.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/component.hpp>
#include <kasane/gravity/galaxy/disk/disk_system.hpp>
#include <kasane/gravity/galaxy/distribution.hpp>
#include <kasane/gravity/galaxy/mass_profile.hpp>
#include <kasane/gravity/galaxy/spherical_potential.hpp>
#include <kasane/gravity/particles.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

/// Share of a component's mass that a clamped distribution function may touch.
inline constexpr double clamped_limit = 0.01;

/// What a model's components are in equilibrium.
class Galaxy {
   public:
    /// @throws InputError as problems_of does, when f < 0 for more than clamped_limit of a component's mass (naming the component and
    /// the radius), as DiskSystem does; ComputationError as DistributionFunction does
    explicit Galaxy(GalaxyModel model, Cpu on = {}, const ProgressFunction& progress = {});

    const GalaxyModel& model() const { return model_; }
    const std::vector<index_t>& counts() const { return counts_; }
    index_t count() const;  ///< of all components
    /// Null for disks and black holes.
    const MassProfile* sphere(std::size_t component) const { return spheres_[component].get(); }
    const DistributionFunction* distribution(std::size_t component) const { return distributions_[component].get(); }
    /// Null when there is no disk.
    const DiskSystem* disks() const { return disks_.get(); }
    /// Of everything, the disks by their spherical average; G = 1.
    const SphericalPotential& potential() const { return *potential_; }

   private:
    GalaxyModel model_;
    std::vector<index_t> counts_;
    std::vector<std::shared_ptr<const MassProfile>> spheres_;
    std::vector<std::unique_ptr<const DistributionFunction>> distributions_;
    std::unique_ptr<const DiskSystem> disks_;
    std::shared_ptr<const SphericalPotential> potential_;
};

/// The particles of a galaxy, in the order of its components, ids 1..N, equal masses within a component. Every component's centre of
/// mass is at the origin and at rest: the constructor goes through all particles once to find it.
class Sampler {
   public:
    /// The galaxy must outlive this.
    explicit Sampler(const Galaxy& galaxy, Cpu on = {}, const ProgressFunction& progress = {});

    index_t size() const;
    /// Fills `into` (resized) with the particles first, first + 1, ..., first + n - 1 of the galaxy.
    void fill(Particles& into, index_t first, index_t n) const;

   private:
    const Galaxy* galaxy_;
    Cpu on_;
    std::vector<Vec3<double>> position_, velocity_;  // of the components' centres of mass, as drawn
};

/// All particles at once.
Particles sample(const Galaxy& galaxy, Cpu on = {}, const ProgressFunction& progress = {});
Particles sample(const GalaxyModel& model, Cpu on = {}, const ProgressFunction& progress = {});
/// A galaxy of one component.
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
