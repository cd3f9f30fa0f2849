#include <kasane/gravity/galaxy/component/component.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <ostream>
#include <string>
#include <vector>

using namespace kasane::gravity;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

Component of(Law law) {
    Component c;
    c.law = std::move(law);
    return c;
}
Component cut(Law law, double radius = 20, double width = 2) {
    auto c = of(std::move(law));
    c.truncation = {radius, width};
    return c;
}
Component disk(Law law = ExponentialDisk{}) {
    auto c = of(std::move(law));
    c.disk.height = 0.1;
    return c;
}
Component with(Component c, const std::function<void(Component&)>& change) {
    change(c);
    return c;
}
/// r^-slope far out with a core of this radius, from 0.5 to 32.
Table power_table(double slope, int rows = 12, double core = 1) {
    Table table;
    for (int i = 0; i < rows; ++i) {
        table.radius.push_back(0.5 * std::pow(64., i / (rows - 1.)));
        table.density.push_back(std::pow(std::hypot(table.radius.back(), core), -slope));
    }
    return table;
}
Table changed(const std::function<void(Table&)>& change) {
    auto table = power_table(4);
    table.source = "halo.txt";
    change(table);
    return table;
}

struct Bad {
    std::string name;
    Component component;
    std::string key, says;
    friend std::ostream& operator<<(std::ostream& out, const Bad& b) { return out << b.name; }
};

