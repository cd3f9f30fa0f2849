// All disks of a galaxy in the potential of themselves and of its spheres: vertical structure iterated to self-consistency, velocity
// ellipsoids, rotation, and particles drawn from them.                                        [Miki & Umemura 2018, MAGI, section 2.3]
// In the plane stars move by Dehnen's distribution function, drawn mixed in phase, in the column's mean of dPhi/dR, which closes the
// radial Jeans equation of the column; vertically by the isothermal sheet. Where v_phi^2 must differ with height it goes linearly with
// a star's vertical energy, so that it stays mixed: that closes the equation at a height to about 1%. The velocity ellipsoid lies along
// the cylinder's axes (no cross term). sigma_R is held below 0.95 of what it is without any rotation.
// Units: G = 1, lengths and masses as the model's; Psi = -Phi > 0. Speeds times sqrt(G) are the model's. The plane is z = 0.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/math/random.hpp>
#include <kasane/core/math/vec3.hpp>
#include <kasane/gravity/galaxy/component.hpp>
#include <kasane/gravity/galaxy/density_law.hpp>
#include <kasane/gravity/galaxy/spherical_potential.hpp>

#include <memory>

namespace kasane::gravity {

/// A disk at one radius of the plane.
struct DiskAt {
    double surface_density = 0;                      ///< [mass / length^2]
    double height = 0;                               ///< where the density has fallen by e [length]
    double sigma_R = 0, sigma_phi = 0, sigma_z = 0;  ///< velocity dispersions in the plane, G = 1
    double circular_speed = 0;                       ///< of everything, in the plane
    double rotation = 0;                             ///< mean v_phi in the plane, of the prograde part
    double omega = 0, kappa = 0;                     ///< circular and epicyclic frequency
    double toomre_q = 0;                             ///< sigma_R kappa / (3.36 Sigma)
};

struct PositionVelocity {
    Vec3<double> position, velocity;
};

class DiskSystem {
   public:
    /// @param model    a galaxy without problems; its disks are taken, in their order
    /// @param spheres  everything spherical in it; null: nothing
    /// @throws InputError (key "components.3.disk.toomre_q"): a Q that cannot be met, with where and what could be;
    /// ComputationError when the iteration does not converge
    DiskSystem(const GalaxyModel& model, std::shared_ptr<const SphericalPotential> spheres, Cpu on = {},
               const ProgressFunction& progress = {});
    ~DiskSystem();
    DiskSystem(DiskSystem&&) noexcept;

    std::size_t size() const;
    std::size_t component(std::size_t disk) const;  ///< its index in the model

    /// Density of one disk [mass / length^3].
    double density(std::size_t disk, double R, double z) const;
    /// Of all disks together, without the spheres.
    double psi(double R, double z) const;
    /// Acceleration of everything, disks and spheres: {R, z} components.
    struct Pull {
        double R = 0, z = 0;
    };
    Pull pull(double R, double z) const;

    /// Square of the circular speed in the plane that one disk alone gives, at these radii [G = 1]; below 0 where it attracts outwards.
    /// The disks' values and those of the spheres add up to -R pull(R, 0).R. @throws ComputationError
    std::vector<double> own_circular_speed2(std::size_t disk, const std::vector<double>& radius) const;

    DiskAt at(std::size_t disk, double R) const;
    /// Mean v_phi at a height [G = 1].
    double rotation(std::size_t disk, double R, double z) const;
    /// Least Q of a disk and where it is.
    struct LeastQ {
        double toomre_q = 0, radius = 0;
    };
    LeastQ least_q(std::size_t disk) const;
    /// How far its motions are from what was asked for, means over the mass, relative: the surface density that its distribution
    /// function keeps up against the one that is drawn, and sigma_R^2. Below 1e-4 unless the disk is hot or ends sharply.
    struct Misses {
        double surface_density = 0, sigma_R2 = 0;
    };
    Misses misses(std::size_t disk) const;

    /// Mass of all disks inside spheres, as a density law of its spherical average (d and dd are not needed and 0).
    DensityLaw averaged() const;
    double total_mass() const;

    /// A particle, before it is moved to the centre of mass.
    PositionVelocity draw(std::size_t disk, RandomStream& random) const;

    /// Iterations of density and potential until both changed by less than 1e-4, and of the conjugate gradients in all.
    int iterations() const;
    int solver_iterations() const;

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::gravity
