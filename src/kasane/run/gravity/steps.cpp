// How long the particles' time steps are, and what it saves that they differ.
#include <kasane/run/gravity/page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace kasane::run {

using namespace report;

namespace {

/// One bar for each level between the first and the last that is in use, the empty ones between them too.
std::string histogram(const PageContext& c) {
    const auto& h = c.history;
    const auto used = [](std::int64_t count) { return count > 0; };
    const auto first = std::find_if(h.levels.begin(), h.levels.end(), used);
    const auto last = std::find_if(h.levels.rbegin(), h.levels.rend(), used).base();
    const auto all = static_cast<double>(std::accumulate(h.levels.begin(), h.levels.end(), std::int64_t{0}));
    const auto scale = time_scale(h.units, h.dt);
    std::string out = "<ul class=\"bars\">\n";
    for (auto level = first; level < last; ++level) {
        const auto k = static_cast<int>(std::distance(h.levels.begin(), level));
        const double share = 100 * static_cast<double>(*level) / all;
        const auto dt = brief(std::ldexp(h.dt, -k) * scale.factor) + (scale.unit.empty() ? "" : " " + scale.unit);
        out += fmt::format("<li><span>{}{}</span><span>{} · {}%</span><i style=\"width:{:.2f}%\"></i></li>\n", escape(dt),
                           k == 0 ? ", the longest" : "", grouped(*level),
                           share < 0.1 && share > 0 ? "&lt;0.1" : number(share, share < 10 ? 2 : 3), share);
    }
    return out + "</ul>\n";
}

std::string block_words(const History& h) {
    std::string text =
        "<p>Each particle has a time step of its own, the longest one divided by a power of two, so that it is on the grid of "
        "the others' steps; where speeds and forces are high it is short. ";
    if (h.active_fraction > 0)
        text +=
            fmt::format("A block step advanced <strong>{}%</strong> of the particles in the mean, and only their forces were computed. ",
                        number(100 * h.active_fraction));
    const auto shortest = std::find_if(h.levels.rbegin(), h.levels.rend(), [](std::int64_t count) { return count > 0; });
    const auto depth = static_cast<int>(std::distance(shortest, h.levels.rend())) - 1;
    if (depth > 0 && h.updates > 0 && h.particles > 0 && h.steps > 0) {
        const double shared = std::ldexp(static_cast<double>(h.steps), depth) * static_cast<double>(h.particles);
        text += fmt::format("With the shortest of these steps for all, the run would have advanced particles {} times as often. ",
                            number(shared / h.updates, 2));
    }
    return text + "The bars show how many particles had which step at the end.</p>\n";
}

std::string adaptive_words(const History& h) {
    std::string text =
        "<p>All particles share one time step: the longest allowed one divided by a power of two, as short as the particle wants it "
        "that needs the shortest. ";
    if (h.steps > 0 && h.block_steps > 0)
        text += fmt::format("In the mean there were {} of them to one longest. ",
                            number(static_cast<double>(h.block_steps) / static_cast<double>(h.steps)));
    return text + "The bar shows the step at the end.</p>\n";
}

}  // namespace

std::string steps(const PageContext& c) {
    const auto& h = c.history;
    const bool any = std::any_of(h.levels.begin(), h.levels.end(), [](std::int64_t count) { return count > 0; });
    const bool sane = std::none_of(h.levels.begin(), h.levels.end(), [](std::int64_t count) { return count < 0; }) && h.levels.size() <= 64;
    if (!any || !sane || !(h.dt > 0) || (h.step_method != "block" && h.step_method != "adaptive")) return "";
    return "<section class=\"steps\">\n<h2>Time steps</h2>\n<div class=\"halves\">\n<div>" +
           (h.step_method == "block" ? block_words(h) : adaptive_words(h)) + "</div>\n<div>" + histogram(c) +
           "</div>\n</div>\n</section>\n";
}

}  // namespace kasane::run