std::vector<Bad> bad_components() {
    using C = Component;
    return {
        {"mass_zero", with(of(Plummer{}), [](C& c) { c.mass = 0; }), "mass", "is 0"},
        {"mass_nan", with(of(Plummer{}), [](C& c) { c.mass = nan; }), "mass", "finite"},
        {"mass_infinite", with(of(BlackHole{}), [](C& c) { c.mass = infinity; }), "mass", "finite"},
        {"scale_negative", with(of(Hernquist{}), [](C& c) { c.scale = -1; }), "scale", "is -1"},
        {"nfw_infinite", of(Nfw{}), "truncation.radius", "infinite"},
        {"moore_infinite", of(Moore{}), "truncation.radius", "Try 20"},
        {"burkert_infinite", of(Burkert{}), "truncation.radius", "infinite"},
        {"isothermal_infinite", of(Isothermal{}), "truncation.radius", "r^-2"},
        {"two_power_infinite", of(TwoPower{1, 3, 1}), "truncation.radius", "infinite"},
        {"two_power_slow", of(TwoPower{1, 3.1, 1}), "truncation.radius", "slowly"},
        {"triple_power_infinite", of(TriplePower{1, 2, 2.9, 10, 1}), "truncation.radius", "infinite"},
        {"table_infinite", of(TabulatedDensity{power_table(2.5)}), "truncation.radius", "Try 32"},
        {"surface_table_infinite", of(TabulatedSurfaceDensity{power_table(1.4)}), "truncation.radius", "r^-2.4"},
        {"table_disk_endless", disk(TabulatedDisk{power_table(0.5)}), "truncation.radius", "without an end"},
        {"truncation_inside", cut(Nfw{}, 0.9, 0.1), "truncation.radius", "outside the scale 1"},
        {"truncation_at_scale", cut(Hernquist{}, 1, 0.1), "truncation.radius", "outside the scale"},
        {"truncation_inside_triple", cut(TriplePower{}, 0.5, 0.1), "truncation.radius", "outside the scale"},
        {"truncation_inside_disk", with(cut(ExponentialDisk{}, 0.5, 0.1), [](C& c) { c.disk.height = 0.1; }), "truncation.radius",
         "outside"},
        {"truncation_inside_king_core", cut(King{}, 0.5, 0.1), "truncation.radius", "outside the scale"},
        {"truncation_beyond_king", cut(King{}), "truncation.radius", "tidal radius 17.99"},
        {"truncation_before_table", cut(TabulatedDensity{power_table(4)}, 0.4, 0.1), "truncation.radius", "from 0.5 to 32"},
        {"truncation_beyond_table", cut(TabulatedSurfaceDensity{power_table(4)}, 33, 3), "truncation.radius", "from 0.5 to 32"},
        {"truncation_negative", cut(Nfw{}, -3, 1), "truncation.radius", "not negative"},
        {"truncation_nan", cut(Nfw{}, nan, 1), "truncation.radius", "finite"},
        {"width_missing", cut(Nfw{}, 20, 0), "truncation.width", "between 1/100 and 1/2"},
        {"width_sharp", cut(Nfw{}, 20, 0.1), "truncation.width", "Try 2"},
        {"width_wide", cut(Nfw{}, 20, 11), "truncation.width", "between"},
        {"width_alone", cut(Plummer{}, 0, 1), "truncation.width", "no truncation.radius"},
        {"black_hole_truncated", cut(BlackHole{}), "truncation", "one particle"},
        {"king_shallow", of(King{0.05}), "king.w0", "between 0.1 and 16"},
        {"king_deep", of(King{17}), "king.w0", "is 17"},
        {"king_nan", of(King{nan}), "king.w0", "between"},
        {"einasto_low", of(Einasto{0.01}), "einasto.alpha", "0.05"},
        {"einasto_high", of(Einasto{2.5}), "einasto.alpha", "and 2"},
        {"sersic_low", of(Sersic{0.4}), "sersic.n", "between 0.5 and 10"},
        {"sersic_high", of(Sersic{11}), "sersic.n", "is 11"},
        {"sersic_disk_high", disk(SersicDisk{11}), "sersic-disk.n", "is 11"},
        {"cusp_infinite", of(TwoPower{3, 4, 1}), "two-power.inner_slope", "infinite"},
        {"cusp_negative", of(TwoPower{-1, 4, 1}), "two-power.inner_slope", "between 0"},
        {"outer_below_inner", cut(TwoPower{2, 1, 1}), "two-power.outer_slope", "above the inner slope 2"},
        {"sharpness_zero", of(TwoPower{1, 4, 0}), "two-power.sharpness", "is 0"},
        {"middle_outside", of(TriplePower{1, 0.5, 4, 10, 1}), "triple-power.middle_slope", "between"},
        {"outer_scale_inside", of(TriplePower{1, 2, 4, 0.5, 1}), "triple-power.outer_scale", "outside the scale 1"},
        {"triple_cusp", of(TriplePower{2.6, 3, 4, 10, 1}), "triple-power.inner_slope", "2.5"},
        {"table_short", of(TabulatedDensity{power_table(4, 7)}), "table", "7 rows"},
        {"table_long", of(TabulatedDensity{power_table(4, 10'001)}), "table", "10001 rows"},
        {"table_cliff", of(TabulatedDensity{changed([](Table& t) { t.radius[4] = t.radius[3] * (1 + 1e-9); })}), "table", "rows 4 and 5"},
        {"table_rows_too_near", of(TabulatedDensity{changed([](Table& t) { t.radius[4] = std::nextafter(t.radius[3], 99); })}), "table",
         "jumps"},
        {"table_empty", of(TabulatedDensity{}), "table", "0 rows"},
        {"table_uneven", of(TabulatedDensity{changed([](Table& t) { t.density.pop_back(); })}), "table", "12 radii and 11 densities"},
        {"table_not_monotone", of(TabulatedDensity{changed([](Table& t) { std::swap(t.radius[3], t.radius[4]); })}), "table", "row 5"},
        {"table_radius_twice", of(TabulatedDensity{changed([](Table& t) { t.radius[4] = t.radius[3]; })}), "table", "not monotone"},
        {"table_radius_zero", of(TabulatedDensity{changed([](Table& t) { t.radius[0] = 0; })}), "table", "row 1"},
        {"table_negative", of(TabulatedDensity{changed([](Table& t) { t.density[7] = -1; })}), "table", "density -1 in row 8"},
        {"table_density_zero", of(TabulatedSurfaceDensity{changed([](Table& t) { t.density[11] = 0; })}), "table", "(halo.txt)"},
        {"table_density_nan", of(TabulatedDensity{changed([](Table& t) { t.density[1] = nan; })}), "table", "row 2"},
        {"table_cusp", cut(TabulatedDensity{power_table(2.7, 12, 0)}), "table", "r^-2.7"},
        {"surface_table_rises", cut(TabulatedSurfaceDensity{power_table(-0.5)}), "table", "does not decline"},
        {"table_scaled", with(of(TabulatedDensity{power_table(4)}), [](C& c) { c.scale = 2; }), "scale", "leave it out"},
        {"black_hole_scaled", with(of(BlackHole{}), [](C& c) { c.scale = 2; }), "scale", "black-hole"},
        {"disk_flat", of(ExponentialDisk{}), "disk.height", "is missing"},
        {"disk_thick", with(disk(), [](C& c) { c.disk.height = 0.6; }), "disk.height", "half the scale"},
        {"disk_height_negative", with(disk(), [](C& c) { c.disk.height = -0.6; }), "disk.height", "above 0"},
        {"disk_q_zero", with(disk(), [](C& c) { c.disk.toomre_q = 0; }), "disk.toomre_q", "is 0"},
        {"disk_retrograde", with(disk(), [](C& c) { c.disk.retrograde = 1.5; }), "disk.retrograde", "between 0 and 1"},
        {"disk_anisotropic", with(disk(), [](C& c) { c.anisotropy_radius = 2; }), "anisotropy_radius", "toomre_q"},
        {"sphere_with_height", with(of(Plummer{}), [](C& c) { c.disk.height = 2; }), "disk.height", "plummer has no height"},
        {"sphere_with_q", with(of(Plummer{}), [](C& c) { c.disk.toomre_q = 2; }), "disk.toomre_q", "leave it out"},
        {"hole_retrograde", with(of(BlackHole{}), [](C& c) { c.disk.retrograde = 1; }), "disk.retrograde", "leave it out"},
        {"hole_anisotropic", with(of(BlackHole{}), [](C& c) { c.anisotropy_radius = 1; }), "anisotropy_radius", "at rest"},
        {"anisotropy_negative", with(of(Plummer{}), [](C& c) { c.anisotropy_radius = -1; }), "anisotropy_radius", "not negative"},
        {"anisotropy_infinite", with(of(Plummer{}), [](C& c) { c.anisotropy_radius = infinity; }), "anisotropy_radius", "finite"},
        {"count_negative", with(of(Plummer{}), [](C& c) { c.count = -1; }), "count", "from 1 to"},
        {"count_huge", with(of(Plummer{}), [](C& c) { c.count = most_particles + 1; }), "count", "1099511627776"},
        {"count_and_particle_mass", with(of(Plummer{}), [](C& c) { c.count = 10, c.particle_mass = 0.1; }), "particle_mass", "one of them"},
        {"particle_heavy", with(of(Plummer{}), [](C& c) { c.particle_mass = 2; }), "particle_mass", "more than the component's mass"},
        {"particle_light", with(of(Plummer{}), [](C& c) { c.particle_mass = 1e-13; }), "particle_mass", "more than 1099511627776"},
        {"particle_nan", with(of(Plummer{}), [](C& c) { c.particle_mass = nan; }), "particle_mass", "finite"},
        {"hole_many", with(of(BlackHole{}), [](C& c) { c.count = 2; }), "count", "one particle"},
        {"hole_particle_mass", with(of(BlackHole{}), [](C& c) { c.particle_mass = 1; }), "particle_mass", "one particle"},
        {"type_unknown", with(of(Plummer{}), [](C& c) { c.type = 6; }), "type", "0 to 5"},
        {"softening_negative", with(of(Plummer{}), [](C& c) { c.softening = -1; }), "softening", "not negative"},
        {"name_line_break", with(of(Plummer{}), [](C& c) { c.name = "a\nb"; }), "name", "line break"},
        {"name_escape", with(of(Plummer{}), [](C& c) { c.name = "\x1b[31m"; }), "name", "control"},
        {"name_long", with(of(Plummer{}), [](C& c) { c.name = std::string(201, 'x'); }), "name", "at most 200"},
        {"name_slash", with(of(Plummer{}), [](C& c) { c.name = "a/b"; }), "name", "slash"},
    };
}

class BadComponent : public testing::TestWithParam<Bad> {};

GalaxyModel galaxy(std::vector<Component> components, kasane::index_t count = 1000) {
    GalaxyModel model;
    model.components = std::move(components);
    model.count = count;
    return model;
}

/// The texts of all problems, a line each.
template <class T>
std::string text_of(const T& what) {
    std::string text;
    for (const auto& problem : problems_of(what)) text += problem.text() + "\n";
    return text;
}

TEST_P(BadComponent, IsReportedWithItsKey) {
    const auto& [label, component, key, says] = GetParam();
    const auto problems = problems_of(component);
    ASSERT_EQ(problems.size(), 1U) << text_of(component);
    EXPECT_EQ(problems[0].where.key, key);
    EXPECT_NE(problems[0].message.find(says), std::string::npos) << problems[0].message;
}

INSTANTIATE_TEST_SUITE_P(All, BadComponent, testing::ValuesIn(bad_components()), [](const auto& one) { return one.param.name; });

TEST(Component, ValidOnesHaveNoProblem) {
    const std::vector<Component> good = {
        of(Plummer{}),
        of(King{0.1}),
        of(King{16}),
        cut(King{6}, 10, 1),
        of(Hernquist{}),
        cut(Nfw{}),
        cut(Moore{}, 20, 10),
        cut(Burkert{}, 20, 0.2),
        of(Einasto{0.05}),
        of(Einasto{2}),
        cut(Isothermal{}),
        of(TwoPower{0, 3.25, 1}),
        of(TwoPower{2.5, 4, 2}),
        of(TriplePower{}),
        of(Sersic{0.5}),
        of(Sersic{10}),
        cut(Sersic{4}),
        of(TabulatedDensity{power_table(3.5)}),
        cut(TabulatedDensity{power_table(2)}, 32, 3.2),
        of(TabulatedSurfaceDensity{power_table(2.3)}),
        of(BlackHole{}),
        disk(),
        disk(SersicDisk{4}),
        with(disk(TabulatedDisk{power_table(1)}), [](Component& c) { c.truncation = {30, 3}; }),
        with(of(Plummer{}), [](Component& c) { c.particle_mass = 1e-6, c.anisotropy_radius = 3, c.type = 0, c.softening = 0.1; }),
    };
    for (const auto& c : good) EXPECT_EQ(text_of(c), "") << c.label();
}

TEST(Component, AllProblemsAreReportedAtOnce) {
    auto c = cut(King{17});
    c.mass = -1;
    c.type = 9;
    const auto text = text_of(c);
    for (const auto* key : {"king.w0", "mass", "type"}) EXPECT_NE(text.find(std::string(key) + ": is"), std::string::npos) << text;

    const auto table = changed([](Table& t) { t.density[2] = 0, t.radius[5] = 0.1; });
    EXPECT_EQ(problems_of(of(TabulatedDensity{table})).size(), 2U);
}

TEST(LawNames, AreReadBackAndListed) {
    EXPECT_EQ(law_names().size(), std::variant_size_v<Law>);
    for (const auto name : law_names()) EXPECT_EQ(kasane::gravity::name(law_named(std::string(name))), name);
    EXPECT_TRUE(std::holds_alternative<TriplePower>(law_named("triple-power")));
    EXPECT_TRUE(std::holds_alternative<TabulatedSurfaceDensity>(law_named("surface-density-table")));
    EXPECT_EQ(std::get<King>(law_named("king")).w0, 6);
    EXPECT_TRUE(is_disk(law_named("table-disk")) && is_disk(law_named("sersic-disk")) && is_disk(law_named("exponential-disk")));
    EXPECT_TRUE(is_black_hole(law_named("black-hole")));
    EXPECT_TRUE(is_sphere(law_named("sersic")) && !is_sphere(law_named("black-hole")) && !is_sphere(law_named("sersic-disk")));
}

TEST(LawNames, TheNearestIsProposed) {
    try {
        law_named("hernqist");
        FAIL();
    } catch (const kasane::InputError& error) {
        EXPECT_NE(std::string(error.what()).find("did you mean \"hernquist\"?"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("two-power"), std::string::npos);
    }
    EXPECT_THROW(law_named(""), kasane::InputError);
}

TEST(GalaxyModel, KeysContainTheComponent) {
    auto bad = cut(Nfw{}, 0.5, 0.1);
    bad.name = "halo";
    auto other = of(King{20});
    const auto problems = problems_of(galaxy({of(Plummer{}), other, bad}));
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].where.key, "components.1.king.w0");
    EXPECT_EQ(problems[1].where.key, "components.2.truncation.radius");
}

TEST(GalaxyModel, IsEmptyOrHasBadConstants) {
    EXPECT_NE(text_of(galaxy({})).find("components: is empty"), std::string::npos);
    auto model = galaxy({of(Plummer{})});
    model.G = 0;
    EXPECT_NE(text_of(model).find("G: is 0"), std::string::npos);
}

// Shares of an infinite mass would be 0.
TEST(GalaxyModel, RefusesMassesThatOverflow) {
    auto a = of(Plummer{}), b = of(Hernquist{});
    a.mass = b.mass = 1.5e308;
    const auto problems = problems_of(galaxy({a, b}));
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].where.key, "components.0.mass");
    EXPECT_EQ(problems[1].where.key, "components.1.mass");
}

TEST(GalaxyModel, RefusesEqualNamesAndTwoSofteningsOfAType) {
    auto a = of(Plummer{}), b = of(Plummer{});
    EXPECT_NE(text_of(galaxy({a, b})).find("components.1.name: is \"plummer\""), std::string::npos);
    b.name = "bulge";
    EXPECT_EQ(text_of(galaxy({a, b})), "");
    a.softening = 0.1, b.softening = 0.2;
    EXPECT_NE(text_of(galaxy({a, b})).find("components.1.softening: is 0.2, but plummer"), std::string::npos);
    b.type = 2;
    EXPECT_EQ(text_of(galaxy({a, b})), "");
    b.type = 1, b.softening = 0;  // 0: not known
    EXPECT_EQ(text_of(galaxy({a, b})), "");
}

TEST(GalaxyModel, RefusesImpossibleCounts) {
    const auto says = [](const GalaxyModel& model, const std::string& what) {
        const auto text = text_of(model);
        EXPECT_NE(text.find("count: is " + what), std::string::npos) << text;
        EXPECT_THROW(counts_of(model), kasane::InputError);
    };
    auto b = of(Hernquist{});
    says(galaxy({of(Plummer{})}, 0), "0: the particles of plummer");
    says(galaxy({of(Plummer{}), b}, 1), "1: ");
    says(galaxy({of(Plummer{})}, -5), "-5: ");
    says(galaxy({of(Plummer{})}, most_particles + 1), "1099511627777: ");
    b.count = most_particles - 10;
    says(galaxy({of(Plummer{}), b}, 11), "too large");
    EXPECT_EQ(text_of(galaxy({of(Plummer{}), b}, 10)), "");
    b.count = 100;
    says(galaxy({b}, 1000), "1000, but every component has its own");
    EXPECT_EQ(text_of(galaxy({b}, 0)), "");
    EXPECT_EQ(text_of(galaxy({of(BlackHole{})}, 0)), "");
    EXPECT_EQ(text_of(galaxy({disk()}, 1)), "");  // without any sphere
    says(galaxy({of(BlackHole{})}, 5), "5, but every component");
}

TEST(Counts, SharesAddUp) {
    auto a = of(Plummer{}), b = of(Hernquist{}), c = of(Sersic{}), hole = of(BlackHole{});
    a.mass = b.mass = c.mass = 1;
    for (const kasane::index_t n : {3, 4, 5, 1000, 1001, 1048576}) {
        const auto counts = counts_of(galaxy({a, b, c, hole}, n));
        EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), kasane::index_t{0}), n + 1);
        for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(static_cast<double>(counts[i]), static_cast<double>(n) / 3, 1);
        EXPECT_EQ(counts[3], 1);
    }
    // At least one each, taken from the largest.
    a.mass = 1e6, b.mass = 1e-6, c.mass = 2e-6;
    auto d = of(Einasto{});
    d.mass = 1e-6;
    EXPECT_EQ(counts_of(galaxy({a, b, c, d}, 100)), (std::vector<kasane::index_t>{97, 1, 1, 1}));
    // At the largest number doubles still distinguish particles.
    a.mass = 1, b.mass = 3, c.mass = 7;
    const auto most = counts_of(galaxy({a, b, c}, most_particles));
    EXPECT_EQ(most[0] + most[1] + most[2], most_particles);
    EXPECT_EQ(most[2], 699689217676);  // 7/11 of 2^40 = 699689217675.6
}

TEST(Counts, OwnCountsAndParticleMassesAreNotShared) {
    auto a = of(Plummer{}), b = of(Hernquist{}), c = of(Sersic{}), d = of(Einasto{});
    a.count = 77;
    b.mass = 10, b.particle_mass = 0.3;
    c.mass = 1, d.mass = 3;
    EXPECT_EQ(counts_of(galaxy({a, b, c, d}, 400)), (std::vector<kasane::index_t>{77, 33, 100, 300}));
}

// Miki et al.'s M31: particles of equal mass.
TEST(Counts, AndromedaWith2To20Particles) {
    auto halo = cut(Nfw{}), stars = of(Sersic{2.2}), bulge = of(Hernquist{}), exponential = disk();
    halo.mass = 8.11e11, stars.mass = 8e9, bulge.mass = 3.24e10, exponential.mass = 3.66e10;
    const auto counts = counts_of(galaxy({halo, stars, bulge, exponential}, 1 << 20));
    EXPECT_NEAR(static_cast<double>(counts[0]), 957654, 5);  // the published count
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), kasane::index_t{0}), 1 << 20);
}

}  // namespace
