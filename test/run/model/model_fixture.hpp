// A galaxy's tables and facts made by hand from closed forms: a Hernquist bulge, an exponential disk with plain numbers, a black hole.
#pragma once

#include <kasane/run/model/model_report.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::test {

inline run::GalaxyPart hand_made(const std::string& bulge_name = "bulge") {
    using std::numbers::pi;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    constexpr double G = 43007.1, bulge_mass = 3, a = 0.6, disk_mass = 4, scale = 3, hole = 0.01;
    run::GalaxyPart part;
    part.name = "left";
    auto& t = part.tables;
    t.components.resize(3);
    auto& bulge = t.components[0];
    auto& disk = t.components[1];
    auto& point = t.components[2];
    bulge.label = bulge_name, bulge.law = "hernquist";
    disk.label = "disk", disk.law = "exponential-disk";
    point.label = "black hole", point.law = "black-hole";
    for (int i = 0; i <= 200; ++i) {
        const double r = 1e-3 * std::pow(10, i / 40.0), x = r / a, y = r / scale;
        const double bulge_inside = bulge_mass * x * x / ((1 + x) * (1 + x)), disk_inside = disk_mass * (1 - (1 + y) * std::exp(-y));
        t.radius.push_back(r);
        t.mass.push_back(bulge_inside + disk_inside + hole);
        t.potential.push_back(-G * (bulge_mass / (r + a) + disk_mass / (r + scale) + hole / r));
        t.escape_speed.push_back(std::sqrt(-2 * t.potential.back()));
        bulge.density.push_back(bulge_mass / (2 * pi * a * a * a) / (x * (1 + x) * (1 + x) * (1 + x)));
        bulge.mass.push_back(bulge_inside);
        bulge.rotation_speed.push_back(std::sqrt(G * bulge_inside / r));
        bulge.sigma_radial.push_back(200 / (1 + x));
        bulge.sigma_tangential.push_back(200 / (1 + x) / (1 + 0.1 * x));
        const bool there = r < 30;
        disk.surface_density.push_back(there ? disk_mass / (2 * pi * scale * scale) * std::exp(-y) : 0);
        disk.density.push_back(disk.surface_density.back() / 0.6);
        disk.mass.push_back(disk_inside);
        disk.rotation_speed.push_back(std::sqrt(G * disk_inside / r));
        t.circular_speed.push_back(std::sqrt(G * t.mass.back() / r));
        disk.sigma_R.push_back(there ? 90 * std::exp(-y / 2) : nan);
        disk.sigma_phi.push_back(there ? 65 * std::exp(-y / 2) : nan);
        disk.sigma_z.push_back(there ? 50 * std::exp(-y / 2) : nan);
        disk.rotation.push_back(there ? 0.95 * t.circular_speed.back() : nan);
        disk.height.push_back(there ? 0.3 : nan);
        disk.toomre_q.push_back(there ? 1.5 + 0.2 * (y - 1) * (y - 1) : nan);
        point.mass.push_back(hole);
        point.rotation_speed.push_back(std::sqrt(G * hole / r));
    }
    for (int i = 1; i <= 100; ++i) bulge.energy.push_back(2000.0 * i), bulge.distribution.push_back(1e-9 * std::exp(0.1 * i));
    auto& f = part.facts;
    f = {.count = 70'001,
         .mass = bulge_mass + disk_mass + hole,
         .half_mass_radius = 2.5,
         .escape_speed = 700,
         .escape_radius = 0.015,
         .virial_ratio = 1.002,
         .dynamical_time = 0.03,
         .crossing_time = 0.05,
         .suggested_softening = 0.0123,
         .suggested_step = 1.7e-5,
         .suggested_dt_max = std::ldexp(1.0, -11),
         .components = {}};
    f.components.push_back({.label = bulge_name,
                            .law = "hernquist",
                            .count = 30'000,
                            .mass = bulge_mass,
                            .particle_mass = 1e-4,
                            .half_mass_radius = 1.4484,
                            .dispersion = 120,
                            .dynamical_time = 0.01,
                            .clamped_fraction = 2e-4,
                            .suggested_softening = 0.0123});
    f.components.push_back({.label = "disk",
                            .law = "exponential-disk",
                            .count = 40'000,
                            .mass = disk_mass,
                            .particle_mass = 1e-4,
                            .half_mass_radius = 5.0,
                            .dispersion = 50,
                            .dynamical_time = 0.02,
                            .least_q = 1.5,
                            .least_q_radius = 3,
                            .suggested_softening = 0.07});
    f.components.push_back({.label = "black hole", .law = "black-hole", .count = 1, .mass = hole, .particle_mass = hole});
    return part;
}

inline run::ModelReport hand_made_report(const std::string& bulge_name = "bulge") {
    run::ModelReport report;
    report.title = "A test galaxy";
    report.command = "kasane sample galaxy.toml -o galaxy.hdf5 --report galaxy.html";
    report.file = "galaxy.toml";
    report.text = "title = \"<&>\"\n[[component]]\nname = \"bulge\"\n";
    report.tables = "galaxy.tables.hdf5";
    report.units = gravity::galactic_units();
    report.papers = {"L. Hernquist, ApJ 356, 359 (1990)"};
    report.galaxies.push_back(hand_made(bulge_name));
    return report;
}

}  // namespace kasane::test
