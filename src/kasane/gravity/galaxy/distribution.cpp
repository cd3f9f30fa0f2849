#include <kasane/core/base/error.hpp>
#include <kasane/core/device/table_memory.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/distribution.hpp>
#include <kasane/gravity/galaxy/velocity_draw.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace kasane::gravity {
namespace {

using std::numbers::pi;

// Step of the table of f in units of the density's step of ln r, which resolves an edge. Without an edge it is 1/85 in ln r, for which the
// interpolation error, (step d ln f/d ln r)^4 / 384, is 2e-9 in a cusp and 7e-9 far out. Inside an edge f has minima and peaks, and f
// reproduces the density to 1e-6 (test Distribution/GivesBackTheDensity).
constexpr double coarsening = 0.75;
// Width of the cells of the speed envelope, in steps of the table: f changes by about 20% across a cell.
constexpr double cell_steps = 4;
// Deep in a flat core Psi and f no longer change in double precision: energies that differ by less are taken as equal.
constexpr double flat = 1e-14;
// The integral over x below this fraction of its end is 1e-10 of the whole, because the integrand is proportional to x^(-1/2).
constexpr double inner_part = 1e-20;

/// rho_Q = (1 + r^2/r_a^2) rho with its derivatives.
DensityAt augmented(DensityAt rho, double r, double anisotropy_radius) {
    if (anisotropy_radius == 0) return rho;
    const double a2 = anisotropy_radius * anisotropy_radius;
    const double factor = 1 + r * r / a2, d = 2 * r / a2, dd = 2 / a2;
    return {factor * rho.rho, factor * rho.d + d * rho.rho, factor * rho.dd + 2 * d * rho.d + dd * rho.rho};
}

/// The density rho_Q whose inversion is f.
struct Inversion {
    const MassProfile& density;
    const SphericalPotential& potential;
    PotentialCurves curves;  // of the potential; inlined in the integrand
    double anisotropy_radius;
};

/// Range of the inversion beyond the grid for a density without an end, in e-folds of r: the integrand falls as r^(1 - slope).
double far_beyond(const Inversion& c) {
    if (c.density.finite()) return 0;
    const double r = c.density.outer();
    const auto at = augmented(c.density.density(r), r, c.anisotropy_radius);
    return at.rho > 0 ? std::min(25 / std::max(-r * at.d / at.rho - 1, 0.25), 100.) : 0;
}

/// f(Q) = 1/(sqrt(8) pi^2) Int_0^Q (d^2 rho_Q / dPsi^2) dPsi / sqrt(Q - Psi)   [Binney & Tremaine 2008, eqs. 4.46a and 4.293; the
/// boundary term vanishes with d rho/dPsi at the end], with Q = Psi(r_q), over x = ln(r / r_q), and
/// d^2 rho / dPsi^2 = (r^2/M)^2 [rho'' + rho' 2 (M - 2 pi rho_tot r^3)/(r M)]    [Miki & Umemura 2018]; M, rho_tot of all components.
Integral eddington(const Inversion& c, double r_q) {
    const double x_end = std::log(c.density.outer() / r_q) + far_beyond(c);
    if (x_end <= 0) return {.converged = true};
    const PotentialDrop drop(c.potential, r_q);
    const auto integrand = [&](double x) {
        if (x < inner_part * x_end) return 0.;
        const double r = r_q * std::exp(x);
        const auto own = c.density.density(r);
        const auto [rho, d, dd] = augmented(own, r, c.anisotropy_radius);
        if (!(rho > 0)) return 0.;
        const double mass = c.curves.mass(r), all = c.potential.density(r, c.density, own.rho);
        const double curvature = dd + d * 2 * (1 - 2 * pi * all * r * r * r / mass) / r;
        return r * r * r / mass * curvature / std::sqrt(drop(x));
    };
    auto f = integrate(integrand, 0, x_end, 1e-8);
    const double factor = 1 / (std::sqrt(8.) * pi * pi);
    f.value *= factor;
    f.error *= factor;
    f.magnitude *= factor;
    return f;
}

/// Mass per Q and unit f at Q = Psi(r_q), integrated over space: 16 pi^2 Int_0^r_q r^2 sqrt(2 (Psi - Q)) / (1 + r^2/r_a^2) dr, by the
/// trapezoidal rule in ln r, with an error of about a per cent.
double density_of_states(const Inversion& c, double r_q) {
    constexpr double step = 0.1;
    double sum = 0;
    for (double x = step / 2; x < 10; x += step) {
        const double r = r_q * std::exp(-x);
        const double factor = c.anisotropy_radius > 0 ? 1 + r * r / (c.anisotropy_radius * c.anisotropy_radius) : 1;
        sum += r * r * r * std::sqrt(2 * c.potential.drop(r, x)) / factor * step;
    }
    return 16 * pi * pi * sum;
}

/// d values / dx on a uniform grid, of fourth order inside and of second order at the ends.
std::vector<double> slopes_of(const std::vector<double>& values, double step) {
    const auto n = values.size();
    std::vector<double> slopes(n);
    const auto rise = [&](std::size_t i) { return n > 1 ? values[i + 1] - values[i] : 0; };
    for (std::size_t i = 0; i < n; ++i) {
        if (i > 1 && i + 2 < n)
            slopes[i] = (8 * (values[i + 1] - values[i - 1]) - (values[i + 2] - values[i - 2])) / (12 * step);
        else if (i > 0 && i + 1 < n)
            slopes[i] = (values[i + 1] - values[i - 1]) / (2 * step);
        else if (i == 0)
            slopes[i] = (n > 2 ? 3 * rise(0) - rise(1) : 2 * rise(0)) / (2 * step);
        else
            slopes[i] = (n > 2 ? 3 * rise(n - 2) - rise(n - 3) : 2 * rise(0)) / (2 * step);
    }
    return slopes;
}

/// Nodes in q from 0 to 1, in steps of at most 4% where f changes: the speeds with which a particle at Psi = top reaches the nodes below.
std::vector<double> speeds_reached(const std::vector<double>& energies, double top, double range) {
    constexpr double finest = 0.02, coarsest = 0.04;
    std::vector<double> q{0};
    const auto advance = [&](double to) {
        const double from = q.back();
        const int parts = static_cast<int>(std::ceil((to - from) / (coarsest * to)));
        for (int i = 1; i <= parts; ++i) q.push_back(from + (to - from) * i / parts);
    };
    const auto below = std::lower_bound(energies.begin(), energies.end(), top);
    for (auto e = below; e != energies.begin();) {
        const double next = std::min(std::sqrt((top - *--e) / range), 1.);
        if (next > q.back() * (1 + finest)) advance(next);
    }
    if (q.back() < 1) advance(1);
    return q;
}

}  // namespace

