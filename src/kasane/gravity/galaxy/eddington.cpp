#include <kasane/core/base/error.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/eddington.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::gravity {
namespace {

using std::numbers::pi;

// Steps of the tables of ln f and of the bound, in the sphere's steps of ln r, which resolve the truncation. Without one they
// are 1/40, where the interpolation error of ln f is about step^4 / 384 = 1e-9; f dips and peaks inside an edge, and there the
// density comes back to 1e-5 (Eddington.TruncatedNfwGivesBackItsDensity).
constexpr double coarsening = 1.6;
// The bound is interpolated between radii and its maximum is looked for at so many speeds: both are exact to well below 10%.
constexpr double bound_margin = 1.1;
constexpr int bound_speeds = 200;

/// f(E) = 1/(sqrt(8) pi^2) Int_0^E (d^2 rho / dPsi^2) dPsi / sqrt(E - Psi)   [Binney & Tremaine 2008, eq. 4.46a; the boundary term
/// vanishes with d rho/dPsi at infinity], with E = Psi(r_e), over x = ln(r / r_e), and
/// d^2 rho / dPsi^2 = (r^2/M)^2 [rho'' + rho' 2 (M - 2 pi rho r^3)/(r M)]    [Miki & Umemura 2018].
Integral eddington(const Sphere& sphere, double r_e) {
    const double x_end = std::log(sphere.outer() / r_e);
    if (x_end <= 0) return {.converged = true};
    const auto integrand = [&](double x) {
        const double r = r_e * std::exp(x);
        const auto [rho, d, dd] = sphere.density(r);
        const double mass = sphere.mass(r);
        const double curvature = dd + d * 2 * (mass - 2 * pi * rho * r * r * r) / (r * mass);
        const double r2_m = r * r / mass;
        return r2_m * r2_m * curvature * (mass / r) / std::sqrt(sphere.drop(r_e, x));
    };
    auto f = integrate(integrand, 0, x_end, 1e-8);
    const double factor = 1 / (std::sqrt(8.) * pi * pi);
    f.value *= factor;
    f.error *= factor;
    f.magnitude *= factor;
    return f;
}

/// Int over space of the mass per energy and unit f at the energy Psi(r_e): 16 pi^2 Int_0^r_e r^2 sqrt(2 (Psi - E)) dr, by the
/// trapezoidal rule in ln r, good to a per cent.
double density_of_states(const Sphere& sphere, double r_e) {
    constexpr double step = 0.1;
    double sum = 0;
    for (double x = step / 2; x < 10; x += step) {
        const double r = r_e * std::exp(-x);
        if (r < sphere.inner()) break;
        sum += r * r * r * std::sqrt(2 * sphere.drop(r, x)) * step;
    }
    return 16 * pi * pi * sum;
}

}  // namespace

IsolatedDistribution::IsolatedDistribution(const Sphere& sphere, Cpu on) : sphere_(&sphere) {
    const int threads = thread_count(on);
    const double table_step = coarsening * sphere.energy().step();
    const double first = sphere.energy()(std::log(sphere.inner())), last = sphere.energy()(std::log(sphere.outer()));
    const auto n = static_cast<index_t>((last - first) / table_step) + 1;
    const auto size = static_cast<std::size_t>(n);
    std::vector<double> f(size), states(size);
    std::vector<Integral> integral(size);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (index_t i = 0; i < n; ++i) {
        const double r_e = sphere.radius_of_energy(first + table_step * static_cast<double>(i));
        const auto k = static_cast<std::size_t>(i);
        integral[k] = eddington(sphere, r_e);
        f[k] = integral[k].value;
        // Mass per step of y = ln(depth/E): dE = dy / (1/depth + 1/E).
        states[k] = density_of_states(sphere, r_e) / (1 / sphere.depth(r_e) + 1 / sphere.psi(r_e));
    }
    double positive = 0, negative = 0, peak = 0;
    for (std::size_t k = 0; k < size; ++k) {
        (f[k] > 0 ? positive : negative) += std::abs(f[k]) * states[k];
        peak = std::max(peak, f[k]);
    }
    for (std::size_t k = 0; k < size; ++k) {
        // Where rho hardly lives any more its inversion cancels to noise: what counts is the error's share of the mass.
        if (!integral[k].converged && !(integral[k].error * states[k] < 1e-6 * positive)) {
            throw ComputationError(fmt::format(
                "Eddington's inversion does not converge at the radius {:.6g} scale radii (error {:.2g} of "
                "{:.2g}): the density changes too fast there. Try a wider truncation",
                sphere.radius_of_energy(first + table_step * static_cast<double>(k)), integral[k].error, integral[k].magnitude));
        }
    }
    clamped_fraction_ = negative / positive;

    const double floor = peak * 1e-100;  // stands for 0: far below any phase-space density that a sample could show
    std::vector<double> log_f(size);
    for (std::size_t k = 0; k < size; ++k) log_f[k] = std::log(std::max(f[k], floor));
    log_f_ = UniformHermite(first, table_step, log_f, monotone_slopes(log_f, table_step));

    const double r_first = std::log(sphere.inner()), r_last = std::log(sphere.outer());
    const auto radii = static_cast<index_t>((r_last - r_first) / table_step) + 1;
    std::vector<double> log_bound(static_cast<std::size_t>(radii));
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (index_t i = 0; i < radii; ++i) {
        const double r = std::exp(r_first + table_step * static_cast<double>(i));
        const double depth = sphere.depth(r), psi = sphere.psi(r);
        // Speeds by their turning radius r e^x, dense at small x, where the peak of a cusp's cold centre lies.
        const double x_end = r_last + std::log(10.) - std::log(r);
        double most = 0;
        for (int j = 1; j <= bound_speeds; ++j) {
            const double part = static_cast<double>(j) / bound_speeds;
            const double v2 = 2 * sphere.drop(r, x_end * part * part * part);
            most = std::max(most, v2 * at(depth, psi, std::sqrt(v2)));
        }
        log_bound[static_cast<std::size_t>(i)] = std::log(std::max(most, floor));
    }
    log_bound_ = UniformHermite(r_first, table_step, log_bound, monotone_slopes(log_bound, table_step));
}

double IsolatedDistribution::bound(double r) const { return bound_margin * std::exp(log_bound_(std::log(r))); }

double IsolatedDistribution::speed(double r, RandomStream& random) const {
    const double depth = sphere_->depth(r), psi = sphere_->psi(r), limit = bound(r), escape = std::sqrt(2 * psi);
    for (;;) {
        const double v = escape * random.uniform();
        const double density = v * v * at(depth, psi, v);
        if (limit * random.uniform() <= density) return v;
    }
}

}  // namespace kasane::gravity
