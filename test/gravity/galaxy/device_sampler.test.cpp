// Particles drawn on a CUDA device against those of the CPU. Both draw by one source (particle_draw.hpp) and the same random numbers; the
// device fuses products with sums and has other elementary functions, so that numbers differ by some roundings.
#include <gravity/galaxy/disk/models.hpp>
#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/galaxy/sampler.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#if defined(KASANE_CUDA)

namespace kasane::gravity {
namespace {

double norm(const Vec3<double>& v) { return std::sqrt(dot(v, v)); }

/// Largest differences of two samples: of positions in parts of the radius, of velocities in parts of the speed or of the typical speed.
struct Differences {
    double position = 0, velocity = 0;
};

Differences differences(const Particles& a, const Particles& b) {
    double typical = 0;
    for (const auto& v : a.velocity) typical += norm(v) / static_cast<double>(a.size());
    Differences most;
    for (std::size_t i = 0; i < a.position.size(); ++i) {
        most.position = std::max(most.position, norm(a.position[i] - b.position[i]) / norm(a.position[i]));
        most.velocity = std::max(most.velocity, norm(a.velocity[i] - b.velocity[i]) / std::max(norm(a.velocity[i]), typical));
    }
    return most;
}

class DeviceSampler : public testing::Test {
   protected:
    void SetUp() override {
        if (const auto why = why_no_cuda(); !why.empty()) GTEST_SKIP() << why;
    }

    /// Radii are solutions of Newton's iteration to 1e-15 in ln M and speeds come from tables with relative steps of a few per cent, so
    /// that a rounding is amplified by at most about a thousand. An angle of a disk is an arc cosine: close to the rotation, where 1 - cos
    /// is 1e-8 in the nearest of a million draws, it loses four digits.
    static void expect_same(const GalaxyModel& model, const std::string& what) {
        const Galaxy galaxy(model);
        const auto host = sample(galaxy), device = sample(galaxy, Cuda{});
        ASSERT_EQ(host.size(), device.size());
        EXPECT_EQ(host.mass, device.mass);
        EXPECT_EQ(host.id, device.id);
        EXPECT_EQ(host.type, device.type);
        const auto most = differences(host, device);
        EXPECT_LT(most.position, 1e-11) << what;
        EXPECT_LT(most.velocity, 1e-10) << what;
        EXPECT_GT(most.position + most.velocity, 0) << what << ": drawn by the CPU twice";
    }
};

TEST_F(DeviceSampler, SpheresOfEveryKindAgreeWithTheCpu) {
    const auto truncated = [](Law law) { return test::sphere(std::move(law), 2, 1.5, {10, 1}); };
    Component anisotropic = test::sphere(Plummer{}, 1, 1, {});
    anisotropic.anisotropy_radius = 2;
    const std::vector<Component> spheres{test::sphere(Plummer{}, 1, 1, {}),
                                         anisotropic,
                                         test::sphere(King{6}, 1, 1, {}),
                                         test::sphere(Hernquist{}, 1, 1, {}),
                                         truncated(Nfw{}),
                                         truncated(Moore{}),
                                         truncated(Burkert{}),
                                         truncated(Einasto{}),
                                         test::sphere(Isothermal{}, 2, 1.5, {10, 3}),
                                         truncated(TwoPower{}),
                                         truncated(Sersic{4})};
    for (auto sphere : spheres) {
        sphere.count = 50'000;
        expect_same({.components = {sphere}, .seed = 3, .G = 2}, sphere.label());
    }
}

TEST_F(DeviceSampler, AGalaxyWithDisksAndABlackHoleAgreesWithTheCpu) {
    auto model = test::m31();
    model.components[3].disk.retrograde = 0.3;
    auto thick = test::exponential_disk(0.5, 3, 1, 2);
    thick.name = "thick";
    thick.truncation = {30, 3};
    model.components.push_back(thick);
    model.components.push_back({.law = BlackHole{}, .mass = 0.01});
    model.count = 400'000;
    model.seed = 8;
    for (std::size_t k = 0; k < model.components.size(); ++k) model.components[k].name = "component " + std::to_string(k);
    expect_same(model, "M31");
}

// More than a piece of 2^22 particles, which no block of particles divides.
TEST_F(DeviceSampler, ManyParticlesAreDrawnInPieces) {
    auto sphere = test::sphere(Plummer{}, 1, 1, {});
    sphere.count = (index_t{1} << 22) + 5001;
    expect_same({.components = {sphere}}, "many");
}

TEST_F(DeviceSampler, ASeedGivesTheSameBits) {
    auto model = test::m31();
    model.count = 50'000;
    const Galaxy galaxy(model);
    const auto one = sample(galaxy, Cuda{}), again = sample(galaxy, Cuda{});
    EXPECT_EQ(one.position, again.position);
    EXPECT_EQ(one.velocity, again.velocity);
}

}  // namespace
}  // namespace kasane::gravity

#endif
