// Surface density: mass and centre conserved, the right way up, wide kernels where particles are few.
#include <kasane/report/projection.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

using namespace kasane;
using namespace kasane::report;

namespace {

struct Cloud {
    std::vector<Vec3<double>> position;
    std::vector<double> mass;
    std::vector<std::uint8_t> group;
    void add(Vec3<double> r, double m = 1, std::uint8_t g = 0) { position.push_back(r), mass.push_back(m), group.push_back(g); }
    Density project(const Window& w, Plane plane = Plane::xy, std::uint8_t which = 0) {
        return surface_density(w, plane, view(position), view(mass), view(group), which);
    }
};

/// Larger than the widest kernel, some 200 pixels across.
Window window(double width = 20, int columns = 400, int rows = 300) { return {{0, 0, 0}, width, width * rows / columns, columns, rows}; }

struct Moments {
    double mass = 0, x = 0, y = 0, spread = 0, peak = 0;
};

Moments moments(const Density& d, const Window& w) {
    Moments m;
    const double area = w.pixel() * w.pixel();
    for (int pass = 0; pass < 2; ++pass)
        for (int row = 0; row < d.rows; ++row)
            for (int column = 0; column < d.columns; ++column) {
                const double v = static_cast<double>(d.value[static_cast<std::size_t>(row * d.columns + column)]) * area;
                const double x = w.center.x + (column + 0.5 - d.columns / 2.0) * w.pixel();
                const double y = w.center.y - (row + 0.5 - d.rows / 2.0) * w.pixel();
                if (pass == 0)
                    m.mass += v, m.x += v * x, m.y += v * y, m.peak = std::max(m.peak, v);
                else
                    m.spread += v * ((x - m.x / m.mass) * (x - m.x / m.mass) + (y - m.y / m.mass) * (y - m.y / m.mass));
            }
    m.x /= m.mass, m.y /= m.mass, m.spread = std::sqrt(m.spread / m.mass);
    return m;
}

TEST(ReportProjection, ConservesMassAndCenter) {
    std::mt19937 random(3);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform(0.1, 2);
    Cloud cloud;
    double mass = 0, x = 0, y = 0;
    for (int i = 0; i < 3000; ++i) {
        const double m = uniform(random);
        const Vec3<double> r{0.8 * normal(random) + 1, 0.8 * normal(random) - 0.5, 30 * normal(random)};
        cloud.add(r, m);
        mass += m, x += m * r.x, y += m * r.y;
    }
    const auto w = window();
    const auto m = moments(cloud.project(w), w);
    // Sums of float densities: one rounding of 6e-8 per deposit and refinement, of random sign, far below 1e-5.
    EXPECT_NEAR(m.mass, mass, 1e-5 * mass);
    EXPECT_NEAR(m.x, x / mass, 1e-4 * w.pixel() * 200);
    EXPECT_NEAR(m.y, y / mass, 1e-4 * w.pixel() * 200);
}

TEST(ReportProjection, ManyParticlesGiveThePictureOfFewHeavyOnes) {
    // Many particles are divided into slices. Ten copies of a cloud that is dense everywhere have its kernels, of the finest level.
    std::mt19937 random(5);
    std::uniform_real_distribution<double> x(-2, 2), y(-1.5, 1.5);
    Cloud heavy, many;
    for (int i = 0; i < 60000; ++i) heavy.add({x(random), y(random), 0}, 10);
    for (int copy = 0; copy < 10; ++copy)
        for (const auto& r : heavy.position) many.add(r);
    const auto w = window(4, 32, 24);
    const auto few = heavy.project(w), sliced = many.project(w);
    for (std::size_t i = 0; i < few.value.size(); ++i) ASSERT_NEAR(sliced.value[i], few.value[i], 1e-4 * few.value[i]) << i;
    EXPECT_EQ(sliced.value, many.project(w).value);
}

TEST(ReportProjection, OneParticleKeepsItsMassAtEveryKernelWidth) {
    const auto w = window();
    for (const int n : {1, 3, 30, 300, 30000}) {
        Cloud cloud;
        for (int i = 0; i < n; ++i) cloud.add({0.31, -0.17, 0});
        const auto m = moments(cloud.project(w), w);
        EXPECT_NEAR(m.mass, n, 1e-4 * n) << n;
        EXPECT_NEAR(m.x, 0.31, 0.05 * w.pixel()) << n;
        EXPECT_NEAR(m.y, -0.17, 0.05 * w.pixel()) << n;
    }
}

TEST(ReportProjection, UpIsUpAndDepthIsNotSeen) {
    Cloud cloud;
    for (int i = 0; i < 100; ++i) cloud.add({-6, 4, -5});
    const auto w = window();
    const auto front = moments(cloud.project(w, Plane::xy), w), side = moments(cloud.project(w, Plane::xz), w);
    EXPECT_NEAR(front.x, -6, w.pixel());
    EXPECT_NEAR(front.y, 4, w.pixel());
    EXPECT_NEAR(side.x, -6, w.pixel());
    EXPECT_NEAR(side.y, -5, w.pixel());
}

TEST(ReportProjection, KernelsAreWideWhereParticlesAreFew) {
    Cloud few, many;
    few.add({0, 0, 0});
    for (int i = 0; i < 5000; ++i) many.add({0, 0, 0});
    const auto w = window();
    const auto wide = moments(few.project(w), w), narrow = moments(many.project(w), w);
    EXPECT_GT(wide.spread, 10 * narrow.spread);
    EXPECT_LT(narrow.spread, 1.5 * w.pixel());  // the finest kernel: a triangular cloud, sqrt(1/2) pixels in two axes
}

TEST(ReportProjection, SeesOneGroup) {
    Cloud cloud;
    cloud.add({0, 0, 0}, 5, 0);
    cloud.add({1, 1, 0}, 7, 1);
    const auto w = window();
    EXPECT_NEAR(moments(cloud.project(w, Plane::xy, 0), w).mass, 5, 1e-4);
    EXPECT_NEAR(moments(cloud.project(w, Plane::xy, 1), w).mass, 7, 1e-4);
}

TEST(ReportProjection, IgnoresPositionsThatAreNotFinite) {
    const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    Cloud cloud;
    cloud.add({0, 0, 0});
    cloud.add({nan, 0, 0});
    cloud.add({0, inf, 0});
    cloud.add({-inf, nan, 0});
    cloud.add({1e300, -1e300, 0});
    cloud.add({10 + 1e-9, 0, 0});  // at the edge
    const auto w = window();
    const auto density = cloud.project(w);
    for (const float v : density.value) ASSERT_TRUE(std::isfinite(v) && v >= 0);
    EXPECT_GT(moments(density, w).mass, 0.99);
    EXPECT_LT(moments(density, w).mass, 2.01);
}

TEST(ReportProjection, NoParticles) {
    Cloud cloud;
    const auto density = cloud.project(window());
    EXPECT_EQ(density.value.size(), 400U * 300U);
    for (const float v : density.value) ASSERT_EQ(v, 0);
}

}  // namespace
