// The density of a component: its law, the range of its table, and its truncation.
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/component/density_law.hpp>
#include <kasane/gravity/galaxy/component/deprojection.hpp>
#include <kasane/gravity/galaxy/component/king.hpp>
#include <kasane/gravity/galaxy/component/log_table.hpp>
#include <kasane/gravity/galaxy/component/surface_density.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace kasane::gravity {
namespace {

constexpr double coarsest_step = 1. / 64, finest_step = 1. / 256;  // steps in ln r without a truncation
constexpr double inner_share = 1e-12;                              // fraction of the mass inside the grid, to a few per cent
constexpr double outer_share = 1e-22;                              // fraction of the mass beyond the grid, as beyond a truncation's end
constexpr double scan_step = 1. / 8;                               // step in ln r of the search for the grid's ends
constexpr double deepest = 70;  // largest -ln(r / scale): r^3 rho of the steepest cusp, r^-2.5, is 1e-15 there

/// A law without its truncation: rho, r rho', r^2 rho'' as functions of r.
struct Untruncated {
    std::function<ScaledDerivatives(double r)> at;
    double inner;    ///< the grid begins at this radius or inside it [length]
    double end = 0;  ///< end of the law or of its grid [length]; 0: the grid ends where the mass is negligible
    bool finite = true;
    double step = coarsest_step;
};

constexpr double core = 1e-5;  // in scales: inside it, every core and most cusps have their central form

/// The grid's end for a mass that converges as r^(3 - slope): at most 1e-10 of the mass is beyond it. Other laws need a truncation.
double power_law_end(double from, double slope) {
    return slope > 3 ? from * std::pow(10, 10 / std::min(slope - 3, 1.)) : std::numeric_limits<double>::infinity();
}

struct Extent {
    double inner, outer;
};

/// Sums r^3 rho over ln r.
Extent extent(const std::function<ScaledDerivatives(double r)>& at, double inner, double end) {
    std::vector<double> sums;
    const double first = std::log(inner / core) - deepest;
    const auto radius = [&](std::size_t i) { return std::exp(first + scan_step * static_cast<double>(i)); };
    double sum = 0, shell = 0, r = 0;
    do {
        r = radius(sums.size());
        shell = r * r * r * at(r).f;
        sums.push_back(sum += shell);
    } while (end > 0 ? r < end : shell > outer_share * sum || r < inner / core);
    std::size_t inside = 0;
    while (sums[inside + 1] < inner_share * sum) ++inside;
    return {std::min(inner, radius(inside)), end > 0 ? end : r};
}

Untruncated of_powers(const PowerProduct& product, double scale, double outermost_scale) {
    return {[product, scale](double r) { return product(r / scale); }, core * scale, power_law_end(outermost_scale, product.outer()), false,
            std::min(coarsest_step, 1 / (16 * product.sharpest()))};
}

double step_of(const LogTable& table) { return std::clamp(table.spacing(), finest_step, coarsest_step); }

struct Build {
    double scale;

    template <class Powers>
        requires requires(Powers law) { power_product(law); }
    Untruncated operator()(const Powers& law) const {
        return of_powers(power_product(law), scale, scale);
    }
    Untruncated operator()(const TriplePower& law) const { return of_powers(power_product(law, scale), scale, law.outer_scale); }
    Untruncated operator()(const King& law) const {
        const auto sphere = std::make_shared<const KingSphere>(law.w0);
        return {[sphere, s = scale](double r) { return (*sphere)(r / s); }, core * scale, sphere->tidal_radius() * scale};
    }
    Untruncated operator()(const Einasto& law) const {
        return {[law = StretchedExponential{2 / law.alpha, law.alpha}, s = scale](double r) { return law(r / s); }, core * scale};
    }
    Untruncated operator()(const Sersic& law) const {
        if (law.n == 0.5) {  // a Gaussian sphere has a closed form, which is more accurate in the core than a table
            return {[law = StretchedExponential{sersic_b(0.5), 2}, s = scale](double r) { return law(r / s); }, core * scale};
        }
        // From the radius inside which n = 10 has 1e-15 of its mass to the radius where the surface density is exp(-130).
        const double first = 1e-12, last = std::pow(130 / sersic_b(law.n), law.n);
        const auto table = std::make_shared<const Deprojection>(sersic_projection(law.n), first, last);
        return {[table, s = scale](double r) { return (*table)(r / s); }, core * scale};
    }
    Untruncated operator()(const TabulatedDensity& law) const {
        const LogTable table(law.table);
        const auto at = [table](double r) {
            const auto [f, s, ds, dds] = table(r);
            return from_slopes(f, s, ds, dds);
        };
        const auto [first, last] = ends(law.table);
        return {at, inside_rows * first, power_law_end(last, -table.outer_slope()), false, step_of(table)};
    }
    Untruncated operator()(const TabulatedSurfaceDensity& law) const {
        const LogTable sigma(law.table);
        const auto [first, last] = ends(law.table);
        // Beyond the last row a power law of Sigma is a power law of rho; inside the first row this holds only far inside.
        const auto table = std::make_shared<const Deprojection>(table_projection(law.table), 1e-6 * first, last);
        return {[table](double r) { return (*table)(r); }, inside_rows * first, power_law_end(last, 1 - sigma.outer_slope()), false,
                step_of(sigma)};
    }
    Untruncated operator()(const auto& /*no sphere*/) const {
        KS_EXPECT(false);
        return {};
    }

    static constexpr double inside_rows = 0.01;
    static std::pair<double, double> ends(const Table& table) { return {table.radius.front(), table.radius.back()}; }
};

}  // namespace

DensityLaw density_law(const Component& component) {
    const auto law = std::visit(Build{component.scale}, component.law);
    const auto cut = component.truncation;
    if (!cut) {
        const auto [inner, outer] = extent(law.at, law.inner, law.end);
        const auto at = [full = law.at](double r) {
            const auto v = full(r);
            return DensityAt{v.f, v.d1 / r, v.d2 / r / r};
        };
        return {at, inner, outer, law.finite, law.step};
    }
    const auto cut_law = [full = law.at, cut](double r) { return truncated(full(r), cut, r); };
    const auto [inner, outer] = extent(cut_law, law.inner, law.end > 0 ? std::min(law.end, cut.end()) : cut.end());
    const auto at = [cut_law](double r) {
        const auto v = cut_law(r);
        return DensityAt{v.f, v.d1 / r, v.d2 / r / r};
    };
    return {at, inner, outer, true, std::min(law.step, cut.width / cut.radius / 8)};
}

}  // namespace kasane::gravity
