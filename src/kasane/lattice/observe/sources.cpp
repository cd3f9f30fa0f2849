#include <kasane/lattice/observe/sources.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/core/math/random.hpp>

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace kasane::lattice {
namespace {

/// Checks the coordinates first, first + 1, ..., 3 of a site, and a spin and a colour.
void require_source(const Extents& extents, const Site& site, int first, int spin, int colour) {
    for (int mu = first; mu < 4; ++mu)
        KS_REQUIRE(
            site[mu] >= 0 && site[mu] < extents[mu],
            fmt::format("the source lies outside the lattice {}: its coordinate along {} is {}", text(extents), "xyzt"[mu], site[mu]));
    KS_REQUIRE(spin >= 0 && spin < 4 && colour >= 0 && colour < 3,
               fmt::format("a source has spin 0 to 3 and colour 0 to 2, not {} and {}", spin, colour));
}

}  // namespace

SpinorField point_source(const Extents& extents, const Site& site, int spin, int colour) {
    SpinorField source(extents);
    require_source(extents, site, 0, spin, colour);
    source.at(extents.lexicographic(site), spin, colour) = 1;
    return source;
}

SpinorField wall_source(const Extents& extents, int t, int spin, int colour) {
    SpinorField source(extents);
    require_source(extents, {{0, 0, 0, t}}, 3, spin, colour);
    const index_t slice = extents.volume() / extents[3];
    for (index_t i = 0; i < slice; ++i) source.at(t * slice + i, spin, colour) = 1;
    return source;
}

void PropagatorSource::fill(int c, SpinorField& field) const {
    KS_REQUIRE(c >= 0 && c < 12, fmt::format("a propagator has the sources 0 to 11, not {}", c));
    require_source(field.extents, site, wall ? 3 : 0, c / 3, c % 3);
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
