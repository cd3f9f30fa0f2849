// A galaxy in equilibrium: components in the potential of all of them, from which particles are drawn (sampler.hpp).
// Invariants: tables only, whatever the number of particles; safe to read from many threads.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>
#include <kasane/gravity/galaxy/disk/disk_system.hpp>
#include <kasane/gravity/galaxy/distribution.hpp>
#include <kasane/gravity/galaxy/component/mass_profile.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>
#include <kasane/gravity/galaxy/component/spherical_potential.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

/// Largest Clamped::fraction of a component that Galaxy accepts.
inline constexpr double clamped_limit = 0.01;

/// The components of a model in equilibrium.
class Galaxy {
   public:
    /// Computes densities, potential and distribution functions; cautions() lists the deviations from the model.
    /// @param model  description of the galaxy
    /// @param on  number of threads
    /// @param progress  called during the computation; may be empty
    /// @throws InputError: problems_of() is not empty, a second black hole, f < 0 for more than clamped_limit of a component's mass (with
    /// the component and the radius), or an error of density_law() or DiskSystem
    /// @throws ComputationError: an iteration or a quadrature does not converge (DiskSystem, DistributionFunction)
    explicit Galaxy(GalaxyModel model, Cpu on = {}, const ProgressFunction& progress = {});

    /// As given to the constructor.
    const GalaxyModel& model() const { return model_; }
    /// Number of particles of each component.
    const std::vector<index_t>& counts() const { return counts_; }
    index_t count() const;  ///< number of particles of all components
    /// Mass profile of a component; null for disks and black holes.
    const MassProfile* sphere(std::size_t component) const { return spheres_[component].get(); }
    /// Distribution function of a component; null for disks and black holes.
    const DistributionFunction* distribution(std::size_t component) const { return distributions_[component].get(); }
    /// All disks; null if the model has none.
    const DiskSystem* disks() const { return disks_.get(); }
    /// Potential of all components, of the disks by their spherical average; G = 1.
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
