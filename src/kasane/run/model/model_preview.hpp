// The preview of a model: surface density of points drawn from it, face-on and edge-on, with one window and one scale of brightness. The
// number of points does not depend on the number of particles, so the picture is always smooth.
#pragma once

#include <kasane/gravity/galaxy/galaxy.hpp>
#include <kasane/report/paint.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run {

struct Preview {
    /// Components drawn in one hue: haloes beside stars, disks, other stars.
    struct Group {
        std::string name;
        std::vector<report::Rgb> ramp;  ///< colours from dark to bright
        double weight = 1;              ///< factor of its surface density in the picture
    };
    report::Window window;
    report::Exposure exposure;
    std::vector<Group> groups;
    std::vector<std::uint8_t> png[2];  ///< Plane::xy, Plane::xz; empty: there is nothing to draw
    index_t drawn = 0;                 ///< points
};

/// @param points  in all, shared evenly by the components; black holes are not drawn
Preview make_preview(const gravity::Galaxy& galaxy, Cpu on = {}, index_t points = index_t{1} << 18);

}  // namespace kasane::run
