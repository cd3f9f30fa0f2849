// The potential on the stretched grid against closed forms.
#include <kasane/core/math/quadrature.hpp>
#include <kasane/gravity/galaxy/disk/bessel.hpp>
#include <kasane/gravity/galaxy/disk/cylinder_poisson.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

namespace kasane::gravity {
namespace {

using std::numbers::pi;

CylinderGrid grid_of(double R_core, double z_core, double extent, double refine = 1) {
    const auto axis = [&](double core, double step) {
        return StretchedAxis{core, step, static_cast<std::size_t>(std::ceil(std::asinh(extent / core) / step))};
    };
    return {axis(R_core, refine / 40), axis(z_core, refine / 16)};
}

/// Mass of every cell by quadrature.
std::vector<double> masses(const CylinderGrid& grid, const std::function<double(double, double)>& density) {
    std::vector<double> mass(grid.size());
    for (std::size_t i = 0; i < grid.R.cells; ++i) {
        for (std::size_t j = 0; j < grid.z.cells; ++j) {
            mass[i * grid.z.cells + j] = integrate_short(
                [&](double R) {
                    return 2 * pi * R * integrate_short([&](double z) { return density(R, z); }, grid.z.face(j), grid.z.face(j + 1));
                },
                grid.R.face(i), grid.R.face(i + 1));
        }
    }
    return mass;
}

PlaneField solved(const CylinderGrid& grid, const std::vector<double>& mass, krylov::SolveLog* log = nullptr) {
    const Multipoles outside(grid, mass);
    std::vector<double> psi(grid.size());
    const auto end = CylinderPoisson(grid).solve(mass, outside, psi);
    EXPECT_TRUE(end.converged());
    if (log) *log = end;
    return {grid, psi, outside};
}

/// Miyamoto & Nagai (1975), M = 1.
struct MiyamotoNagai {
    double a = 1, b = 0.2;
    double density(double R, double z) const {
        const double s = std::hypot(z, b), t = a + s;
        return b * b / (4 * pi) * (a * R * R + (a + 3 * s) * t * t) / (std::pow(R * R + t * t, 2.5) * s * s * s);
    }
    double psi(double R, double z) const { return 1 / std::hypot(R, a + std::hypot(z, b)); }
    PlaneField::At at(double R, double z) const {
        const double s = std::hypot(z, b), p = psi(R, z), p3 = p * p * p;
        return {p, -R * p3, -z * (a + s) / s * p3};
    }
};

struct Errors {
    double psi = 0, force = 0;
};
Errors errors(const PlaneField& field, const MiyamotoNagai& exact) {
    Errors e;
    for (const double R : {0., 0.003, 0.05, 0.3, 1., 2.2, 5., 11.}) {
        for (const double z : {0.01, -0.1, 0.31, 1., 4.}) {
            const auto a = exact.at(R, z), f = field.at(R, z);
            e.psi = std::max(e.psi, std::abs(f.psi / a.psi - 1));
            e.force = std::max(e.force, std::hypot(f.d_R - a.d_R, f.d_z - a.d_z) / std::hypot(a.d_R, a.d_z));
        }
    }
    return e;
}

TEST(CylinderPoisson, MiyamotoAndNagaisDisk) {
    // Its density has no end: the mass outside the box of 400, a fraction of 2e-4, lowers psi by less than 2e-4 / 400.
    const MiyamotoNagai exact;
    krylov::SolveLog log;
    const auto fine = grid_of(0.14, 0.2, 400), coarse = grid_of(0.14, 0.2, 400, 2);
    const auto mass = [&](const CylinderGrid& g) { return masses(g, [&](double R, double z) { return exact.density(R, z); }); };
    const auto at_fine = errors(solved(fine, mass(fine), &log), exact), at_coarse = errors(solved(coarse, mass(coarse)), exact);
    EXPECT_LT(at_fine.psi, 3e-4);
    EXPECT_LT(at_fine.force, 4e-4);
    // Second order: a quarter for half the cells.
    EXPECT_LT(at_fine.force, 0.35 * at_coarse.force);
    EXPECT_LT(log.iterations, 250);
}

TEST(CylinderPoisson, HomogeneousSphere) {
    // Psi = (3 - r^2)/2 inside the unit sphere; its edge runs across the cells, so masses are good to some cells' share.
    const auto grid = grid_of(0.5, 0.5, 4);
    const double rho = 3 / (4 * pi);
    const auto field = solved(grid, masses(grid, [&](double R, double z) { return R * R + z * z < 1 ? rho : 0; }));
    for (const double R : {0., 0.2, 0.5}) {
        for (const double z : {0., 0.3, 0.6}) {
            const auto f = field.at(R, z);
            EXPECT_NEAR(f.psi, (3 - R * R - z * z) / 2, 2e-3);
            EXPECT_NEAR(f.d_R, -R, 2e-3);
            EXPECT_NEAR(f.d_z, -z, 2e-3);
        }
    }
    for (const double r : {1.5, 3., 6.}) {  // the last one is outside the grid
        EXPECT_NEAR(field.psi(r * 0.6, r * 0.8) * r, 1, 2e-3);
        EXPECT_NEAR(-field.at(r * 0.6, r * 0.8).d_z * r * r, 0.8, 2e-3);
    }
}

TEST(CylinderPoisson, FreemansRotationCurve) {
    // v^2 = 4 pi G Sigma0 R_d y^2 (I0 K0 - I1 K1), y = R / (2 R_d) [Freeman 1970], for a sheet without thickness. The column
    // sech^2(z/h) has the mean height <|z|> = h ln 2, and with exp(-k|z|) = 1 - k|z| raises Phi in the plane by 2 pi G Sigma <|z|>.
    const double h = 0.002;
    const auto grid = grid_of(0.14, h, 60);
    std::vector<double> mass(grid.size());
    const auto inside = [](double R) { return 1 - (1 + R) * std::exp(-R); };
    for (std::size_t i = 0; i < grid.R.cells; ++i) {
        for (std::size_t j = 0; j < grid.z.cells; ++j) {
            mass[i * grid.z.cells + j] = (inside(grid.R.face(i + 1)) - inside(grid.R.face(i))) / 2 *
                                         (std::tanh(grid.z.face(j + 1) / h) - std::tanh(grid.z.face(j) / h));
        }
    }
    const auto field = solved(grid, mass);
    for (const double R : {0.3, 1., 2.2, 4., 8.}) {
        const double y = R / 2;
        const double bessel = std::cyl_bessel_i(0, y) * std::cyl_bessel_k(0, y) - std::cyl_bessel_i(1, y) * std::cyl_bessel_k(1, y);
        const double sheet = 2 * y * y * bessel, thickness = -R * std::exp(-R) * h * std::numbers::ln2;
        EXPECT_NEAR(-R * field.at(R, 0).d_R / (sheet + thickness), 1, 5e-4) << R;
    }
}

TEST(PlaneField, IsSmoothWhereCellsMeet) {
    const MiyamotoNagai exact;
    const auto grid = grid_of(0.14, 0.2, 40);
    std::vector<double> psi(grid.size());
    for (std::size_t i = 0; i < grid.R.cells; ++i) {
        for (std::size_t j = 0; j < grid.z.cells; ++j) psi[i * grid.z.cells + j] = exact.psi(grid.R.centre(i), grid.z.centre(j));
    }
    const PlaneField field(grid, psi, {});
    for (const std::size_t i : {std::size_t{0}, std::size_t{5}, std::size_t{70}}) {
        for (const double z : {0., 0.07, 0.5}) {
            const double R = grid.R.centre(i), tiny = 1e-9;
            EXPECT_NEAR(field.at(R - tiny, z).d_R, field.at(R + tiny, z).d_R, 1e-7);
            // Bicubic interpolation of exact values.
            EXPECT_NEAR(field.at(R + 0.01, z).d_R, exact.at(R + 0.01, z).d_R, 2e-5);
            EXPECT_NEAR(field.psi(R + 0.01, z), exact.psi(R + 0.01, z), 1e-6);
        }
    }
    EXPECT_EQ(field.at(1, 0.3).d_z, -field.at(1, -0.3).d_z);
    EXPECT_EQ(field.at(1, 0).d_z, 0);
    EXPECT_EQ(field.at(0, 1).d_R, 0);
}

TEST(ScaledBessel, AgreesWithTheStandardLibrary) {
    for (const double x : {0., 1e-8, 0.1, 1., 3.7, 8.9, 19.999, 20.001, 50., 300.}) {
        const auto [i0, i1] = scaled_bessel(x);
        EXPECT_NEAR(i0 / (std::cyl_bessel_i(0, x) * std::exp(-x)), 1, 1e-9) << x;
        EXPECT_NEAR(i1, std::cyl_bessel_i(1, x) * std::exp(-x), 1e-9 * i1) << x;
    }
    // I1/I0 = 1 - 1/(2x) - 1/(8x^2) - ...
    EXPECT_NEAR(scaled_bessel(1e6).i1 / scaled_bessel(1e6).i0, 1 - 5e-7 - 1.25e-13, 1e-15);
}

}  // namespace
}  // namespace kasane::gravity
