// The surface density Sigma(R) of disks and of the laws that are deprojected, with derivatives; truncation included, not normalised.
#pragma once

#include <kasane/gravity/galaxy/component/component.hpp>

#include <functional>

namespace kasane::gravity {

/// A surface density and its derivatives by radius.
struct SurfaceDensityAt {
    double sigma, d, dd, ddd;
};

/// Sigma(R) of an ExponentialDisk, SersicDisk or TabulatedDisk; R > 0 in [length] (R = 0 is taken as the least positive number).
/// Safe to call from many threads.
/// @param component a disk without problems
std::function<SurfaceDensityAt(double R)> surface_density(const Component& component);

/// Radius beyond which a disk has less than 1e-16 of its mass [length].
double surface_end(const Component& component);

/// Mass inside R, 2 pi Int_0^R Sigma R dR, in the unit of surface_density(); relative error about 1e-12. The total for R = surface_end().
double surface_mass(const Component& component, double R);

/// b of Sersic's law, for which half of the projected mass is inside the scale: the root of P(2n, b) = 1/2.      [Ciotti 1991]
double sersic_b(double n);

}  // namespace kasane::gravity
