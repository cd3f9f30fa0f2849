#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/gravity/units.hpp>

#include <bench/gravity/m31.hpp>

namespace kasane::bench {

using namespace gravity;

Particles m31_spheres(index_t count, std::uint64_t seed, Cpu on) {
    const Component halo{.name = "halo", .law = Nfw{}, .mass = 81.1, .scale = 7.63, .truncation = {250, 25}};
    const Component stars{.name = "stellar halo", .law = Sersic{2.2}, .mass = 0.8, .scale = 9, .truncation = {176, 20}};
    const Component bulge{.name = "bulge", .law = Hernquist{}, .mass = 3.24, .scale = 0.61, .truncation = {6.1, 0.61}};
    return sample(GalaxyModel{.components = {halo, stars, bulge}, .count = count, .seed = seed, .G = galactic_units().G}, on);
}

}  // namespace kasane::bench
