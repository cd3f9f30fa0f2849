#include <kasane/gravity/units.hpp>

#include <bench/gravity/galaxy_models.hpp>

#include <cmath>
#include <numbers>

namespace kasane::bench {

using namespace gravity;

namespace {

/// A Plummer sphere as numbers: rho(r), or Sigma(R) ~ (1 + R^2)^-2.
Table plummer_table(double power) {
    Table table;
    table.source = "a Plummer sphere";
    for (double x = -7; x <= 7; x += 1. / 16) {
        const double r = std::exp(x);
        table.radius.push_back(r);
        table.density.push_back(std::pow(1 + r * r, power));
    }
    return table;
}

}  // namespace

std::vector<NamedGalaxy> single_spheres(index_t count) {
    const Truncation cut{20, 2};
    struct Case {
        Law law;
        Truncation truncation;
        bool halo = false;
    };
    const Case cases[] = {{Burkert{}, cut, true},
                          {Isothermal{}, cut, true},
                          {TriplePower{0.5, 2, 5, 50, 2}, {}, true},
                          {Nfw{}, cut, true},
                          {Einasto{0.18}, {}, true},
                          {Moore{}, cut, true},
                          {TwoPower{1.5, 4, 1}, cut, true},
                          {Plummer{}, {}},
                          {King{6}, {}},
                          {Sersic{2.2}, {}},
                          {Hernquist{}, cut},
                          {TabulatedDensity{plummer_table(-2.5)}, {}},
                          {TabulatedSurfaceDensity{plummer_table(-2)}, {}}};
    std::vector<NamedGalaxy> all;
    for (const auto& [law, truncation, halo] : cases) {
        const double scale = halo ? 10 : 1;
        GalaxyModel model;
        model.components.push_back({.law = law, .mass = halo ? 100. : 1., .scale = scale,
                                    .truncation = {scale * truncation.radius, scale * truncation.width}});
        model.count = count;
        if (halo) model.G = galactic_units().G;
        all.push_back({name(law), model, halo});
    }
    GalaxyModel anisotropic;
    anisotropic.components.push_back({.law = Plummer{}, .anisotropy_radius = 1.5});
    anisotropic.count = count;
    all.push_back({"anisotropic plummer", anisotropic, false});
    return all;
}

GalaxyModel m31_model(index_t count, bool with_disk) {
    GalaxyModel model;
    model.count = count;
    model.G = galactic_units().G;
    model.components = {
        {.name = "halo", .law = Nfw{}, .mass = 81.1, .scale = 7.63, .truncation = {250, 25}, .type = 1},
        {.name = "stellar halo", .law = Sersic{2.2}, .mass = 0.8, .scale = 9, .truncation = {176, 20}, .type = 4},
        {.name = "bulge", .law = Hernquist{}, .mass = 3.24, .scale = 0.61, .truncation = {6.1, 0.61}, .type = 3},
    };
    if (with_disk)
        model.components.push_back({.name = "disk", .law = ExponentialDisk{}, .mass = 3.66, .scale = 5.4, .truncation = {54, 5.4},
                                    .disk = {.height = 0.6, .toomre_q = 2.3}, .type = 2});
    return model;
}

GalaxyModel disk_in_halo(index_t count) {
    auto model = m31_model(count);
    model.components.erase(model.components.begin() + 1, model.components.begin() + 3);
    return model;
}

GalaxyModel black_hole_bulge(index_t count) {
    GalaxyModel model;
    model.count = count;
    model.G = galactic_units().G;
    model.components = {
        {.name = "bulge", .law = Hernquist{}, .mass = 3, .scale = 1, .truncation = {50, 5}, .type = 3},
        {.name = "black hole", .law = BlackHole{}, .mass = 0.006, .type = 5},
    };
    return model;
}

}  // namespace kasane::bench
