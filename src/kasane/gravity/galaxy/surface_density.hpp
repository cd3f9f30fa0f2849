// The surface density Sigma(R) of disks and of the laws that are deprojected, with derivatives; truncation included, not normalised.
#pragma once

#include <kasane/gravity/galaxy/component.hpp>

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

/// Where nothing of a disk is left in double precision: less than 1e-16 of its mass lies beyond [length].
double surface_end(const Component& component);

/// 2 pi Int_0^R Sigma R dR in the unit of surface_density(), relative error about 1e-12; everything with R = surface_end().
double surface_mass(const Component& component, double R);

/// b of Sersic's law: half of the projected mass lies inside the scale. The root of P(2n, b) = 1/2.              [Ciotti 1991]
double sersic_b(double n);

}  // namespace kasane::gravity
