// Gluonic observables against plain products along paths, exact fields and symmetries.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/gauge/transform.hpp>
#include <kasane/lattice/gauge/update.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <lattice/constant_flux.hpp>
#include <lattice/lattice_space.hpp>
#include <reference/paths.hpp>

#include <array>
#include <cmath>
#include <numbers>

namespace kasane::lattice {
namespace {

constexpr Extents nasty{{2, 4, 6, 8}};

/// Rough, but correlated like physical fields.
GaugeField thermal(const Extents& n, std::uint64_t seed = 1) {
    Links u(Cpu{1}, n);
    hot_start(u, seed);
    for (std::uint64_t sweep = 0; sweep < 10; ++sweep) heatbath_sweep(u, 6, seed, sweep);
    return to_gauge_field(u);
}

class Gluonic : public LatticeOnEverySpace {};
KS_ON_LATTICE_SPACES(Gluonic);

// Sums of up to 10^4 numbers of size 1: 1e-13 is far above their rounding and far below any mistake.
constexpr double rounding = 1e-13;

TEST(GluonicOfTheHost, RefusesAWrongNumberOfLinks) {
    GaugeField u(nasty);
    u.links.pop_back();
    EXPECT_THROW(plaquette(u), LogicError);
    EXPECT_THROW(link_trace(u), LogicError);
    EXPECT_THROW(plaquette(GaugeField()), LogicError);
}

TEST_P(Gluonic, LoopsAreProductsAlongPaths) {
    on_space([](auto on) {
        for (const Extents n : {nasty, Extents{{6, 2, 4, 2}}}) {
            const auto field = thermal(n);
            const auto u = links_on(on, field);
            double space = 0, time = 0;
            for (int mu = 1; mu <= 3; ++mu) {
                time += reference::plaquette(field, mu, 4) / 3;
                for (int nu = mu + 1; nu <= 3; ++nu) space += reference::plaquette(field, mu, nu) / 3;
            }
            EXPECT_NEAR(plaquette(u).space, space, rounding);
            EXPECT_NEAR(plaquette(u).time, time, rounding);
            EXPECT_NEAR(plaquette(field).space, space, rounding);
            EXPECT_NEAR(plaquette(field).time, time, rounding);

            double links = 0;
            for (const auto& link : field.links) links += trace(link).re / (3 * static_cast<double>(field.links.size()));
            EXPECT_NEAR(link_trace(u), links, rounding);
            EXPECT_NEAR(link_trace(field), links, rounding);

            std::complex<double> loop;
            const std::vector<int> through_time(static_cast<std::size_t>(n[3]), 4);
            reference::for_each_site({{n[0], n[1], n[2], 1}},
                                     [&](const auto& x) { loop += reference::trace(reference::along(field, x, through_time)); });
            loop /= 3. * static_cast<double>(n.volume() / n[3]);
            EXPECT_LT(std::abs(polyakov_loop(u) - loop), rounding);
        }
    });
}

TEST_P(Gluonic, CloverObservablesAreProductsAlongPaths) {
    on_space([](auto on) {
        const auto field = thermal({{2, 4, 2, 6}});
        const auto u = links_on(on, field);
        EXPECT_NEAR(energy_density(u), reference::energy(field), rounding);
        EXPECT_NEAR(topological_charge(u), reference::charge(field), rounding);
        EXPECT_GT(std::abs(reference::charge(field)), 1e-3);  // the comparison is sensitive to a sign
    });
}

TEST_P(Gluonic, GaugeTransformationsChangeNothing) {
    on_space([](auto on) {
        const auto field = thermal({{4, 6, 2, 4}});
        const auto u = links_on(on, field), v = links_on(on, gauge_transformed(field, random_gauge_transformation(field.extents, 17)));
        EXPECT_NEAR(plaquette(u).space, plaquette(v).space, rounding);
        EXPECT_NEAR(plaquette(u).time, plaquette(v).time, rounding);
        EXPECT_LT(std::abs(polyakov_loop(u) - polyakov_loop(v)), rounding);
        EXPECT_NEAR(energy_density(u), energy_density(v), rounding);
        EXPECT_NEAR(topological_charge(u), topological_charge(v), rounding);
        EXPECT_GT(std::abs(link_trace(u) - link_trace(v)), 1e-3);  // the sum that may change
    });
}

// Exchanging the axes x and z is a reflection: the charge changes its sign, the rest stays.
TEST_P(Gluonic, ReflectionTurnsTheCharge) {
    on_space([](auto on) {
        const auto field = thermal({{4, 2, 6, 4}});
        GaugeField mirrored(Extents{{6, 2, 4, 4}});
        for (index_t i = 0; i < field.extents.volume(); ++i) {
            const Site x = field.extents.site(i);
            const Site y{{x[2], x[1], x[0], x[3]}};
            const int turned[4] = {2, 1, 0, 3};
            for (int mu = 0; mu < 4; ++mu) mirrored.link(mirrored.extents.lexicographic(y), turned[mu]) = field.link(i, mu);
        }
        const auto u = links_on(on, field), v = links_on(on, mirrored);
        EXPECT_GT(std::abs(topological_charge(u)), 1e-3);
        EXPECT_NEAR(topological_charge(u), -topological_charge(v), rounding);
        EXPECT_NEAR(energy_density(u), energy_density(v), rounding);
        EXPECT_NEAR(plaquette(u).space, plaquette(v).space, rounding);
        EXPECT_NEAR(plaquette(u).time, plaquette(v).time, rounding);
    });
}

// Multiplying the time links of one slice by a cube root of 1 changes only the Polyakov loop.
TEST_P(Gluonic, CentreTurnsThePolyakovLoop) {
    on_space([](auto on) {
        auto field = thermal(nasty);
        const auto u = links_on(on, field);
        const std::complex<double> root = std::polar(1., 2 * std::numbers::pi / 3);
        for (index_t i = 0; i < field.extents.volume(); ++i)
            if (field.extents.site(i)[3] == 5)
                for (auto& row : field.link(i, 3).e)
                    for (auto& entry : row) entry = entry * Complex<double>{root.real(), root.imag()};
        const auto v = links_on(on, field);
        EXPECT_LT(std::abs(polyakov_loop(v) - root * polyakov_loop(u)), rounding);
        EXPECT_NEAR(plaquette(v).time, plaquette(u).time, rounding);
    });
}

// A diagonal field of constant flux has the topological charge sum_c m_c k_c, an integer; on the lattice the clover leaf turns every
// angle into its sine, and takes the mean over colours from it.
TEST_P(Gluonic, ConstantFluxHasItsIntegerCharge) {
    on_space([](auto on) {
        struct Case {
            Extents n;
            std::array<int, 3> xy, zt;
        };
        for (const auto& [n, xy, zt] : {Case{{{8, 8, 8, 8}}, {1, -1, 0}, {1, -1, 0}}, Case{{{8, 6, 8, 10}}, {1, -1, 0}, {2, -1, -1}},
                                        Case{{{6, 8, 4, 12}}, {1, -1, 0}, {-1, 1, 0}}, Case{{{4, 8, 6, 6}}, {1, 0, -1}, {1, 1, -2}}}) {
            const auto field = constant_flux(n, xy, zt);
            const auto u = links_on(on, field);
            const double area_xy = n[0] * n[1], area_zt = n[2] * n[3];
            double exact = 0, charge = 0, energy = 0, mean_xy = 0, mean_zt = 0, cosines = 0;
            const auto angle = [](int k, double area) { return 2 * std::numbers::pi * k / area; };
            for (std::size_t c = 0; c < 3; ++c) {
                mean_xy += std::sin(angle(xy[c], area_xy)) / 3;
                mean_zt += std::sin(angle(zt[c], area_zt)) / 3;
            }
            for (std::size_t c = 0; c < 3; ++c) {
                const double b = std::sin(angle(xy[c], area_xy)) - mean_xy, e = std::sin(angle(zt[c], area_zt)) - mean_zt;
                exact += xy[c] * zt[c];
                charge += static_cast<double>(n.volume()) * b * e / (4 * std::numbers::pi * std::numbers::pi);
                energy += b * b + e * e;
                cosines += (std::cos(angle(xy[c], area_xy)) + std::cos(angle(zt[c], area_zt)) + 4) / 18;
            }
            EXPECT_NEAR(topological_charge(u), charge, 1e-12);  // sums of 10^4 numbers of size 1e-3
            EXPECT_NEAR(energy_density(u), energy, rounding);
            EXPECT_NEAR(plaquette(u).mean(), cosines, rounding);
            // sin a = a (1 - a^2 / 6): the lattice misses the integer by the flux squared.
            EXPECT_NEAR(charge, exact, 0.15 * std::max(1., std::abs(exact)));
        }
    });
}

TEST(GluonicSums, DoNotDependOnThreads) {
    const auto field = thermal({{6, 6, 4, 6}});
    const auto numbers = to_host(links_on(Cpu{}, field).data);
    const auto fill = [&](int threads) {
        Links u(Cpu{threads}, field.extents);
        copy_from_host(u.space(), u.data.view(), view(numbers));
        return u;
    };
    const auto one = fill(1), many = fill(3);
    EXPECT_EQ(plaquette(one).space, plaquette(many).space);
    EXPECT_EQ(link_trace(one), link_trace(many));
    EXPECT_EQ(polyakov_loop(one), polyakov_loop(many));
    EXPECT_EQ(energy_density(one), energy_density(many));
    EXPECT_EQ(topological_charge(one), topological_charge(many));
}

}  // namespace
}  // namespace kasane::lattice
