// The reference sums of force audits: they equal the formula and are the same bits for any distribution of the sources.
#include <kasane/core/device/buffer.hpp>
#include <kasane/gravity/direct/audit_sum.hpp>

#include <gravity/space_test.hpp>
#include <gravity/distributed/worker_cases.hpp>
#include <reference/direct.hpp>

namespace kasane::gravity {
namespace {

class ExactSumOn : public OnEverySpace {};
KS_ON_EVERY_SPACE(ExactSumOn);

constexpr index_t run = 128;

/// Sums of the sources [first, first + count), computed in several shares.
template <Space S>
std::vector<AuditSum> sums_of(S on, const std::vector<Vec3<double>>& target, const Particles& p, index_t first, index_t count,
                              double softening, index_t shares) {
    const auto x = to_space(on, p.position);
    const auto m = to_space(on, p.mass);
    const auto at = to_space(on, target);
    Buffer<AuditSum, S> part(on, shares * at.size());
    audit_sums(on, at.view(), {},
               {View<const Vec3<double>>(x.view()).subview(first, count), View<const double>(m.view()).subview(first, count)},
               Direct{.softening = softening}, Bins<3>(1e9), run, part.view());
    const auto parts = to_host(part);
    std::vector<AuditSum> sum(target.size());
    for (std::size_t k = 0; k < parts.size(); ++k) {
        sum[k % target.size()].x.add(parts[k].x);
        sum[k % target.size()].y.add(parts[k].y);
        sum[k % target.size()].z.add(parts[k].z);
    }
    return sum;
}

TEST_P(ExactSumOn, EqualsTheFormulaForAnyDistributionOfTheSources) {
    auto p = worker_particles(1000);
    p.position[3] = p.position[500];  // two particles at one point
    const std::vector<Vec3<double>> target{p.position[3], p.position[42], {0.1, -0.2, 0.3}};
    std::visit(
        [&](auto on) {
            for (const double softening : {0.0, 0.02}) {
                const auto whole = sums_of(on, target, p, 0, 1000, softening, 1);
                for (std::size_t t = 0; t < target.size(); ++t) {
                    const auto expected = reference::direct(target[t], p.position, p.mass, -1, softening, 1);
                    const Vec3<double> found{whole[t].x.value(), whole[t].y.value(), whole[t].z.value()},
                        off = found - expected.acceleration;
                    // Each pair has an error of some roundings of 2^-53, and a sum of 128 pairs at most as many again.
                    EXPECT_LT(std::sqrt(dot(off, off)), 140 * 0x1p-53 * expected.force_sum);
                }
                const auto shared = sums_of(on, target, p, 0, 1000, softening, 5);
                auto parts = sums_of(on, target, p, 0, 2 * run, softening, 3);
                const auto rest = sums_of(on, target, p, 2 * run, 1000 - 2 * run, softening, 2);
                for (std::size_t t = 0; t < target.size(); ++t) {
                    parts[t].x.add(rest[t].x);
                    parts[t].y.add(rest[t].y);
                    parts[t].z.add(rest[t].z);
                    for (const auto& other : {shared[t], parts[t]}) {
                        EXPECT_EQ(other.x.value(), whole[t].x.value());
                        EXPECT_EQ(other.y.value(), whole[t].y.value());
                        EXPECT_EQ(other.z.value(), whole[t].z.value());
                    }
                }
            }
        },
        space_);
}

}  // namespace
}  // namespace kasane::gravity
