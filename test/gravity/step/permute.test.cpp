// Permutations, gathers and scatters, and copies between the host and a System whose particles are in another order.
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/step/permute.hpp>
#include <kasane/gravity/step/system.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace kasane::gravity {
namespace {

template <class S>
class PermuteOn : public testing::Test {
   protected:
    void SetUp() override {
#if defined(KASANE_CUDA)
        if (std::is_same_v<S, Cuda> && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
#endif
    }
    S on{};
};
#if defined(KASANE_CUDA)
using Spaces = testing::Types<Cpu, Cuda>;
#else
using Spaces = testing::Types<Cpu>;
#endif
TYPED_TEST_SUITE(PermuteOn, Spaces);

/// k -> (a k + b) mod n, a permutation where a and n have no common divisor.
std::vector<std::uint32_t> permutation(std::uint32_t n) {
    std::vector<std::uint32_t> order(n);
    for (std::uint64_t k = 0; k < n; ++k) order[k] = static_cast<std::uint32_t>((k * 1'000'003 + 17) % n);
    return order;
}

TYPED_TEST(PermuteOn, InvertsOrders) {
    const auto order = permutation(5000);
    const auto given = to_space(this->on, order);
    Buffer<std::uint32_t, TypeParam> place(this->on, given.size());
    invert(this->on, given.view(), place.view());
    const auto found = to_host(place);
    for (std::uint32_t k = 0; k < order.size(); ++k) ASSERT_EQ(found[order[k]], k);
}

// Sizes around the chunks of 2^18 particles that pass through pinned memory.
TYPED_TEST(PermuteOn, SystemsTakeAndReturnTheOrderGiven) {
    for (const std::uint32_t n : {1u, 1023u, (1u << 18) - 1, 1u << 18, 3 * (1u << 18) + 5}) {
        Particles given;
        given.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            const double x = i;
            given.position[i] = {x, 2 * x, -x};
            given.velocity[i] = {x / 2, 1, x};
            given.mass[i] = x + 1;
            given.id[i] = i;
        }
        for (const bool other : {false, true}) {
            const auto order = other ? permutation(n) : std::vector<std::uint32_t>{};
            System<TypeParam, Vec3<float>> system(this->on, given, {.order = true}, order);
            const auto inside = to_host(system.position);
            const auto masses = to_host(system.mass);
            for (std::uint32_t k = 0; k < n; ++k) {
                const auto i = other ? order[k] : k;
                ASSERT_EQ(inside[k], given.position[i]) << n;
                ASSERT_EQ(masses[k], given.mass[i]) << n;
            }
            std::vector<Vec3<double>> back(n);
            system.fetch(View<const Vec3<double>>(system.velocity.view()), back);
            ASSERT_EQ(back, given.velocity) << n;
            std::vector<Vec3<float>> halved(n);
            system.fetch(View<const Vec3<double>>(system.position.view()), halved, [](const Vec3<double>& v) {
                return Vec3<float>{static_cast<float>(v.x / 2), static_cast<float>(v.y), static_cast<float>(v.z)};
            });
            for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(halved[i].x, static_cast<float>(i) / 2) << n;
        }
    }
}

}  // namespace
}  // namespace kasane::gravity
