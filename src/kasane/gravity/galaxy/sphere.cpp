#include <kasane/core/base/error.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/sphere.hpp>

#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::gravity {

Sphere::Sphere(Density density, double inner, double outer, double step, bool finite) : density_(std::move(density)) {
    const double first = std::log(inner);
    const auto n = static_cast<std::size_t>(std::ceil((std::log(outer) - first) / step)) + 1;
    const auto x = [&](std::size_t i) { return first + step * static_cast<double>(i); };
    constexpr double sphere = 4 * std::numbers::pi;
    const auto shell = [&](double r) { return sphere * r * r * density_(r).rho; };  // dM/dr
    const double end = std::exp(x(n - 1));

    // Mass grows outwards and Psi inwards from the small end of each, so that neither loses digits.
    std::vector<double> mass(n), psi(n), depth(n), slope(n);
    mass[0] = integrate(shell, 0, inner, 1e-13).value;
    for (std::size_t i = 1; i < n; ++i) {
        mass[i] = mass[i - 1] + integrate_short([&](double t) { return std::exp(t) * shell(std::exp(t)); }, x(i - 1), x(i));
    }
    // Beyond the grid, with u = 1/r: the mass and its potential at the end.
    const auto beyond = [&](double power) {
        if (finite) return 0.;
        const auto integrand = [&](double u) {
            const double rho = density_(1 / u).rho;  // 0 where it underflows, and u^power with it
            return rho > 0 ? sphere * rho / std::pow(u, power) : 0;
        };
        return integrate(integrand, 0, 1 / end, 1e-12).value;
    };
    const double total = mass[n - 1] + beyond(4);
    normalisation_ = 1 / total;
    for (auto& m : mass) m /= total;

    std::vector<double> log_mass(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double r = std::exp(x(i));
        log_mass[i] = std::log(mass[i]);
        slope[i] = r * shell(r) / total / mass[i];
    }
    mass_ = UniformHermite(first, step, log_mass, slope);

    const auto pull = [&](double t) { return std::exp(mass_(t) - t); };  // -dPsi/dln r = M/r
    psi[n - 1] = mass[n - 1] / end + beyond(3) / total;
    // Int_0^inner M/r^2 dr by parts.
    depth[0] = integrate([&](double r) { return sphere * r * density_(r).rho / total; }, 0, inner, 1e-13).value - mass[0] / inner;
    std::vector<double> fall(n);
    for (std::size_t i = 1; i < n; ++i) fall[i] = integrate_short(pull, x(i - 1), x(i));
    for (std::size_t i = 1; i < n; ++i) depth[i] = depth[i - 1] + fall[i];
    for (std::size_t i = n - 1; i > 0; --i) psi[i - 1] = psi[i] + fall[i];

    const auto table = [&](auto value, auto derivative) {
        std::vector<double> values(n), slopes(n);
        for (std::size_t i = 0; i < n; ++i) values[i] = value(i), slopes[i] = derivative(i);
        return UniformHermite(first, step, values, slopes);
    };
    psi_ = table([&](std::size_t i) { return std::log(psi[i]); }, [&](std::size_t i) { return -pull(x(i)) / psi[i]; });
    depth_ = table([&](std::size_t i) { return std::log(depth[i]); }, [&](std::size_t i) { return pull(x(i)) / depth[i]; });
    energy_ = table([&](std::size_t i) { return std::log(depth[i] / psi[i]); },
                    [&](std::size_t i) { return pull(x(i)) * (1 / depth[i] + 1 / psi[i]); });
}

DensityAt Sphere::density(double r) const {
    const auto [rho, d, dd] = density_(r);
    return {rho * normalisation_, d * normalisation_, dd * normalisation_};
}

double Sphere::drop(double r, double x) const {
    const double t = std::log(r);
    if (x < 0.1) return integrate_short([&](double s) { return std::exp(mass_(t + s) - t - s); }, 0, x);
    const double near = depth(r), far = std::exp(depth_(t + x));
    const double psi_near = psi(r);
    return near < psi_near ? far - near : psi_near - std::exp(psi_(t + x));
}

}  // namespace kasane::gravity
