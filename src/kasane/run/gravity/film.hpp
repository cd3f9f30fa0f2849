// The film of a run: pictures of its snapshots along z and along y, in fixed windows and on one fixed scale of brightness.
// A picture is two layers that the page multiplies: lightness at full and colour at lower resolution. This takes a third of the bytes of
// RGB. Invariants: every frame has one picture per plane; the snapshots in memory take a quarter of the free memory, or are a single one.
#pragma once

#include <kasane/run/gravity/groups.hpp>
#include <kasane/run/gravity/history.hpp>
#include <kasane/report/paint.hpp>
#include <kasane/report/projection.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::run {

struct Film {
    struct Picture {
        std::vector<std::uint8_t> light;  ///< PNG, columns x rows
        std::vector<std::uint8_t> tint;   ///< PNG, smaller; empty: `light` carries the colour
    };
    struct Frame {
        double time = 0;
        Picture picture[2];           ///< Plane::xy, Plane::xz
        double separation = unknown;  ///< of the centres of two objects, [length]
    };
    struct Still {
        std::size_t frame = 0;
        std::vector<std::uint8_t> png[2];  ///< Plane::xy, Plane::xz, in full colour
        int columns = 0, rows[2] = {};
    };

    report::Window window;  ///< of the x-y pictures
    report::Window side;    ///< of the x-z pictures: as wide as `window`, with its own height
    Groups groups;
    report::Exposure exposure;
    std::vector<std::vector<report::Rgb>> ramps;  ///< of each group: colours from dark to bright
    std::vector<Frame> frames;
    std::vector<Still> stills;
    std::vector<std::string> notes;  ///< snapshots that could not be read, and why
};

struct FilmOptions {
    int most_frames = 60;
    int stills = 8;
    double pixels = 330'000;             ///< of one picture; fewer where the page would become too large
    std::size_t most_bytes = 5'200'000;  ///< of all pictures; a third more in base64
};

/// Without frames where no snapshot can be read.
Film make_film(const History& history, const FilmOptions& options = {});

}  // namespace kasane::run
