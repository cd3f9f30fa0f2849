#include <kasane/gravity/galaxy/component/density_law.hpp>
#include <kasane/gravity/galaxy/component/king.hpp>

#include "stencil.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <ostream>
#include <string>
#include <vector>

using namespace kasane::gravity;
using std::numbers::pi;

namespace {

template <class F>
Table tabulated(F f, double first, double last, int rows) {
    Table table;
    for (int i = 0; i < rows; ++i) {
        const double r = first * std::pow(last / first, i / (rows - 1.));
        table.radius.push_back(r);
        table.density.push_back(f(r));
    }
    return table;
}

double hernquist(double x) { return 1 / (x * std::pow(1 + x, 3)); }
Table hernquist_table() { return tabulated(hernquist, 1e-3, 1e3, 121); }
Table exponential_table() {
    return tabulated([](double R) { return std::exp(-R); }, 1e-3, 20, 121);
}

/// -1e9: no power law at that end.
constexpr double steep = -1e9;

struct LawCase {
    std::string name;
    Law law;
    Truncation cut;
    double inner_slope, outer_slope;              // d ln rho / d ln r far in and far out, without truncation
    double tolerance = 1e-10;                     // of derivatives against differences
    std::function<double(double)> expected = {};  // of x, in any unit
    std::function<double(double)> mass = {};      // enclosed, in any unit, without truncation
    friend std::ostream& operator<<(std::ostream& out, const LawCase& c) { return out << c.name; }
};

constexpr double scale = 2.5;

Component component_of(const LawCase& c) {
    Component component;
    component.law = c.law;
    component.truncation = c.cut;
    const bool table = std::holds_alternative<TabulatedDensity>(c.law) || std::holds_alternative<TabulatedSurfaceDensity>(c.law);
    component.scale = table ? 1 : scale;
    return component;
}

double unit(const LawCase& c) { return component_of(c).scale; }

std::vector<LawCase> law_cases() {
    const Truncation wide{75, 7.5}, sharp{75, 0.75};
    using std::pow;
    return {
        {"plummer",
         Plummer{},
         {},
         0,
         -5,
         1e-10,
         [](double x) { return pow(1 + x * x, -2.5); },
         [](double x) { return pow(1 + 1 / (x * x), -1.5); }},
        {"king_3", King{3}, {}, 0, steep},
        {"king_9_cut", King{9}, {75, 7.5}, 0, steep},
        {"hernquist", Hernquist{}, {}, -1, -4, 1e-10, hernquist, [](double x) { return pow(x / (1 + x), 2); }},
        {"hernquist_cut", Hernquist{}, wide, -1, steep, 1e-9, hernquist},
        {"nfw", Nfw{}, wide, -1, steep, 1e-9, [](double x) { return 1 / (x * pow(1 + x, 2)); },
         // Without cancellation: ln(1 + x) - x/(1 + x) = x^2/2 - 2/3 x^3 + ...
         [](double x) { return x < 1e-3 ? x * x * (0.5 - x * (2. / 3 - x * (0.75 - 0.8 * x))) : std::log1p(x) - x / (1 + x); }},
        {"moore", Moore{}, wide, -1.5, steep, 1e-9, [](double x) { return 1 / (pow(x, 1.5) * (1 + pow(x, 1.5))); },
         [](double x) { return std::log1p(pow(x, 1.5)); }},
        {"burkert", Burkert{}, wide, 0, steep, 1e-9, [](double x) { return 1 / ((1 + x) * (1 + x * x)); },
         [](double x) {
             return x < 1e-2
                        ? x * x * x / 3 * (1 - 0.75 * x + x * x * x / 2 - 3. / 7 * pow(x, 4))  // 1/((1+x)(1+x^2)) = 1 - x + x^4 - x^5 ...
                        : std::log1p(x) / 2 + std::log1p(x * x) / 4 - std::atan(x) / 2;
         }},
        {"isothermal_sharp", Isothermal{}, sharp, 0, steep, 1e-8, [](double x) { return 1 / (1 + x * x); },
         [](double x) { return x < 1e-2 ? x * x * x * (1. / 3 - x * x * (0.2 - x * x * (1. / 7 - x * x / 9))) : x - std::atan(x); }},
        {"einasto", Einasto{0.18}, {}, 0, steep, 1e-10, [](double x) { return std::exp(-2 / 0.18 * (pow(x, 0.18) - 1)); }},
        {"einasto_flat", Einasto{0.05}, {}, 0, steep, 1e-10, [](double x) { return std::exp(-40 * (pow(x, 0.05) - 1)); }},
        {"einasto_gauss", Einasto{2}, {}, 0, steep, 1e-10, [](double x) { return std::exp(1 - x * x); }},
        {"two_power",
         TwoPower{1.7, 4.2, 1.3},
         {},
         -1.7,
         -4.2,
         1e-10,
         [](double x) { return pow(x, -1.7) * pow(1 + pow(x, 1.3), -2.5 / 1.3); }},
        {"two_power_steep", TwoPower{2.5, 3.5, 2}, {}, -2.5, -3.5, 1e-10, [](double x) { return pow(x, -2.5) / std::sqrt(1 + x * x); }},
        {"triple_power",
         TriplePower{0.5, 2, 4.5, 40, 2},
         {},
         -0.5,
         -4.5,
         1e-10,
         [](double x) {
             const double y = x * scale / 40;
             return pow(x, -0.5) * pow(1 + x * x, -0.75) * pow(1 + y * y, -1.25);
         }},
        {"sersic_1", Sersic{1}, {}, 0, steep, 1e-9, [](double x) { return std::cyl_bessel_k(0, 1.6783469900166605 * x); }},
        {"sersic_half", Sersic{0.5}, {}, 0, steep, 1e-10, [](double x) { return std::exp(-std::numbers::ln2 * x * x); }},
        {"sersic_half_nearly", Sersic{0.5000001}, {}, 0, steep, 1e-9},
        {"sersic_4_cut", Sersic{4}, wide, -0.75, steep, 1e-9},
        {"sersic_10", Sersic{10}, {}, -0.9, steep, 1e-9},
        // The spline's third derivatives jump at the rows: differences across one see its size times their step.
        {"table", TabulatedDensity{hernquist_table()}, {}, -1, -4, 1e-4},
        {"table_cut", TabulatedDensity{tabulated([](double x) { return 1 / (1 + x * x); }, 0.01, 100, 41)}, wide, 0, steep, 1e-4},
        {"surface_table", TabulatedSurfaceDensity{exponential_table()}, {10, 1}, -1, steep, 1e-2},
    };
}

class DensityLawTest : public testing::TestWithParam<LawCase> {};

/// Int of 4 pi r^2 rho over ln r by Simpson's rule, from a to b, in n double panels.
double mass_between(const DensityLaw& law, double a, double b, int n) {
    const double first = std::log(a), h = (std::log(b) - first) / (2 * n);
    double sum = 0;
    for (int i = 0; i <= 2 * n; ++i) {
        const double r = std::exp(first + i * h);
        sum += (i == 0 || i == 2 * n ? 1 : i % 2 == 1 ? 4 : 2) * r * r * r * law.at(r).rho;
    }
    return 4 * pi * h / 3 * sum;
}

TEST_P(DensityLawTest, DerivativesAreThoseOfTheDensity) {
    const auto& c = GetParam();
    const auto law = density_law(component_of(c));
    const double last = std::log(law.outer) - (law.finite ? 0.1 : 0);
    const double pace = (last - std::log(law.inner)) / 300.3;
    for (double t = std::log(law.inner); t < last; t += pace) {
        const double r = std::exp(t);
        const auto at = law.at(r);
        ASSERT_GT(at.rho, 0) << r;
        const double s = r * at.d / at.rho, h = std::min(law.step / 8, 0.04 / (10 + std::abs(s)));
        // Relative to the size of each derivative's terms; rounding of ln rho: eps |ln rho| / h = 1e-12 |s|.
        const double size = 1 + std::abs(s);
        const double slope = stencil([&](double u) { return std::log(law.at(std::exp(u)).rho); }, t, h);
        EXPECT_NEAR(slope, s, c.tolerance * size) << r;
        const double second = stencil([&](double u) { return law.at(std::exp(u)).d; }, t, h);  // r rho''
        EXPECT_NEAR(second * r / at.rho, at.dd * r * r / at.rho, c.tolerance * size * size) << r;
    }
}

TEST_P(DensityLawTest, IsFiniteEverywhereAndUnderflowsToZero) {
    const auto law = density_law(component_of(GetParam()));
    const double last = std::log(law.outer * 10);
    for (double t = std::log(law.inner * 1e-3); t < last; t += 0.0917) {
        const auto [rho, d, dd] = law.at(std::exp(t));
        ASSERT_TRUE(std::isfinite(rho) && std::isfinite(d) && std::isfinite(dd)) << std::exp(t);
        ASSERT_GE(rho, 0);
    }
}

TEST_P(DensityLawTest, GridContainsTheMass) {
    const auto law = density_law(component_of(GetParam()));
    const double total = mass_between(law, law.inner, law.outer, 20000);
    const double further_in = law.inner * 1e-20;  // r^3 rho falls at least as r^(1/2)
    EXPECT_LT(mass_between(law, further_in, law.inner, 2000), 1e-11 * total);
    EXPECT_LT(mass_between(law, law.outer, law.outer * (law.finite ? 10 : 1e10), 2000), (law.finite ? 1e-18 : 2e-10) * total);
    EXPECT_LE(law.step, 1. / 64);
    if (const auto cut = GetParam().cut) {
        EXPECT_TRUE(law.finite);
        EXPECT_LE(law.outer, cut.end());
        EXPECT_LE(law.step, cut.width / cut.radius / 8);
    }
}

TEST_P(DensityLawTest, SlopesAtBothEnds) {
    const auto& c = GetParam();
    const auto law = density_law(component_of(c));
    // Far in: cores leave x^(1/20) in the flattest Einasto law and 1/ln x in an exponential Sersic sphere.
    const double r = law.inner * 1e-3;
    const double s = r * law.at(r).d / law.at(r).rho;
    const bool slow = c.name.starts_with("einasto") || c.name == "sersic_1" || c.name.starts_with("sersic_10");
    const bool table = c.name.ends_with("table") || c.name == "table_cut";
    EXPECT_NEAR(s, c.inner_slope, c.name == "einasto_flat" ? 0.8 : slow ? 0.3 : table ? 0.05 : 2e-2) << "at " << r;
    if (c.outer_slope == steep) {
        EXPECT_TRUE(law.finite);
        return;
    }
    EXPECT_FALSE(law.finite);
    EXPECT_NEAR(law.outer * law.at(law.outer).d / law.at(law.outer).rho, c.outer_slope, table ? 0.02 : 1e-8);
}

TEST_P(DensityLawTest, IsTheFormula) {
    const auto& c = GetParam();
    if (!c.expected) return;  // King and Sersic spheres have tests of their own
    const auto law = density_law(component_of(c));
    const auto edge = [&](double r) { return c.cut ? std::erfc((r - c.cut.radius) / c.cut.width) / 2 : 1; };
    const double last = std::log(std::min(law.outer, 1e8));
    const double reference = law.at(unit(c)).rho / (c.expected(1) * edge(unit(c)));
    for (double t = std::log(law.inner); t < last; t += 0.37) {
        const double r = std::exp(t), expected = reference * c.expected(r / unit(c)) * edge(r);
        // Rounding of exponents up to 300, and of the erfc's argument.
        EXPECT_NEAR(law.at(r).rho, expected, 1e-11 * expected) << r;
    }
}

TEST_P(DensityLawTest, EnclosedMassIsTheClosedForm) {
    const auto& c = GetParam();
    if (!c.mass) return;  // no closed form
    const auto law = density_law(component_of(c));
    const double a = 1e-3 * unit(c), first = c.mass(1e-3);
    const double reference = mass_between(law, a, unit(c), 4000) / (c.mass(1) - first);
    for (const double x : {0.01, 0.3, 2., 10.}) {  // the truncation, at 30 scales and no wider than 3, has not begun: erfc(6.6) = 1e-20
        // Simpson: (ln range / 8000)^4/180 = 1e-14 times the fourth derivative, at most 4^4.
        EXPECT_NEAR(mass_between(law, a, x * unit(c), 4000) / reference, c.mass(x) - first, 1e-11 * c.mass(x)) << x;
    }
}

INSTANTIATE_TEST_SUITE_P(Laws, DensityLawTest, testing::ValuesIn(law_cases()), [](const auto& one) { return one.param.name; });

double total_mass(const DensityLaw& law) { return mass_between(law, law.inner, law.outer, 20000); }
DensityLaw law_of(Law law) {
    Component c;
    c.law = std::move(law);
    return density_law(c);
}

TEST(DensityLaw, TotalMassesOfEinastoAndSersic) {
    for (const double alpha : {0.1, 0.18, 1., 2.}) {
        const auto law = law_of(Einasto{alpha});
        const double k = 3 / alpha;  // 4 pi Int x^2 exp(-2/alpha (x^alpha - 1)) dx
        const double expected = 4 * pi / alpha * std::exp(2 / alpha + std::lgamma(k)) * std::pow(alpha / 2, k);
        // lgamma's rounding: eps 80 for alpha = 0.1.
        EXPECT_NEAR(total_mass(law) / expected, 1, 1e-11) << alpha;
    }
    for (const double n : {0.6, 1., 4., 9.}) {
        // The ratio of masses of n and its own surface density's integral: 2 pi n e^b b^(-2n) Gamma(2n).
        const auto law = law_of(Sersic{n});
        double b = 2 * n;  // P(2n, b) = 1/2 by bisection of a Simpson sum
        double low = 0.1, high = 30;
        for (int i = 0; i < 60; ++i) {
            b = (low + high) / 2;
            double sum = 0;
            const int panels = 400;
            for (int j = 0; j <= 2 * panels; ++j) {
                const double u = j / (2. * panels), z = b * u * u * u * u;  // z^(2n - 1) dz is smooth in u
                const double value = u > 0 ? std::pow(z, 2 * n - 1) * std::exp(-z) * 4 * b * u * u * u : 0;
                sum += (j == 0 || j == 2 * panels ? 1 : j % 2 == 1 ? 4 : 2) * value;
            }
            (sum / (6. * panels) < std::tgamma(2 * n) / 2 ? low : high) = b;
        }
        const double expected = 2 * pi * n * std::exp(b) * std::pow(b, -2 * n) * std::tgamma(2 * n);
        EXPECT_NEAR(total_mass(law) / expected, 1, 2e-8) << n;  // of the bisected b, times 2n
    }
}

TEST(DensityLaw, LawsContainEachOther) {
    for (const double r : {1e-4, 0.3, 1., 7., 300.}) {
        EXPECT_NEAR(law_of(TwoPower{}).at(r).dd / law_of(Hernquist{}).at(r).dd, 1, 1e-13);
        EXPECT_NEAR(law_of(TwoPower{0, 5, 2}).at(r).d / law_of(Plummer{}).at(r).d, 1, 1e-13);
        EXPECT_NEAR(law_of(TriplePower{1, 4, 4, 50, 1}).at(r).dd / law_of(Hernquist{}).at(r).dd, 1, 1e-13);
    }
}

// rho'' - rho'/r vanishes at the centre of a core as r^2: f(E) there divides it by r^2.
TEST(DensityLaw, CurvatureOfACoreKeepsItsDigits) {
    for (const double r : {1e-5, 1e-4, 1e-3, 0.009, 0.0101, 0.05}) {
        const auto check = [&](const char* law, const DensityAt& at, double expected, double tolerance) {
            EXPECT_NEAR(at.dd - at.d / r, expected, tolerance) << law << " " << r;
        };
        const double eps = 2e-16;
        const double s = 1 + r * r;
        check("plummer", law_of(Plummer{}).at(r), 35 * r * r * std::pow(s, -4.5), 100 * eps);
        check("gauss", law_of(Sersic{0.5}).at(r), law_of(Sersic{0.5}).at(r).rho * std::pow(2 * std::numbers::ln2 * r, 2), 100 * eps);
        // rho_W (W'' - W'/r) + rho_WW W'^2 with W = W0 - 3/2 r^2 + 27/40 rho_W/rho r^4 - ...: the next order is about 5 r^2 of it.
        const auto [rho, d, dd] = king_density(6);
        const double king = (5.4 * d * d / rho + 9 * dd) / rho * r * r;
        check("king", law_of(King{6}).at(r), king, 100 * eps + 10 * r * r * king);
    }
}

TEST(DensityLaw, ATableReproducesItsFunction) {
    const auto law = law_of(TabulatedDensity{hernquist_table()});
    const double unit = law.at(1).rho / hernquist(1);
    for (const double r : {0.01, 0.1, 0.7, 3., 50.}) {
        const auto at = law.at(r);
        const double s = -1 - 3 * r / (1 + r), ds = -3 * r / std::pow(1 + r, 2);
        // h = 0.115: h^4/77 = 2e-6, h^3/24 = 6e-5 and h^2/8 = 2e-3 times ln rho's fourth derivative by ln r, at most 0.4.
        EXPECT_NEAR(at.rho / (unit * hernquist(r)), 1, 1e-6) << r;
        EXPECT_NEAR(r * at.d / at.rho, s, 3e-5) << r;
        EXPECT_NEAR(r * r * at.dd / at.rho, s * s - s + ds, 1e-3) << r;
    }
}

TEST(DensityLaw, ADeprojectedTableIsABesselFunction) {
    Component c;
    c.law = TabulatedSurfaceDensity{exponential_table()};
    const auto law = density_law(c);
    for (const double r : {0.05, 0.3, 2., 8.}) {
        // The slope of the spline, h = 0.0825 in ln R: h^3/24 R at R = 8, near the table's end.
        EXPECT_NEAR(law.at(r).rho / law.at(1).rho, std::cyl_bessel_k(0, r) / std::cyl_bessel_k(0, 1), 2e-4 * law.at(r).rho / law.at(1).rho)
            << r;
    }
}

}  // namespace
