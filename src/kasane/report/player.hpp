// The player of a film: a canvas for each of two views, with play and slider; the pictures as base64 in a block of JSON; stills, which need
// no script.
#pragma once

#include <kasane/report/film.hpp>
#include <kasane/report/words.hpp>

#include <string>

namespace kasane::report {

struct PlayerTexts {
    std::string subject;      ///< "particles"
    std::string view[2];      ///< name of each view; plain text
    std::string legend;       ///< HTML
    TimeScale time;           ///< of Film::Frame::time
    std::string length_unit;  ///< "kpc", or empty
};

/// The short name of a view, as in view_name(Plane::xy): "x–y".
const char* view_name(Plane plane);

/// A section with the film, its controls and the stills. @param film  has a frame and a still at least
std::string player(const Film& film, const PlayerTexts& texts);

/// JavaScript: plays the film on its canvases, and moves the line that marks its time in every plot of the page.
extern const char* const player_script;

}  // namespace kasane::report
