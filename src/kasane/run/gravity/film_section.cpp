// The film of the run with its legend, or the reason why there is none.
#include <kasane/report/page.hpp>
#include <kasane/report/player.hpp>
#include <kasane/run/gravity/page.hpp>

#include <fmt/format.h>

namespace kasane::run {

using namespace report;

namespace {

std::string legend(const PageContext& c) {
    const auto& film = c.film;
    std::string out = "<div class=\"legend\">";
    for (std::size_t g = 0; g < film.groups.group.size(); ++g) {
        const auto& group = film.groups.group[g];
        const auto dimmed = group.weight < 0.95 ? fmt::format(", drawn {} times fainter", number(1 / group.weight, 2)) : "";
        out += ramp_key(film.ramps[g], group.name, grouped(group.count) + dimmed);
    }
    if (film.groups.hidden_count > 0)
        out += fmt::format("<span class=\"key\"><small>not drawn: {} of the haloes</small></span>",
                           counted(film.groups.hidden_count, "particle", "particles"));
    out += fmt::format("<span class=\"scale\">brightness: surface density on a logarithmic scale, up to {}</span>",
                       surface_density_text(film.exposure.brightest, c.history.record.units));
    return out + "</div>\n";
}

}  // namespace

std::string film_section(const PageContext& c) {
    if (c.film.frames.empty()) {
        const auto why = c.history.snapshots.empty() ? "There are no snapshots to show: the run has written none yet."
                                                     : "None of the snapshots could be read, so there are no pictures.";
        return fmt::format("<section class=\"film\">\n<h2>Film</h2>\n<p class=\"muted\">{}</p>\n</section>\n", why);
    }
    const std::string front = view_name(Plane::xy), side = view_name(Plane::xz);
    const auto orbit = c.history.orbit;
    return player(c.film, {.subject = "particles",
                           .view = {orbit ? "face-on to the orbit, " + front : front, orbit ? "edge-on, " + side : side},
                           .legend = legend(c),
                           .time = c.time,
                           .length_unit = c.length_unit});
}

}  // namespace kasane::run
