// Spheres for the tests of gravity/galaxy: laws with known profiles and potentials, and integrals over velocities.
#pragma once

#include <kasane/gravity/galaxy/distribution.hpp>
#include <reference/spheres.hpp>

#include <cmath>
#include <functional>
#include <memory>
#include <ostream>
#include <vector>

namespace kasane::gravity {

using Profile = std::shared_ptr<const MassProfile>;
using Potential = std::shared_ptr<const SphericalPotential>;

inline void PrintTo(const Component& component, std::ostream* out) { *out << component.label(); }

inline Profile profile_of(const Component& component) {
    return std::make_shared<const MassProfile>(density_law(component), component.mass);
}
inline Potential potential_of(std::vector<Profile> profiles, double point_mass = 0) {
    return std::make_shared<const SphericalPotential>(std::move(profiles), point_mass);
}

/// A number with its first and second derivative by r.
struct Jet {
    double v = 0, d = 0, dd = 0;
    Jet(double value, double first = 0, double second = 0) : v(value), d(first), dd(second) {}
    friend Jet operator+(Jet a, Jet b) { return {a.v + b.v, a.d + b.d, a.dd + b.dd}; }
    friend Jet operator-(Jet a, Jet b) { return {a.v - b.v, a.d - b.d, a.dd - b.dd}; }
    friend Jet operator*(Jet a, Jet b) { return {a.v * b.v, a.d * b.v + a.v * b.d, a.dd * b.v + 2 * a.d * b.d + a.v * b.dd}; }
    friend Jet operator/(Jet a, Jet b) {
        const double v = a.v / b.v, d = (a.d - v * b.d) / b.v;
        return {v, d, (a.dd - 2 * d * b.d - v * b.dd) / b.v};
    }
    friend Jet sqrt(Jet a) {
        const double v = std::sqrt(a.v), d = a.d / (2 * v);
        return {v, d, (a.dd - 2 * d * d) / (2 * v)};
    }
};

/// A law without an end, given by its density as a function of Jets.
template <class Density>
DensityLaw law_of(Density density, double inner, double outer) {
    const auto at = [density](double r) {
        const Jet rho = density(Jet(r, 1));
        return DensityAt{rho.v, rho.d, rho.dd};
    };
    return {at, inner, outer, false, 1. / 64};
}

/// Int u^power f(Psi - u^2/2) du over all speeds at r, by Simpson's rule over the turning radius of u, dense at small u.
inline double moment(const DistributionFunction& f, const SphericalPotential& potential, double r, int power, double outer) {
    const double psi = potential.psi(r), end = std::log(outer / r) + 30;
    const auto integrand = [&](double s) {
        if (s == 0) return 0.;
        const double x = end * s * s * s * s, fall = potential.drop(r, x), u = std::sqrt(2 * fall), turn = r * std::exp(x);
        // u du = -dPsi = M/r dx
        return std::pow(u, power - 1) * f(psi - fall) * potential.mass(turn) / turn * 4 * end * s * s * s;
    };
    return reference::simpson(integrand, 0, 1, 3000);
}

/// The density of the component that f makes at r.
inline double density_of(const DistributionFunction& f, const SphericalPotential& potential, double r, double outer,
                         double anisotropy_radius = 0) {
    const double stretch = anisotropy_radius > 0 ? 1 + r * r / (anisotropy_radius * anisotropy_radius) : 1;
    return 4 * reference::pi * moment(f, potential, r, 2, outer) / stretch;
}

}  // namespace kasane::gravity
