#include <kasane/core/math/random.hpp>
#include <kasane/gravity/galaxy/energy_table.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace kasane;
using namespace kasane::gravity;

namespace {

/// Energies of a cusp around a point mass: small ones, a crowd at 1 from both sides, and large ones.
std::vector<double> crowded() {
    std::vector<double> e;
    for (double t = -20; t < -0.01; t += 0.1) e.push_back(std::exp(t));
    for (double t = 0; t > -30; t -= 0.1) e.push_back(1 - std::exp(t - 5));
    e.push_back(1);
    for (double t = -30; t < 30; t += 0.1) e.push_back(1 + std::exp(t));
    std::sort(e.begin(), e.end());
    e.erase(std::unique(e.begin(), e.end()), e.end());
    return e;
}

EnergyTable energy_table_of(const std::vector<double>& energies, auto f, auto slope, double crowd) {
    std::vector<EnergyTable::Node> nodes;
    for (const double e : energies) nodes.push_back({e, f(e), slope(e)});
    return {nodes, crowd};
}

}  // namespace

TEST(EnergyTable, FindsEveryCell) {
    const auto energies = crowded();
    // Cubics come back exactly, from whichever piece; a wrong piece extrapolates a curve with kinks.
    for (const double crowd : {1., 0.5, 1e-9, 1e12}) {
        const auto table =
            energy_table_of(energies, [](double e) { return std::sqrt(e); }, [](double e) { return 0.5 / std::sqrt(e); }, crowd);
        for (std::size_t i = 0; i + 1 < energies.size(); ++i) {
            const double a = energies[i], b = energies[i + 1];
            EXPECT_DOUBLE_EQ(table(a), std::sqrt(a));
            for (const double s : {0.01, 0.5, 0.99}) {
                const double e = a + s * (b - a), low = std::sqrt(a) * (1 - 1e-15), high = std::sqrt(b) * (1 + 1e-15);
                if (!(e > a && e < b)) continue;
                EXPECT_GE(table(e), low) << e;
                EXPECT_LE(table(e), high) << e;
                EXPECT_NEAR(table(e) / std::sqrt(e), 1, 1e-6) << e;  // (ln b/a)^4 / 384 times some 1
            }
        }
        EXPECT_DOUBLE_EQ(table(energies.back()), std::sqrt(energies.back()));
    }
}

TEST(EnergyTable, NeverNegativeAndBounded) {
    // Irregular data with extreme slopes: the invariant holds for any data.
    std::vector<EnergyTable::Node> nodes;
    RandomStream random(3, 0);
    double e = 1;
    for (int i = 0; i < 200; ++i) {
        e += random.uniform();
        nodes.push_back({e, i % 7 == 0 ? 0 : random.uniform(), 20 * random.uniform() - 10});
    }
    const EnergyTable table(nodes, e);
    const double first = table.first(), span = table.last() - table.first();
    for (int i = 0; i <= 5000; ++i) EXPECT_GE(table(first + span * i / 5000), 0);
    // Next to the zeros, where the value of a cubic is a difference of its neighbours'.
    for (std::size_t i = 7; i < 200; i += 7) {
        for (const double side : {-1., 1.}) {
            for (double d = 1e-3; d > 1e-13; d /= 3) EXPECT_GE(table(nodes[i].energy + side * d), 0) << i;
        }
    }
    for (int i = 0; i < 200; ++i) {
        double low = first + span * random.uniform(), high = first + span * random.uniform() * random.uniform();
        if (low > high) std::swap(low, high);
        const double bound = table.bound(low, high);
        for (int k = 0; k <= 100; ++k) EXPECT_LE(table(low + (high - low) * k / 100), bound * (1 + 1e-14));
    }
}
