// Derived quantities of a galaxy for tables and facts: its disks as weighted points, forces and potential in the plane of the disks.
// Units: the galaxy's own, G = 1.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

/// A quadrature node of a disk; it represents both sides of the plane.
struct DiskNode {
    double R = 0, z = 0, mass = 0;
    double radius() const;
};

class Survey {
   public:
    /// @param galaxy  must outlive the survey
    explicit Survey(const Galaxy& galaxy, Cpu on = {});

    /// Number of the disk that is component k of the model; -1: the component is not a disk.
    int disk_of(std::size_t component) const { return disk_of_[component]; }
    /// Quadrature of a disk's mass: sums over the nodes are integrals of rho dV. Sorted by distance from the centre.
    const std::vector<DiskNode>& nodes(int disk) const { return nodes_[static_cast<std::size_t>(disk)]; }
    /// Radius of the sphere that encloses the fraction `share` of component k; 0 for black holes.
    double radius_holding(std::size_t component, double share) const;

    /// Psi > 0 of all components in the plane, and the square of the circular speed (below 0 where the force points outwards).
    double psi(double R) const;
    double circular_speed2(double R) const;

   private:
    const Galaxy* galaxy_;
    std::vector<int> disk_of_;
    std::vector<std::vector<DiskNode>> nodes_;
    std::vector<std::vector<double>> cumulated_;         // cumulative masses of the nodes
    std::unique_ptr<const SphericalPotential> spheres_;  // null: none
};

/// Mean square velocity of component k, a sphere, at r: <v^2> = sigma_r^2 + 2 sigma_t^2.
double mean_speed2(const Galaxy& galaxy, std::size_t component, double r);
/// Mean square velocity of a disk in the plane, with rotation.
double mean_speed2(const DiskAt& disk);

}  // namespace kasane::gravity
