// A galaxy seen from outside, for tables and facts: its disks as weighted points, its forces and potential in the plane of the disks.
// Units: the galaxy's own, G = 1.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity {

/// A piece of a disk, both sides of the plane together.
struct DiskNode {
    double R = 0, z = 0, mass = 0;
    double radius() const;
};

class Survey {
   public:
    /// The galaxy must outlive this.
    explicit Survey(const Galaxy& galaxy, Cpu on = {});

    /// The disk that is component k of the model; -1: it is none.
    int disk_of(std::size_t component) const { return disk_of_[component]; }
    /// Quadrature of a disk's mass: sums over the nodes are integrals of rho dV. By distance from the centre.
    const std::vector<DiskNode>& nodes(int disk) const { return nodes_[static_cast<std::size_t>(disk)]; }
    /// Radius of the sphere that holds `share` of component k; 0 for black holes.
    double radius_holding(std::size_t component, double share) const;

    /// Of everything in the plane: Psi > 0, and the circular speed squared (below 0 where the pull is outward).
    double psi(double R) const;
    double circular_speed2(double R) const;

   private:
    const Galaxy* galaxy_;
    std::vector<int> disk_of_;
    std::vector<std::vector<DiskNode>> nodes_;
    std::vector<std::vector<double>> cumulated_;         // of the nodes' masses
    std::unique_ptr<const SphericalPotential> spheres_;  // null: none
};

/// What component k, a sphere, has in velocities at r: <v^2> = sigma_r^2 + 2 sigma_t^2.
double mean_speed2(const Galaxy& galaxy, std::size_t component, double r);
/// The same for a disk in the plane, rotation included.
double mean_speed2(const DiskAt& disk);

}  // namespace kasane::gravity
