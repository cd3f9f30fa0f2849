#include <kasane/lattice/observe/sources.hpp>

#include <kasane/core/device/parallel.hpp>
#include <kasane/core/math/random.hpp>

#include <cmath>
#include <numbers>

namespace kasane::lattice {

SpinorField point_source(const Extents& extents, const Site& site, int spin, int colour) {
    SpinorField source(extents);
    source.at(extents.lexicographic(site), spin, colour) = 1;
    return source;
}

SpinorField wall_source(const Extents& extents, int t, int spin, int colour) {
    SpinorField source(extents);
    const index_t slice = extents.volume() / extents[3];
    for (index_t i = 0; i < slice; ++i) source.at(t * slice + i, spin, colour) = 1;
    return source;
}

void PropagatorSource::fill(int c, SpinorField& field) const {
    parallel_for(Cpu{}, static_cast<index_t>(field.values.size()), [values = field.values.data()](index_t i) { values[i] = 0; });
    const auto& extents = field.extents;
    const index_t slice = extents.volume() / extents[3], first = wall ? site[3] * slice : extents.lexicographic(site);
    for (index_t i = 0; i < (wall ? slice : 1); ++i) field.at(first + i, c / 3, c % 3) = 1;
}

SpinorField random_source(const Extents& extents, std::uint64_t seed, Noise noise) {
    SpinorField source(extents);
    parallel_for(Cpu{}, extents.volume(), [&](index_t site) {
        RandomStream random(seed, static_cast<std::uint64_t>(site));
        for (int i = 0; i < 12; ++i) {
            auto& value = source.at(site, i / 3, i % 3);
            if (noise == Noise::z2) {
                value = random.uniform() < 0.5 ? -1 : 1;
            } else {  // |eta|^2 is exponential with mean 1
                const double radius = std::sqrt(-std::log(random.uniform()));
                value = std::polar(radius, 2 * std::numbers::pi * random.uniform());
            }
        }
    });
    return source;
}

}  // namespace kasane::lattice
