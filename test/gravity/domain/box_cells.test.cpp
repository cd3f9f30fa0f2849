// Cells of boxes on every space: they hold all bodies once, follow the bodies and not the volume, and are those of the CPU.
#include <gravity/domain/domain_cases.hpp>
#include <gravity/space_test.hpp>

#include <kasane/gravity/domain/box_cells.hpp>

#include <algorithm>
#include <random>

namespace kasane::test {
namespace {

/// A uniform cube of side 2, and a part of the bodies in a cluster of side 0.002.
TreeProblem cube(index_t n, index_t in_cluster) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> x(-1, 1);
    TreeProblem of;
    for (index_t i = 0; i < n; ++i) {
        const Vec3<double> at{x(random), x(random), x(random)};
        of.position.push_back(i < in_cluster ? Vec3<double>{0.3, 0.2, 0.1} + 1e-3 * at : at);
        of.mass.push_back(1 / static_cast<double>(n));
    }
    return of;
}

/// First bodies of the cells, and the number of all bodies.
template <Space S>
std::vector<std::uint32_t> cells_of(S on, const TreeProblem& of, index_t cells) {
    Octree<S> octree(on, {.softening = 0.02});
    const auto x = to_space(on, of.position);
    const auto m = to_space(on, of.mass);
    octree.sort(x.view(), m.view());
    octree.build();
    BoxCells<S> choice(on, cells);
    Buffer<std::uint32_t, S> begin(on, cells + 1);
    choice.choose(octree.view(), octree.levels(), begin.view());
    return to_host(begin);
}

std::uint32_t most_bodies(const std::vector<std::uint32_t>& begin) {
    std::uint32_t most = 0;
    for (std::size_t k = 0; k + 1 < begin.size(); ++k) most = std::max(most, begin[k + 1] - begin[k]);
    return most;
}
index_t used(const std::vector<std::uint32_t>& begin) { return std::lower_bound(begin.begin(), begin.end(), begin.back()) - begin.begin(); }

class BoxCellsOn : public OnEverySpace {};
KS_ON_EVERY_SPACE(BoxCellsOn);

TEST_P(BoxCellsOn, HoldAllBodiesAndAreThoseOfTheCpu) {
    for (const index_t n : {0, 1, 200, 201, 5000, 60000})
        for (const index_t cells : {1, 2, 64, 4096}) {
            const auto of = cube(n, n / 2);
            const auto begin = std::visit([&](auto on) { return cells_of(on, of, cells); }, space_);
            EXPECT_EQ(begin.front(), 0u);
            EXPECT_EQ(begin.back(), static_cast<std::uint32_t>(n));
            EXPECT_TRUE(std::is_sorted(begin.begin(), begin.end()));
            EXPECT_EQ(begin, cells_of(Cpu{1}, of, cells)) << n << " bodies, " << cells << " cells";
            const bool whole = n <= 200 || cells < 8;
            EXPECT_EQ(most_bodies(begin) == static_cast<std::uint32_t>(n), whole);
        }
}

/// The cube has more nodes on each level than there are cells, and the cluster is in one cell of these levels.
TEST_P(BoxCellsOn, DivideAClusterInAWideSystem) {
    const index_t n = 60000, cells = 1024;
    const auto begin = std::visit([&](auto on) { return cells_of(on, cube(n, n / 2), cells); }, space_);
    EXPECT_LE(most_bodies(begin), n / 64);
    EXPECT_GE(used(begin), cells * 3 / 4);
}

/// The cells of a level are alike: a part of them is divided.
TEST_P(BoxCellsOn, AreUsedInAUniformSystem) {
    const index_t n = 200000;
    for (const index_t cells : {256, 512}) {
        const auto begin = std::visit([&](auto on) { return cells_of(on, cube(n, 0), cells); }, space_);
        EXPECT_GE(used(begin), cells * 3 / 4);
        EXPECT_LE(most_bodies(begin), n / 48);
    }
}

}  // namespace
}  // namespace kasane::test
