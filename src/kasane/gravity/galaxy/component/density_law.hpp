// The density of a spherical component as a function with its derivatives, and the grid of radii that resolves it.
#pragma once

#include <kasane/gravity/galaxy/component/component.hpp>

#include <functional>

namespace kasane::gravity {

/// A density and its derivatives with respect to the radius.
struct DensityAt {
    double rho,  ///< density [mass / length^3]; of a DensityLaw, up to a factor
        d,       ///< d rho / dr
        dd;      ///< d^2 rho / dr^2
};

/// A spherical density as a function, and the logarithmic grid of radii on which it is tabulated.
struct DensityLaw {
    std::function<DensityAt(double r)> at;  ///< density at r > 0 [length], with truncation, not normalised; safe to call from many threads
    double inner = 0;                       ///< radius where the grid begins [length]; less than 1e-11 of the mass is inside it
    double outer = 0;                       ///< radius where the grid ends [length]
    bool finite = true;                     ///< the density is 0 beyond outer; otherwise it continues as a power law or falls faster
    double step = 1. / 64;                  ///< largest step of the grid in ln r; resolves the law and its edge
};

/// The density of a component, with its truncation.
/// @param component  a sphere for which problems_of() is empty
/// @throws InputError: the computation shows that the law has no density (a deprojected table whose density is not positive, with the
/// radius)
DensityLaw density_law(const Component& component);

}  // namespace kasane::gravity
