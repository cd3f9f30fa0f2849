#include <kasane/core/base/error.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/component/laws.hpp>
#include <kasane/gravity/galaxy/component/log_table.hpp>
#include <kasane/gravity/galaxy/component/surface_density.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kasane::gravity {
namespace {

using Scaled = std::function<ScaledDerivatives(double R)>;

constexpr double innermost = 1e-12;  // in scales; the mass inside it, a fraction of 1e-24 or less, is left out

Scaled untruncated(const Component& component) {
    const double scale = component.scale;
    if (const auto* sersic = std::get_if<SersicDisk>(&component.law)) {
        return [law = StretchedExponential{sersic_b(sersic->n), 1 / sersic->n}, scale](double R) { return law(R / scale); };
    }
    if (const auto* table = std::get_if<TabulatedDisk>(&component.law)) {
        return [law = LogTable(table->table)](double R) {
            const auto [f, s, ds, dds] = law(R);
            return from_slopes(f, s, ds, dds);
        };
    }
    return [law = StretchedExponential{1, 1}, scale](double R) { return law(R / scale); };
}

/// Step in ln R for which five Gauss points resolve the law and its edge to 1e-12.
double panel(const Component& component) {
    const auto& cut = component.truncation;
    return cut ? std::min(1. / 16, cut.width / cut.radius / 2) : 1. / 16;
}

double ring_mass(const std::function<SurfaceDensityAt(double)>& sigma, double log_a, double log_b) {
    return integrate_short([&](double t) { return 2 * std::numbers::pi * std::exp(2 * t) * sigma(std::exp(t)).sigma; }, log_a, log_b);
}

}  // namespace

double sersic_b(double n) {
    // P(a, b) = b^a e^-b / Gamma(a + 1) (1 + b/(a+1) + b^2/((a+1)(a+2)) + ...): all terms positive. Newton from Ciotti's expansion.
    const double a = 2 * n;
    double b = a - 1. / 3 + 4 / (405 * n);
    for (int i = 0; i < 8; ++i) {
        double term = 1, sum = 1;
        for (int k = 1; term > 1e-18 * sum; ++k) sum += term *= b / (a + k);
        const double slope = std::exp(a * std::log(b) - b - std::lgamma(a)) / b;
        b -= (slope * b / a * sum - 0.5) / slope;
    }
    return b;
}

std::function<SurfaceDensityAt(double R)> surface_density(const Component& component) {
    KS_EXPECT(is_disk(component.law));
    return [law = untruncated(component), cut = component.truncation, least = innermost * component.scale](double R) {
        R = std::max(R, least);
        auto v = law(R);
        if (cut) v = truncated(v, cut, R);
        return SurfaceDensityAt{v.f, v.d1 / R, v.d2 / R / R, v.d3 / R / R / R};
    };
}

double surface_end(const Component& component) {
    if (component.truncation) return component.truncation.end();
    const auto sigma = surface_density(component);
    const double step = panel(component);
    double t = std::log(innermost * component.scale), mass = 0, ring = 0;
    do {
        ring = ring_mass(sigma, t, t + step);
        mass += ring;
        t += step;
    } while (ring > 1e-18 * mass || t < std::log(component.scale));
    return std::exp(t);
}

double surface_mass(const Component& component, double R) {
    const auto sigma = surface_density(component);
    const double first = std::log(innermost * component.scale), last = std::log(R);
    if (!(last > first)) return 0;
    const int panels = static_cast<int>(std::ceil((last - first) / panel(component)));
    const double step = (last - first) / panels;
    double mass = 0;
    for (int i = 0; i < panels; ++i) mass += ring_mass(sigma, first + i * step, first + (i + 1) * step);
    return mass;
}

}  // namespace kasane::gravity