DistributionFunction::DistributionFunction(std::shared_ptr<const MassProfile> density, std::shared_ptr<const SphericalPotential> potential,
                                           double anisotropy_radius, Cpu on)
    : density_(std::move(density)), potential_(std::move(potential)), anisotropy_radius_(anisotropy_radius) {
    const int threads = thread_count(on);
    TableMemory here(on);
    const Inversion component{*density_, *potential_, PotentialCurves::of(*potential_, here), anisotropy_radius_};
    Tables tables;
    tables.first = std::log(density_->inner());
    tables.last = std::log(density_->outer());
    const auto n = static_cast<index_t>(std::ceil((tables.last - tables.first) / (coarsening * density_->step()))) + 1;
    const double step = (tables.last - tables.first) / static_cast<double>(n - 1);
    const auto size = static_cast<std::size_t>(n);
    const auto radius = [&](std::size_t k) { return std::exp(tables.first + step * static_cast<double>(k)); };

    std::vector<double> f(size), states(size), pull(size), psi(size);
    std::vector<Integral> integral(size);
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (index_t i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        const double r = radius(k);
        integral[k] = eddington(component, r);
        f[k] = integral[k].value;
        pull[k] = potential_->mass(r) / r;  // -dPsi/dln r
        psi[k] = potential_->psi(r);
        states[k] = density_of_states(component, r) * pull[k];  // mass per unit f and ln r
    }
    double positive = 0, negative = 0, worst = 0;
    for (std::size_t k = 0; k < size; ++k) {
        const double mass = std::abs(f[k]) * states[k];
        (f[k] > 0 ? positive : negative) += mass;
        if (f[k] < 0 && mass > worst) worst = mass, clamped_.radius = radius(k);
    }
    for (std::size_t k = 0; k < size; ++k) {
        // Where rho is very small its inversion cancels to noise: the criterion is the error's share of the mass.
        if (!integral[k].converged && !(integral[k].error * states[k] < 1e-6 * positive)) {
            throw ComputationError(fmt::format(
                "Eddington's inversion does not converge at the radius {:.6g} (error {:.2g} of {:.2g}): the density changes too fast "
                "there. Try a wider truncation",
                radius(k), integral[k].error, integral[k].magnitude));
        }
    }
    clamped_.fraction = negative > 0 ? negative / positive : 0;

    for (auto& value : f) value = std::max(value, 0.);
    const auto slopes = slopes_of(f, step);
    const auto power = [&](double a, double b) { return a > 0 && b > 0 ? std::log(b / a) / step : 0; };
    tables.inner_slope = power(f[0], f[1]);
    tables.outer_slope = power(f[size - 2], f[size - 1]);
    std::vector<EnergyTable::Node> nodes;
    std::vector<double> energies;
    double crowd = psi.front(), least_fall = pull.front() / psi.front();
    for (std::size_t k = size; k-- > 0;) {
        if (!energies.empty() && !(psi[k] > energies.back() * (1 + flat))) continue;
        energies.push_back(psi[k]);
        nodes.push_back({psi[k], f[k], -slopes[k] / pull[k]});
        if (pull[k] / psi[k] < least_fall) crowd = psi[k], least_fall = pull[k] / psi[k];
    }
    tables.f = EnergyTable(std::move(nodes), crowd);
    tables.least_energy = density_->finite() ? tables.f.first() : 0;

    tables.envelope = SpeedEnvelope(tables.first, tables.last, cell_steps * step);
    const auto cells = static_cast<index_t>(tables.envelope.cells());
#pragma omp parallel for schedule(dynamic, 8) num_threads(threads)
    for (index_t i = 0; i < cells; ++i) {
        const auto cell = static_cast<std::size_t>(i);
        // E = least + (1 - q^2) (Psi - least) with Psi between its values at the cell's ends.
        const double high = potential_->psi(std::exp(tables.envelope.edge(cell)));
        const double low = std::max(potential_->psi(std::exp(tables.envelope.edge(cell + 1))), tables.least_energy);
        const auto q = speeds_reached(energies, high, high - tables.least_energy);
        std::vector<double> bound(q.size() - 1);
        for (std::size_t j = 0; j < bound.size(); ++j) {
            const auto in_table = [&](double e) { return std::clamp(e, tables.f.first(), tables.f.last()); };
            const double least = in_table(tables.least_energy + (1 - q[j + 1] * q[j + 1]) * (low - tables.least_energy));
            const double most = in_table(tables.least_energy + (1 - q[j] * q[j]) * (high - tables.least_energy));
            bound[j] = q[j + 1] * q[j + 1] * tables.f.bound(least, most) * (1 + 1e-9);
        }
        tables.envelope.set(cell, q, bound);
    }
    tables_ = std::make_shared<const Tables>(std::move(tables));
}

double DistributionFunction::operator()(double q) const {
    TableMemory here(Cpu{});
    return VelocityDraw::of(*this, here)(q);
}

}  // namespace kasane::gravity
