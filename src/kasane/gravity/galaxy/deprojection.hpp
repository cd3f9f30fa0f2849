// The spherical density whose projection is a given surface density, by Abel's integral, tabulated with its derivatives.
// With q = r^2 and Q = R^2 the integral commutes with d/dq, so that no derivative loses digits at a core or a cusp:
//   d^k rho / dq^k = -1/pi Int_q^inf  d^(k+1) Sigma / dQ^(k+1)  dQ / sqrt(Q - q)               [Binney & Tremaine 2008, eq. B.72]
#pragma once

#include <kasane/core/math/quintic.hpp>
#include <kasane/gravity/galaxy/laws.hpp>

#include <functional>
#include <vector>

namespace kasane::gravity {

struct Projection {
    /// Sigma and Q^k d^k Sigma / dQ^k against R.
    std::function<ScaledDerivatives(double R)> at;
    /// Radii where its third derivative jumps, ascending; empty for a law that is analytic.
    std::vector<double> kinks;
};

class Deprojection {
   public:
    /// @param first, last  radii that the table spans at least; power laws beyond them
    /// @throws InputError (key "table"): the density at some radius is not positive
    Deprojection(const Projection& projection, double first, double last);

    /// rho, r rho', r^2 rho'' in the unit of Sigma / length (the third derivative is not needed and 0). Each the exact derivative of
    /// the one before; relative error of rho about 1e-12 for analytic laws.
    ScaledDerivatives operator()(double r) const {
        const auto [log_rho, s, ds] = table_(std::log(r));
        const double rho = std::exp(log_rho);
        return {rho, rho * s, rho * (s * s - s + ds), 0};
    }

    /// rho, q rho', q^2 rho'' by q at one radius, by quadrature.
    static ScaledDerivatives integral(const Projection& projection, double r);

   private:
    UniformQuintic table_;  // ln rho of ln r
};

/// Sersic's law in units of its scale, exp(-b_n (R^(1/n) - 1)).
Projection sersic_projection(double n);
/// A table's spline with power laws beyond its ends.
Projection table_projection(const Table& table);

}  // namespace kasane::gravity
