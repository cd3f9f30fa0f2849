// All disks of a galaxy in their own potential and that of the spheres: vertical structure iterated to self-consistency, velocity
// ellipsoids and rotation.                                                                    [Miki & Umemura 2018, MAGI, section 2.3]
// Motion in the plane follows Dehnen's distribution function in the mean dPhi/dR of the column, which satisfies the radial Jeans equation
// of the column; stars are drawn phase-mixed. Vertical motion follows the isothermal sheet. Where v_phi^2 must depend on height, it is
// linear in the vertical energy of a star, so that stars stay phase-mixed: this satisfies the Jeans equation at a height to about 1%. The
// velocity ellipsoid is aligned with the cylindrical axes (no cross term). sigma_R is limited to 0.95 of its value without rotation.
// Units: G = 1, lengths and masses as the model's; Psi = -Phi > 0. Speeds times sqrt(G) are the model's. The plane is z = 0.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>
#include <kasane/gravity/galaxy/component/density_law.hpp>
#include <kasane/gravity/galaxy/component/spherical_potential.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace kasane::gravity {

/// A disk at one radius of the plane.
struct DiskAt {
    double surface_density = 0;  ///< [mass / length^2]
    double height = 0;           ///< height where the density is 1/e of that in the plane [length]
    double sigma_R = 0;          ///< radial velocity dispersion [sqrt(mass / length), G = 1]
    double sigma_phi = 0;        ///< azimuthal velocity dispersion [sqrt(mass / length), G = 1]
    double sigma_z = 0;          ///< vertical velocity dispersion, constant along z [sqrt(mass / length), G = 1]
    double circular_speed = 0;   ///< in the plane, from disks and spheres [sqrt(mass / length), G = 1]; 0 where the force points outwards
    double rotation = 0;         ///< mean v_phi in the plane of the prograde particles [sqrt(mass / length), G = 1]
    double omega = 0;            ///< circular frequency [sqrt(mass / length^3), G = 1]
    double kappa = 0;            ///< epicyclic frequency [sqrt(mass / length^3), G = 1]
    double toomre_q = 0;         ///< Toomre's Q = sigma_R kappa / (3.36 Sigma), G = 1
};

/// The disks of a galaxy in equilibrium. The argument `disk` of the functions is the number of a disk among the disks, 0 ... size() - 1.
class DiskSystem {
   public:
    /// @param model  a galaxy for which problems_of() is empty; its disks are used, in their order
    /// @param spheres  potential of all spheres and of the black hole; null: there are none
    /// @param on  number of threads
    /// @param progress  called during the iteration; may be empty
    /// @throws InputError: a Q that cannot be reached, with the radius and the largest Q there (key "components.3.disk.toomre_q"), or a
    /// disk without circular orbits at a radius (key "components.3.mass")
    /// @throws ComputationError: the iteration does not converge
    DiskSystem(const GalaxyModel& model, std::shared_ptr<const SphericalPotential> spheres, Cpu on = {},
               const ProgressFunction& progress = {});
    ~DiskSystem();
    /// The source of the move may only be destroyed.
    DiskSystem(DiskSystem&&) noexcept;

    std::size_t size() const;                       ///< number of disks
    std::size_t component(std::size_t disk) const;  ///< index of the disk in GalaxyModel::components

    /// Density of one disk at (R, z) [mass / length^3].
    double density(std::size_t disk, double R, double z) const;
    /// Psi = -Phi of all disks together at (R, z), without the spheres [mass / length].
    double psi(double R, double z) const;
    /// An acceleration in cylindrical coordinates.
    struct Pull {
        double R = 0;  ///< radial component, below 0 towards the axis [mass / length^2]
        double z = 0;  ///< vertical component, below 0 downwards [mass / length^2]
    };
    /// Acceleration by all disks and spheres at (R, z), G = 1.
    Pull pull(double R, double z) const;

    /// Squares of the circular speed in the plane due to one disk alone [mass / length, G = 1]; below 0 where the disk attracts outwards.
    /// The values of all disks and of the spheres add up to -R pull(R, 0).R.
    /// @param disk  number of the disk
    /// @param radius  radii R [length]
    /// @throws ComputationError: the potential of the disk cannot be solved for
    std::vector<double> own_circular_speed2(std::size_t disk, const std::vector<double>& radius) const;

    /// Structure and motion of a disk at the radius R [length] of the plane.
    DiskAt at(std::size_t disk, double R) const;
    /// Mean v_phi of the prograde particles at (R, z) [sqrt(mass / length), G = 1].
    double rotation(std::size_t disk, double R, double z) const;
    /// The smallest Toomre Q of a disk.
    struct LeastQ {
        double toomre_q = 0;  ///< smallest Q at the cell centres of the grid inside the disk's edge
        double radius = 0;    ///< R of this Q [length]
    };
    /// Finds the smallest Toomre Q of a disk.
    LeastQ least_q(std::size_t disk) const;
    /// Relative deviations of the planar distribution function from the requested disk, as means over the mass. Below 1e-4 unless the disk
    /// is hot or ends sharply.
    struct Misses {
        double surface_density = 0;  ///< of the surface density that the distribution function gives
        double sigma_R2 = 0;         ///< of the square of the radial velocity dispersion
    };
    /// Deviations of one disk.
    Misses misses(std::size_t disk) const;

    /// Spherical average of the density of all disks. Its derivatives are not computed: d and dd are 0.
    DensityLaw averaged() const;
    /// Mass of all disks [mass].
    double total_mass() const;

    /// Iterations of density and potential on all grids; on each grid until both change by less than 1e-4.
    int iterations() const;
    /// Iterations of the conjugate gradients in all iterations.
    int solver_iterations() const;

   private:
    friend struct DiskDraw;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::gravity
