// King's lowered isothermal sphere: W(x) = Psi/sigma^2 against x = r / core radius from Poisson's equation, density and derivatives.
// Invariants: W falls from W0 at the centre to 0 at the tidal radius; the density is 0 beyond it.                       [King 1966]
#pragma once

#include <kasane/core/math/quintic.hpp>
#include <kasane/gravity/galaxy/component/laws.hpp>

namespace kasane::gravity {

/// The density at W in the unit of the distribution function, and its derivatives by W.     [Binney & Tremaine 2008, eq. 4.111]
/// rho(W) = e^W erf(sqrt W) - sqrt(4 W / pi) (1 + 2 W / 3), 0 for W <= 0; relative error a few roundings.
struct KingDensity {
    double rho, d, dd;
};
KingDensity king_density(double w);

class KingSphere {
   public:
    /// @param w0  0.1 to 16
    explicit KingSphere(double w0);

    double tidal_radius() const { return tidal_; }  ///< in core radii
    /// W; relative error about 1e-12.
    double w(double x) const { return potential(x).w; }
    /// The density in units of the central density, and x^n rho^(n), n <= 2 (the third derivative is set to 0).
    ScaledDerivatives operator()(double x) const;

   private:
    struct Potential {
        double w, slope;  // slope: d W / d ln x
    };
    Potential potential(double x) const;

    double w0_, central_;  // central_: rho(W0)
    double c4_, c6_;       // W = W0 - 3/2 x^2 + c4 x^4 + c6 x^6 + ...
    double tidal_ = 0;
    UniformQuintic inner_;  // W as a function of ln x
    UniformQuintic pull_;   // -d W / d ln x / x^2 = M / x^3 as a function of ln x; loses no digits in the core
    UniformQuintic outer_;  // W as a function of sqrt(1 - x / tidal), in which it is analytic up to the edge
};

}  // namespace kasane::gravity
