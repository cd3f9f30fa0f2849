// The parts of the page of a gravity run: HTML text from a history and its film.
#pragma once

#include <kasane/run/gravity/film.hpp>
#include <kasane/run/gravity/history.hpp>
#include <kasane/run/model/unit_words.hpp>

#include <kasane/report/fact_rows.hpp>

#include <string>

namespace kasane::run {

/// The common data of the parts of the page.
struct PageContext {
    const History& history;
    const Film& film;
    report::TimeScale time;
    std::string length_unit;  ///< "kpc", or empty
};

// HTML; empty where there is nothing to show.
std::string film_section(const PageContext& context);  ///< the film with its controls, and the stills
std::string curves(const PageContext& context);        ///< plots of energy.csv and of the separation
std::string speed(const PageContext& context);         ///< rate compared with the bound, and the time of the parts
std::string steps(const PageContext& context);         ///< distribution of the particles' time steps
report::FactRows facts(const PageContext& context);    ///< rows of this kind

}  // namespace kasane::run
