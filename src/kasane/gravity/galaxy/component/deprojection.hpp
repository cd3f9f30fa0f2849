// The spherical density whose projection is a given surface density, computed by Abel's integral and tabulated with its derivatives.
// With q = r^2 and Q = R^2 the integral commutes with d/dq, so that the derivatives lose no digits at a core or a cusp:
//   d^k rho / dq^k = -1/pi Int_q^inf  d^(k+1) Sigma / dQ^(k+1)  dQ / sqrt(Q - q)               [Binney & Tremaine 2008, eq. B.72]
#pragma once

#include <kasane/core/math/quintic.hpp>
#include <kasane/gravity/galaxy/component/laws.hpp>

#include <functional>
#include <vector>

namespace kasane::gravity {

struct Projection {
    /// Sigma and Q^k d^k Sigma / dQ^k as a function of R.
    std::function<ScaledDerivatives(double R)> at;
    /// Radii where the third derivative jumps, ascending; empty for an analytic law.
    std::vector<double> kinks;
};

class Deprojection {
   public:
    /// @param first, last  radii that the table spans at least; power laws beyond them
    /// @throws InputError (key "table"): the density at some radius is not positive
    Deprojection(const Projection& projection, double first, double last);

    /// rho, r rho', r^2 rho'' in the unit of Sigma / length (the third derivative is set to 0). Each is the exact derivative of the
    /// one before it; the relative error of rho is about 1e-12 for analytic laws.
    ScaledDerivatives operator()(double r) const {
        const auto [log_rho, s, ds] = table_(std::log(r));
        const double rho = std::exp(log_rho);
        return {rho, rho * s, rho * (s * s - s + ds), 0};
    }

    /// rho, q rho', q^2 rho'' by q at one radius, by quadrature.
    static ScaledDerivatives integral(const Projection& projection, double r);

   private:
    UniformQuintic table_;  // ln rho as a function of ln r
};

/// Sersic's law in units of its scale, exp(-b_n (R^(1/n) - 1)).
Projection sersic_projection(double n);
/// A table's spline with power laws beyond its ends.
Projection table_projection(const Table& table);

}  // namespace kasane::gravity
