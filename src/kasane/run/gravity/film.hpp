// The film of a run: pictures of its snapshots along z and along y, in fixed windows and on one fixed scale of brightness.
// A picture is two layers that the page multiplies: lightness, sharp, and colour, coarse; this is a third the size of RGB.
// Invariants: every frame has one picture per plane; one snapshot is in memory at a time.
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
    report::Window side;    ///< of the x-z pictures: width, columns and pixels of `window`, and a height of its own
    Groups groups;
    report::Exposure exposure;
    std::vector<std::string> ramp;  ///< colours from dark to bright as "#rrggbb", one row per group, ramp_length each
    static constexpr int ramp_length = 9;
    std::vector<Frame> frames;
    std::vector<Still> stills;
    std::vector<std::string> notes;  ///< snapshots that could not be used, and why
};

struct FilmOptions {
    int most_frames = 60;
    int stills = 8;
    double pixels = 330'000;             ///< of one picture, before the size of the page is looked at
    std::size_t most_bytes = 5'200'000;  ///< of all pictures; base64 makes a third more of it
};

/// No frames when there is no snapshot that can be read.
Film make_film(const History& history, const FilmOptions& options = {});

}  // namespace kasane::run
