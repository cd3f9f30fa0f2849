#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/distribution.hpp>

#include <cmath>

namespace kasane::gravity {

Dispersions jeans_dispersions(const MassProfile& density, const SphericalPotential& potential, double anisotropy_radius, double r) {
    const double rho = density.density(r).rho;
    if (!(rho > 0)) return {};
    // sigma_r^2 = Int_r^inf g rho M / r^2 dr / (g rho), ln g = 2 Int beta/r dr: g = r^2 + r_a^2, over x = ln(r' / r).
    const double a2 = anisotropy_radius * anisotropy_radius;
    const auto g = [&](double s) { return a2 > 0 ? s * s + a2 : 1; };
    const auto integrand = [&](double x) {
        const double s = r * std::exp(x);
        return g(s) * density.density(s).rho * potential.mass(s) / s;
    };
    // Without an end the integrand falls as r^-2 or faster, by e^-25 over this range of ln r.
    const double x_end = std::log(density.outer() / r) + (density.finite() ? 0 : 12.5);
    if (x_end <= 0) return {};
    const double radial2 = integrate(integrand, 0, x_end, 1e-9).value / (g(r) * rho);
    return {radial2, a2 > 0 ? radial2 * a2 / (a2 + r * r) : radial2};
}

}  // namespace kasane::gravity
