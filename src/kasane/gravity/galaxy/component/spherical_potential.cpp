#include <kasane/core/base/error.hpp>
#include <kasane/core/device/table_memory.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/component/potential_curves.hpp>
#include <kasane/gravity/galaxy/component/spherical_potential.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::gravity {
namespace {

// Grid's beginning in units of the sphere of influence: inside it the profiles have less than 1e-3 of the point mass for any cusp.
constexpr double deep_inside = 1e-3;
// Differences of Psi over shorter steps of ln r are integrated; those over longer steps are differences of the table.
constexpr double short_step = 0.1;
// For such steps two Gauss points are as accurate as five: their error is x^4 / 4320 times the fourth derivative.
constexpr double shortest_step = 0.01;
constexpr double inv_sqrt3 = std::numbers::inv_sqrt3;

PotentialCurves curves_of(const SphericalPotential& potential) {
    TableMemory here(Cpu{});
    return PotentialCurves::of(potential, here);
}

}  // namespace

SphericalPotential::SphericalPotential(std::vector<std::shared_ptr<const MassProfile>> profiles, double point_mass)
    : profiles_(std::move(profiles)), point_mass_(point_mass), empty_(profiles_.empty()) {
    KS_EXPECT(point_mass >= 0 && (point_mass > 0 || !profiles_.empty()));
    double inner = std::numeric_limits<double>::infinity(), outer = 0, step = 1. / 64;
    for (const auto& profile : profiles_) {
        inner = std::min(inner, profile->inner());
        outer = std::max(outer, profile->outer());
        step = std::min(step, profile->step());
    }
    if (empty_) inner = 1, outer = 2;  // any grid is sufficient for a point mass
    const auto mass_at = [&](double r) {
        double sum = 0;
        for (const auto& profile : profiles_) sum += profile->mass(r);
        return sum;
    };
    if (point_mass_ > 0 && !empty_) {
        double low = std::log(inner) - 100, high = std::log(outer);
        for (int i = 0; i < 60; ++i) {
            const double middle = (low + high) / 2;
            (mass_at(std::exp(middle)) > point_mass_ ? high : low) = middle;
        }
        inner = std::min(inner, deep_inside * std::exp(low));
    }

    const double first = std::log(inner), last = std::log(outer);
    const auto n = static_cast<std::size_t>(std::ceil((last - first) / step)) + 1;
    step = (last - first) / static_cast<double>(n - 1);
    const auto x = [&](std::size_t i) { return first + step * static_cast<double>(i); };
    std::vector<double> log_mass(n, -std::numeric_limits<double>::infinity()), log_psi(log_mass);
    std::vector<double> mass_slope(n), psi_slope(n), depth(n), pull(n);
    for (std::size_t i = 0; i < n && !empty_; ++i) {
        const double r = std::exp(x(i));
        const double mass = mass_at(r);
        double psi = mass / r;
        for (const auto& profile : profiles_) psi += profile->psi_of_beyond(r);
        pull[i] = mass / r;  // -dPsi/dln r
        log_mass[i] = std::log(mass);
        mass_slope[i] = 4 * std::numbers::pi * r * r * r * density(r) / mass;
        log_psi[i] = std::log(psi);
        psi_slope[i] = -pull[i] / psi;
    }
    log_mass_ = std::make_shared<const UniformHermite>(first, step, log_mass, mass_slope);
    log_psi_ = std::make_shared<const UniformHermite>(first, step, log_psi, psi_slope);
    inner_slope_ = mass_slope[0];
    for (std::size_t i = 1; i < n; ++i) {
        depth[i] = depth[i - 1] + integrate_short([&](double t) { return std::exp((*log_mass_)(t)-t); }, x(i - 1), x(i));
    }
    depth_ = std::make_shared<const UniformHermite>(first, step, depth, pull);
}

double SphericalPotential::inner() const { return std::exp(log_mass_->first()); }
double SphericalPotential::outer() const { return std::exp(log_mass_->last()); }
double SphericalPotential::step() const { return log_mass_->step(); }

double SphericalPotential::mass(double r) const { return curves_of(*this).mass(r); }
double SphericalPotential::psi(double r) const { return curves_of(*this).psi(r); }
double SphericalPotential::radius_of(double e) const { return curves_of(*this).radius_of(e); }
double SphericalPotential::central() const { return curves_of(*this).central(); }

double SphericalPotential::total_mass() const {
    double sum = point_mass_;
    for (const auto& profile : profiles_) sum += profile->total();
    return sum;
}

double SphericalPotential::density(double r) const {
    double sum = 0;
    for (const auto& profile : profiles_) sum += profile->density(r).rho;
    return sum;
}

double SphericalPotential::density(double r, const MassProfile& known, double rho) const {
    double sum = 0;
    for (const auto& profile : profiles_) sum += profile.get() == &known ? rho : profile->density(r).rho;
    return sum;
}

double SphericalPotential::drop(double r, double x) const { return PotentialDrop(*this, r)(x); }

PotentialDrop::PotentialDrop(const SphericalPotential& potential, double r)
    : potential_(&potential), point_(potential.point_mass_ > 0 ? potential.point_mass_ / r : 0) {
    if (!potential.empty_) start_ = start_at(std::log(r));
}

PotentialDrop::Start PotentialDrop::start_at(double t) const { return {t, (*potential_->depth_)(t), std::exp((*potential_->log_psi_)(t))}; }

double PotentialDrop::operator()(double x) const {
    const double point = point_ > 0 ? point_ * -std::expm1(-x) : 0;
    return potential_->empty_ ? point : point + profiles_drop(start_, x);
}

/// The profiles' part of Psi(e^t) - Psi(e^(t + x)).
double PotentialDrop::profiles_drop(const Start& start, double x) const {
    const auto &log_mass = *potential_->log_mass_, &log_psi = *potential_->log_psi_, &depth = *potential_->depth_;
    const double t = start.t, u = t + x, first = log_mass.first(), last = log_mass.last();
    if (u <= first) return curves_of(*potential_).inside_drop(t, x);
    if (t < first) return curves_of(*potential_).inside_drop(t, first - t) + profiles_drop(start_at(first), u - first);
    const auto pull = [&](double s) { return std::exp(log_mass(t + s) - t - s); };
    if (x < shortest_step) return x / 2 * (pull(x * (1 - inv_sqrt3) / 2) + pull(x * (1 + inv_sqrt3) / 2));
    if (x < short_step) return integrate_short(pull, 0, x);
    if (start.depth > start.psi || t >= last) return start.psi - std::exp(log_psi(u));
    if (u <= last) return depth(u) - start.depth;
    return depth(last) - start.depth + std::exp(log_psi(last)) - std::exp(log_psi(u));
}

}  // namespace kasane::gravity
