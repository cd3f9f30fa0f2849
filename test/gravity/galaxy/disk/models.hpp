// Disks and their surroundings for the tests. M31 and its units: kpc, 1e10 Msun, G = 1, so that a speed is 207.4 km/s and a time 4.715 Myr.
#pragma once

#include <kasane/gravity/galaxy/component/density_law.hpp>
#include <kasane/gravity/galaxy/disk/disk_system.hpp>

#include <memory>
#include <vector>

namespace kasane::gravity::test {

inline Component exponential_disk(double mass, double scale, double height, double q = 1.5) {
    Component c;
    c.law = ExponentialDisk{};
    c.mass = mass;
    c.scale = scale;
    c.disk.height = height;
    c.disk.toomre_q = q;
    return c;
}

inline Component sphere(Law law, double mass, double scale, Truncation truncation) {
    Component c;
    c.law = law;
    c.mass = mass;
    c.scale = scale;
    c.truncation = truncation;
    return c;
}

/// Of the spheres and black holes among the components; null when there are none.
inline std::shared_ptr<const SphericalPotential> spheres_of(const GalaxyModel& model) {
    std::vector<std::shared_ptr<const MassProfile>> profiles;
    double point = 0;
    for (const auto& c : model.components) {
        if (is_sphere(c.law)) profiles.push_back(std::make_shared<MassProfile>(density_law(c), c.mass));
        if (is_black_hole(c.law)) point += c.mass;
    }
    if (profiles.empty() && point == 0) return nullptr;
    return std::make_shared<SphericalPotential>(profiles, point);
}

inline GalaxyModel m31() {
    GalaxyModel m;
    m.components = {sphere(Nfw{}, 81.1, 7.63, {250, 25}), sphere(Hernquist{}, 3.24, 0.61, {6.1, 0.61}),
                    sphere(Sersic{2.2}, 0.8, 9, {176, 20}), exponential_disk(3.66, 5.4, 0.6, 2.3)};
    m.components[3].truncation = {54, 5.4};
    return m;
}

inline GalaxyModel lone_disk(double height, double q = 1) {
    GalaxyModel m;
    m.components = {exponential_disk(1, 1, height, q)};
    return m;
}

}  // namespace kasane::gravity::test
