#include <kasane/core/base/error.hpp>
#include <kasane/core/device/table_memory.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/component/mass_inverse.hpp>
#include <kasane/gravity/galaxy/component/mass_profile.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kasane::gravity {
namespace {

constexpr double sphere = 4 * std::numbers::pi;

// A tail ends where it has this fraction of its density at the beginning: the mass of a tail r^-3.25 is then complete to 1e-15.
constexpr double tail_end = 1e-200;
// Fraction of the innermost radius where integrals begin: a cusp r^-2.5 has 1e-20 of the mass inside it, and no number overflows.
constexpr double center = 1e-40;

double power_of(double r, int n) { return n == 1 ? r : r * r; }

/// Int_r^inf 4 pi r^power rho dr of a law without an end, with w = begin/r.
double tail(const DensityLaw& law, double begin, int power) {
    const double nothing = std::max(tail_end * law.at(begin).rho, 1e-290);
    const auto integrand = [&](double w) {
        const double r = begin / w, rho = law.at(r).rho;
        return rho > nothing ? sphere * power_of(r, power) * rho * begin / (w * w) : 0;
    };
    return integrate(integrand, 0, 1, 1e-12).value;
}

}  // namespace

MassProfile::MassProfile(DensityLaw law, double total) : law_(std::move(law)), total_(total) {
    KS_EXPECT(law_.inner > 0 && law_.outer > law_.inner && law_.step > 0 && total > 0);
    const double first = std::log(law_.inner), last = std::log(law_.outer);
    const auto n = static_cast<std::size_t>(std::max(std::ceil((last - first) / law_.step), 1.)) + 1;
    const double step = (last - first) / static_cast<double>(n - 1);
    const auto x = [&](std::size_t i) { return first + step * static_cast<double>(i); };
    const auto shell = [&](double r, int power) { return sphere * power_of(r, power) * law_.at(r).rho; };

    // The mass is summed outwards and the mass beyond a radius inwards, each from its small end, so that neither loses digits.
    std::vector<double> mass(n), slope(n);
    mass_beyond_.resize(n);
    psi_beyond_.resize(n);
    mass[0] = integrate([&](double r) { return r > center * law_.inner ? shell(r, 2) : 0; }, 0, law_.inner, 1e-13).value;
    mass_beyond_[n - 1] = law_.finite ? 0 : tail(law_, law_.outer, 2);
    psi_beyond_[n - 1] = law_.finite ? 0 : tail(law_, law_.outer, 1);
    for (std::size_t i = 1; i < n; ++i) {
        mass[i] = integrate_short([&](double t) { return std::exp(t) * shell(std::exp(t), 2); }, x(i - 1), x(i));
    }
    for (std::size_t i = n - 1; i > 0; --i) {
        mass_beyond_[i - 1] = mass_beyond_[i] + mass[i];
        const auto psi = integrate_short([&](double t) { return std::exp(t) * shell(std::exp(t), 1); }, x(i - 1), x(i));
        psi_beyond_[i - 1] = psi_beyond_[i] + psi;
    }
    for (std::size_t i = 1; i < n; ++i) mass[i] += mass[i - 1];

    normalisation_ = total_ / (mass[n - 1] + mass_beyond_[n - 1]);
    for (auto* values : {&mass, &mass_beyond_, &psi_beyond_}) {
        for (auto& value : *values) value *= normalisation_;
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double r = std::exp(x(i));
        slope[i] = normalisation_ * r * shell(r, 2) / mass[i];
        mass[i] = std::log(mass[i]);
    }
    log_mass_ = std::make_shared<const UniformHermite>(first, step, mass, slope);
    inner_slope_ = slope[0];
}

double MassProfile::step() const { return log_mass_->step(); }

DensityAt MassProfile::density(double r) const {
    if (law_.finite && r > law_.outer) return {0, 0, 0};
    const auto [rho, d, dd] = law_.at(r);
    return {rho * normalisation_, d * normalisation_, dd * normalisation_};
}

double MassProfile::mass(double r) const {
    if (r > law_.outer) return law_.finite ? total_ : total_ - mass_beyond(r);
    return std::exp((*log_mass_)(std::log(r)));
}

double MassProfile::integral_beyond(double r, int power, const std::vector<double>& nodes) const {
    if (r >= law_.outer) return law_.finite ? 0 : normalisation_ * tail(law_, r, power);
    const double t = std::log(r), first = log_mass_->first(), step = log_mass_->step();
    if (t <= first) {
        // Inside, M = M_inner (r / inner)^slope, and 4 pi r^power rho dr = slope M r^(power - 2) dln r.
        const double p = inner_slope_ + power - 2, x = first - t;
        const double at_inner = inner_slope_ * mass(law_.inner) / (power == 2 ? 1 : law_.inner);
        return nodes[0] + at_inner * (std::abs(p) * x < 1e-8 ? x : -std::expm1(-p * x) / p);
    }
    const auto shell = [&](double s) {
        const double q = std::exp(s);
        return normalisation_ * sphere * q * power_of(q, power) * law_.at(q).rho;
    };
    const auto cell = std::min(static_cast<std::size_t>((t - first) / step), nodes.size() - 2);
    return nodes[cell + 1] + integrate_short(shell, t, first + step * static_cast<double>(cell + 1));
}

double MassProfile::mass_beyond(double r) const { return integral_beyond(r, 2, mass_beyond_); }
double MassProfile::psi_of_beyond(double r) const { return integral_beyond(r, 1, psi_beyond_); }

double MassProfile::radius(double m) const {
    TableMemory here(Cpu{});
    return MassInverse::of(*this, here).radius(m);
}

}  // namespace kasane::gravity
