#include <kasane/gravity/particles/units.hpp>
#include <kasane/run/model_file.hpp>
#include <kasane/run/model/shipped_models.hpp>

#include <bench/gravity/galaxy_models.hpp>

#include <cmath>
#include <numbers>

namespace kasane::bench {

using namespace gravity;

namespace {

/// A table of a Plummer sphere: rho(r), or Sigma(R) ~ (1 + R^2)^-2.
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
        model.components.push_back(
            {.law = law, .mass = halo ? 100. : 1., .scale = scale, .truncation = {scale * truncation.radius, scale * truncation.width}});
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
    static const auto shipped = run::read_model_file(run::model_path("m31"));
    auto model = *shipped.initial.sources.front().galaxy();
    model.count = count;
    if (!with_disk) std::erase_if(model.components, [](const Component& c) { return is_disk(c.law); });
    return model;
}

GalaxyModel disk_in_halo(index_t count) {
    auto model = m31_model(count);
    std::erase_if(model.components, [](const Component& c) { return c.name != "halo" && !is_disk(c.law); });
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
