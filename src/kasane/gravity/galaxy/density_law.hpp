// The density of a spherical component as a function with its derivatives, and on which grid of radii it can be resolved.
#pragma once

#include <kasane/gravity/galaxy/component.hpp>

#include <functional>

namespace kasane::gravity {

/// A density and its derivatives by radius.
struct DensityAt {
    double rho, d, dd;
};

struct DensityLaw {
    std::function<DensityAt(double r)> at;  ///< r in [length]; truncation included, not normalised; safe to call from many threads
    double inner = 0;                       ///< less than 1e-11 of the mass lies inside it
    double outer = 0;                       ///< where the grid ends [length]
    bool finite = true;                     ///< nothing lies beyond outer; otherwise a power law (or faster fall) goes on for ever
    double step = 1. / 64;                  ///< of ln r, resolves the law and its edge
};

/// @param component a sphere without problems. @throws InputError when only numbers show that the law cannot be had (a deprojected
/// table whose density is not positive: where)
DensityLaw density_law(const Component& component);

}  // namespace kasane::gravity
