// A galaxy in equilibrium: components in the potential of all of them, from which particles are drawn (sampler.hpp).
// Invariants: tables only, whatever the number of particles; safe to read from many threads.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/component.hpp>
#include <kasane/gravity/galaxy/disk/disk_system.hpp>
#include <kasane/gravity/galaxy/distribution.hpp>
#include <kasane/gravity/galaxy/mass_profile.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>
#include <kasane/gravity/galaxy/spherical_potential.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

/// Share of a component's mass that a clamped distribution function may touch.
inline constexpr double clamped_limit = 0.01;

/// What a model's components are in equilibrium.
class Galaxy {
   public:
    /// What to know of the result: cautions().
    /// @throws InputError as problems_of does, for a second black hole, when f < 0 for more than clamped_limit of a component's mass
    /// (naming the component and the radius), as DiskSystem does; ComputationError as DistributionFunction does.
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

}  // namespace kasane::gravity
