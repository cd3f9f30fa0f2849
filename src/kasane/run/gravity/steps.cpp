// The lengths of the particles' time steps, and the work that individual steps save.
#include <kasane/run/gravity/page.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace kasane::run {

using namespace report;

namespace {

/// One bar for each level from the first to the last that is in use, empty levels included.
std::string histogram(const PageContext& c) {
    const auto& r = c.history.record;
    const auto used = [](std::int64_t count) { return count > 0; };
    const auto first = std::find_if(r.step_counts.levels.begin(), r.step_counts.levels.end(), used);
    const auto last = std::find_if(r.step_counts.levels.rbegin(), r.step_counts.levels.rend(), used).base();
    const auto all = static_cast<double>(std::accumulate(r.step_counts.levels.begin(), r.step_counts.levels.end(), std::int64_t{0}));
    const auto scale = time_scale(r.units, r.dt);
    std::string out = "<ul class=\"bars\">\n";
    for (auto level = first; level < last; ++level) {
        const auto k = static_cast<int>(std::distance(r.step_counts.levels.begin(), level));
        const double share = 100 * static_cast<double>(*level) / all;
        const auto dt = brief(std::ldexp(r.dt, -k) * scale.factor) + (scale.unit.empty() ? "" : " " + scale.unit);
        out += fmt::format("<li><span>{}{}</span><span>{} · {}%</span><i style=\"width:{:.2f}%\"></i></li>\n", escape(dt),
                           k == 0 ? ", the longest" : "", grouped(*level),
                           share < 0.1 && share > 0 ? "&lt;0.1" : number(share, share < 10 ? 2 : 3), share);
    }
    return out + "</ul>\n";
}

std::string block_words(const GravityRecord& r) {
    std::string text =
        "<p>Each particle has its own time step, the longest one divided by a power of two, so that it is on the grid of "
        "the others' steps; where speeds and forces are high it is short. ";
    if (r.active_fraction() > 0)
        text +=
            fmt::format("A block step advanced <strong>{}%</strong> of the particles in the mean, and only their forces were computed. ",
                        number(100 * r.active_fraction()));
    const auto shortest =
        std::find_if(r.step_counts.levels.rbegin(), r.step_counts.levels.rend(), [](std::int64_t count) { return count > 0; });
    const auto depth = static_cast<int>(std::distance(shortest, r.step_counts.levels.rend())) - 1;
    if (depth > 0 && r.step_counts.updates > 0 && r.particles > 0 && r.steps > 0) {
        const double shared = std::ldexp(static_cast<double>(r.steps), depth) * static_cast<double>(r.particles);
        text += fmt::format("With the shortest of these steps for all, the run would have advanced particles {} times as often. ",
                            number(shared / r.step_counts.updates, 2));
    }
    return text + "The bars show how many particles had which step at the end.</p>\n";
}

std::string adaptive_words(const GravityRecord& r) {
    std::string text =
        "<p>All particles share one time step: the longest allowed one divided by a power of two, as short as "
        "the particle with the shortest step needs it. ";
    if (r.steps > 0 && r.step_counts.block_steps > 0)
        text += fmt::format("On average {} of them cover the longest allowed step. ",
                            number(static_cast<double>(r.step_counts.block_steps) / static_cast<double>(r.steps)));
    return text + "The bar shows the step at the end.</p>\n";
}

}  // namespace

std::string steps(const PageContext& c) {
    const auto& r = c.history.record;
    const bool any = std::any_of(r.step_counts.levels.begin(), r.step_counts.levels.end(), [](std::int64_t count) { return count > 0; });
    const bool sane =
        std::none_of(r.step_counts.levels.begin(), r.step_counts.levels.end(), [](std::int64_t count) { return count < 0; }) &&
        r.step_counts.levels.size() <= 64;
    if (!any || !sane || !(r.dt > 0) || (r.step.method != "block" && r.step.method != "adaptive")) return "";
    return "<section class=\"steps\">\n<h2>Time steps</h2>\n<div class=\"halves\">\n<div>" +
           (r.step.method == "block" ? block_words(r) : adaptive_words(r)) + "</div>\n<div>" + histogram(c) +
           "</div>\n</div>\n</section>\n";
}

}  // namespace kasane::run
