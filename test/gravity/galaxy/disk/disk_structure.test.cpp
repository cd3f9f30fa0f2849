// Vertical structure of disks: Spitzer's sheet, columns, convergence with the grid, and where spheres rule.
#include <kasane/gravity/galaxy/disk/disk_structure.hpp>

#include <gravity/galaxy/disk/models.hpp>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace kasane::gravity {
namespace {

using std::numbers::pi;
using test::lone_disk;

double half_column(const DiskStructure& s, std::size_t disk, double R) {
    const double end = 30 * s.columns(disk).height(s.axis().index(R));
    double sum = 0;
    constexpr int n = 4000;
    for (int k = 0; k < n; ++k) sum += s.density(disk, R, end * (k + 0.5) / n) * end / n;
    return sum;
}

TEST(DiskStructure, AThinSheetIsSpitzers) {
    // rho = rho0 sech^2(z/z0) with sigma_z^2 = pi G Sigma z0 [Spitzer 1942], fallen by e at z_d = z0 arcosh(sqrt(e)). What the rest of the
    // disk adds to a column is smaller by z_d/R_d, which is 1%.
    const double z_d = 0.01, z0 = z_d / std::acosh(std::exp(0.5));
    const DiskStructure s(lone_disk(z_d), nullptr, {}, {});
    for (const double R : {0.5, 1., 2., 3.}) {
        const double u = s.axis().index(R), sigma = s.profile(0)(R);
        EXPECT_NEAR(s.columns(0).sigma_z2(u) / (pi * sigma * z0), 1, 0.02) << R;
        EXPECT_NEAR(s.columns(0).half_thickness(u) / z0, 1, 0.02) << R;
        for (const double z : {0.3 * z0, z0, 2 * z0}) {
            EXPECT_NEAR(s.density(0, R, z) / s.density(0, R, 0) * std::pow(std::cosh(z / z0), 2), 1, 0.04) << R << " " << z;
        }
    }
}

TEST(DiskStructure, ColumnsContainTheSurfaceDensity) {
    auto model = test::m31();
    model.components.push_back(test::exponential_disk(1, 3, 0.25));
    const DiskStructure s(model, test::spheres_of(model), {}, {});
    ASSERT_EQ(s.size(), 2u);
    for (const std::size_t d : {std::size_t{0}, std::size_t{1}}) {
        for (const double R : {0.2, 1., 3., 9., 20.}) {
            EXPECT_NEAR(2 * half_column(s, d, R) / s.profile(d)(R), 1, 2e-3) << d << " " << R;
            const double u = s.axis().index(R), h = s.columns(d).height(u);
            EXPECT_NEAR(s.density(d, R, h) / s.density(d, R, 0), std::exp(-1), 2e-3);
        }
    }
    EXPECT_NEAR(s.profile(0).mass(1e3), 3.66, 1e-8);
    // Freely exponential far inside the truncation.
    EXPECT_NEAR(s.profile(1).mass(3), 1 - 2 * std::exp(-1.), 1e-6);
}

TEST(DiskStructure, HalvingTheCellsChangesLittle) {
    auto model = test::m31();
    const auto spheres = test::spheres_of(model);
    const DiskStructure coarse(model, spheres, {}, {}, {.R_step = 1. / 20, .z_step = 1. / 8}), fine(model, spheres, {}, {});
    for (const double R : {0.3, 1., 2.5, 5.4, 12., 25.}) {
        const double a = coarse.axis().index(R), b = fine.axis().index(R);
        EXPECT_NEAR(coarse.columns(0).half_thickness(a) / fine.columns(0).half_thickness(b), 1, 2e-3) << R;
        EXPECT_NEAR(coarse.columns(0).sigma_z2(a) / fine.columns(0).sigma_z2(b), 1, 2e-3) << R;
        EXPECT_NEAR(coarse.disks_psi(R, 0) / fine.disks_psi(R, 0), 1, 1e-3) << R;
        EXPECT_NEAR(coarse.at(R, 0.3).d_z / fine.at(R, 0.3).d_z, 1, 2e-3) << R;
    }
    EXPECT_LT(fine.iterations(), 30);
}

TEST(DiskStructure, IsThinnerWhereSpheresDominate) {
    GalaxyModel model;
    Component hole;
    hole.law = BlackHole{};
    hole.mass = 1;
    model.components = {hole, test::exponential_disk(0.01, 1, 0.1)};
    const DiskStructure s(model, test::spheres_of(model), {}, {});
    const auto height = [&](double R) { return s.columns(0).height(s.axis().index(R)); };
    // About a point mass: 1 - 1/sqrt(1 + x^2) = 1/25 at x = 0.2917.
    EXPECT_NEAR(height(0.02) / 0.02, 0.2917, 0.003);
    EXPECT_NEAR(height(1) / 0.1, 1, 1e-3);
    for (double R = 0.01; R < 2; R *= 1.2) EXPECT_LT(height(R), height(1.2 * R) * (1 + 1e-6));
}

TEST(DiskStructure, DoesNotDependOnThreads) {
    const auto model = lone_disk(0.1);
    const DiskStructure one(model, nullptr, Cpu{1}, {}), two(model, nullptr, Cpu{2}, {});
    for (const double R : {0.1, 1., 5.}) {
        EXPECT_EQ(one.density(0, R, 0.05), two.density(0, R, 0.05));
        EXPECT_EQ(one.disks_psi(R, 0.2), two.disks_psi(R, 0.2));
    }
}

TEST(DiskStructure, ReportsItsProgress) {
    double last = 0;
    int calls = 0;
    const DiskStructure s(lone_disk(0.1), nullptr, {}, [&](double done, const std::string&) {
        EXPECT_GE(done, 0);
        EXPECT_LE(done, 1);
        last = done;
        ++calls;
    });
    EXPECT_EQ(calls, s.iterations());
    EXPECT_GT(last, 0.5);
}

}  // namespace
}  // namespace kasane::gravity
