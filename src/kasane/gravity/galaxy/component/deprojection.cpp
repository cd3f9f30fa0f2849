#include <kasane/core/base/error.hpp>
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/component/deprojection.hpp>
#include <kasane/gravity/galaxy/component/log_table.hpp>
#include <kasane/gravity/galaxy/component/surface_density.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace kasane::gravity {
namespace {

constexpr double analytic_step = 1. / 128, spline_step = 1. / 64;  // steps in ln r; a spline through data is not more accurate
constexpr double noise = 1e-14;                                    // rounding error of ln rho, a sum of some hundred terms
constexpr double negligible = 1e-18;                               // relative size of a term that ends a sum
constexpr double longest_panel = 0.25;  // in u, for flat laws: five Gauss points resolve cosh u and its powers to 1e-13

constexpr double farthest = 700;     // largest u: cosh u overflows beyond
constexpr int most_panels = 10'000;  // between two rows and beyond the last one, for the steepest table that is accepted

/// The three integrands over R = r cosh u: dQ / sqrt(Q - q) = 2 R du.
struct Terms {
    double f = 0, d1 = 0, d2 = 0;

    void add(const Terms& other, double weight) {
        f += weight * other.f;
        d1 += weight * other.d1;
        d2 += weight * other.d2;
    }
    bool negligible_in(const Terms& sum) const {
        const auto small = [](double term, double of) { return std::abs(term) <= negligible * std::abs(of); };
        return small(f, sum.f) && small(d1, sum.d1) && small(d2, sum.d2);
    }
};

Terms terms(const Projection& projection, double r, double u) {
    const double cosh = std::cosh(u), R = r * cosh, q = 1 / (cosh * cosh);
    const auto sigma = projection.at(R);
    return {sigma.d1 / R, sigma.d2 / R * q, sigma.d3 / R * q * q};
}

/// The integrand is even in u and analytic in a strip around the real axis: the trapezoidal rule converges exponentially. The integrand
/// rises at most once, so that the sum ends at the first negligible term.
Terms analytic(const Projection& projection, double r) {
    const auto at = projection.at(r);
    const double steepness = at.f > 0 ? -2 * at.d1 / at.f : 0;  // -d ln Sigma / d ln R: a Gaussian exp(-steepness u^2 / 2) far out
    // A strip of half width pi/4 or more gives the error exp(-pi^2 / (2 step)); a Gaussian gives exp(-2 pi^2 / (step^2 steepness)).
    const double step = std::min(0.13, 0.5 / std::sqrt(1 + steepness));
    Terms sum;
    sum.add(terms(projection, r, 0), step / 2);
    for (int i = 1; i * step < farthest; ++i) {
        const auto term = terms(projection, r, i * step);
        sum.add(term, step);
        if (term.negligible_in(sum)) break;
    }
    return sum;
}

/// Gauss quadrature on panels between the kinks, then along the power law beyond the last kink.
Terms pieced(const Projection& projection, double r) {
    Terms sum;
    const auto add_panel = [&](double a, double b) {
        Terms panel;
        each_gauss_point(a, b, [&](double u, double weight) { panel.add(terms(projection, r, u), weight); });
        sum.add(panel, 1);
        return panel;
    };
    const auto steepness = [&](double u) {
        const auto at = projection.at(r * std::cosh(u));
        return at.f > 0 ? std::abs(2 * at.d1 / at.f) : 0;
    };
    double u = 0;
    for (const double kink : projection.kinks) {
        if (kink <= r) continue;
        const double end = std::acosh(kink / r);
        // Panels of length 1/steepness integrate exp(-steepness u) to 1e-12.
        const double panel = longest_panel / (1 + longest_panel * steepness(end));
        const int panels = static_cast<int>(std::clamp(std::ceil((end - u) / panel), 1., double{most_panels}));
        for (int i = 0; i < panels; ++i) add_panel(u + (end - u) * i / panels, u + (end - u) * (i + 1) / panels);
        u = end;
    }
    const double panel = longest_panel / (1 + longest_panel * steepness(u));
    for (int i = 0; i < most_panels && u < farthest && !add_panel(u, u + panel).negligible_in(sum); ++i) u += panel;
    return sum;
}

}  // namespace

ScaledDerivatives Deprojection::integral(const Projection& projection, double r) {
    const auto sum = projection.kinks.empty() ? analytic(projection, r) : pieced(projection, r);
    const double unit = -2 / std::numbers::pi;
    return {unit * sum.f, unit * sum.d1, unit * sum.d2, 0};
}

Deprojection::Deprojection(const Projection& projection, double first, double last) {
    const double start = std::log(first), step = projection.kinks.empty() ? analytic_step : spline_step;
    const auto n = static_cast<std::size_t>(std::ceil((std::log(last) - start) / step)) + 1;
    std::vector<double> value(n), slope(n), curvature(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double r = std::exp(start + step * static_cast<double>(i));
        const auto [rho, d1, d2, d3] = integral(projection, r);
        KS_VALIDATE(rho > 0 && std::isfinite(rho),
                    fmt::format("has no positive density: the deprojection at the radius {:.4g} is {:.3g}, because the surface density "
                                "does not decline outward there. Try fewer rows or a smoother table",
                                r, rho),
                    {"", 0, 0, "table"});
        const double a = d1 / rho;  // d ln rho / d ln q; ln q = 2 ln r
        value[i] = std::log(rho);
        slope[i] = 2 * a;
        curvature[i] = 4 * ((d2 + d1) / rho - a * a);
    }
    table_ = UniformQuintic(start, step, value, slope, curvature, noise);
}

Projection sersic_projection(double n) {
    // R^(1/n) = Q^(1/2n): the same law as a function of Q.
    return {[by_area = StretchedExponential{sersic_b(n), 1 / (2 * n)}](double R) { return by_area(R * R); }, {}};
}

Projection table_projection(const Table& table) {
    return {[by_radius = LogTable(table)](double R) {
                const auto [f, s, ds, dds] = by_radius(R);
                return from_slopes(f, s / 2, ds / 4, dds / 8);
            },
            table.radius};
}

}  // namespace kasane::gravity
