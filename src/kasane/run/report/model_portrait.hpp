// The picture that opens the page of a model: surface density of a sample, face-on and edge-on, in one window and one brightness.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/run/report/paint.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run::report {

struct Portrait {
    /// Components drawn in one hue: haloes beside stars, disks, other stars.
    struct Group {
        std::string name;
        std::vector<std::string> ramp;  ///< colours from dark to bright as "#rrggbb"
        double weight = 1;              ///< what its surface density is multiplied by before it is drawn
    };
    Window window;
    Exposure exposure;
    std::vector<Group> groups;
    std::vector<std::uint8_t> png[2];  ///< Plane::xy, Plane::xz; empty: there is nothing to draw
    index_t drawn = 0;                 ///< particles
};

inline constexpr index_t most_drawn = index_t{1} << 18;

/// @param sampler  of this galaxy; the first particles of each component are drawn, at most most_drawn in all, black holes are not
Portrait make_portrait(const gravity::Galaxy& galaxy, const gravity::Sampler& sampler);

}  // namespace kasane::run::report
