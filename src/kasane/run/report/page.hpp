// The page itself: HTML text from a history and its film. Everything is inline; nothing is fetched.
#pragma once

#include <kasane/run/report/film.hpp>
#include <kasane/run/report/history.hpp>
#include <kasane/run/report/words.hpp>
#include <string>

namespace kasane::run::report {

/// What the parts of the page share.
struct Context {
    const History& history;
    const Film& film;
    TimeScale time;
    std::string length_unit;  ///< "kpc", or empty
};

/// The whole document.
std::string page(const History& history, const Film& film);

// Its parts, each a piece of HTML, empty when there is nothing to show.
std::string player(const Context& context);  ///< the film with its controls, and the stills
std::string curves(const Context& context);  ///< plots of energy.csv and of the separation
std::string speed(const Context& context);   ///< rate against the bound, and where the time went
std::string steps(const Context& context);   ///< how long the particles' time steps are
std::string facts(const Context& context);   ///< the table, the run file, papers, commands
extern const char* const style;              ///< CSS
extern const char* const script;             ///< JavaScript

}  // namespace kasane::run::report
