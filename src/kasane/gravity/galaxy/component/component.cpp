// Names of the laws, and how many particles each component gets.
#include <kasane/core/base/nearest_name.hpp>
#include <kasane/gravity/galaxy/component/component.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace kasane::gravity {
namespace {

/// Names of the alternatives of Law, in their order.
const std::vector<std::string_view> names = {"plummer",
                                             "king",
                                             "hernquist",
                                             "nfw",
                                             "moore",
                                             "burkert",
                                             "einasto",
                                             "isothermal",
                                             "two-power",
                                             "triple-power",
                                             "sersic",
                                             "table",
                                             "surface-density-table",
                                             "black-hole",
                                             "exponential-disk",
                                             "sersic-disk",
                                             "table-disk"};

template <std::size_t... I>
Law law_at(std::size_t index, std::index_sequence<I...> /*all*/) {
    Law law;
    static_cast<void>(((index == I && (law.emplace<I>(), true)) || ...));
    return law;
}

/// Integers proportional to the masses, at least 1, that add up to count. They are rounded down, and the missing particles go to the
/// components with the largest remainders.
void share(index_t count, const GalaxyModel& model, std::vector<index_t>& counts) {
    std::vector<std::size_t> sharers;
    double mass = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] == 0) sharers.push_back(i), mass += model.components[i].mass;
    }
    if (sharers.empty()) return;
    const auto quota = [&](std::size_t i) { return static_cast<double>(count) * (model.components[i].mass / mass); };
    const auto owed = [&](std::size_t i) { return quota(i) - static_cast<double>(counts[i]); };
    index_t left = count;
    for (const auto i : sharers) {
        counts[i] = std::max(index_t{1}, static_cast<index_t>(quota(i)));
        left -= counts[i];
    }
    for (; left > 0; --left) ++counts[*std::ranges::max_element(sharers, {}, owed)];
    // Components that were raised to 1 particle may exceed the sum: particles are removed where the excess over the share is largest.
    for (; left < 0; ++left) {
        --counts[*std::ranges::min_element(sharers, {}, [&](std::size_t i) { return counts[i] > 1 ? owed(i) : HUGE_VAL; })];
    }
}

}  // namespace

bool is_disk(const Law& law) {
    return std::holds_alternative<ExponentialDisk>(law) || std::holds_alternative<SersicDisk>(law) ||
           std::holds_alternative<TabulatedDisk>(law);
}

bool is_black_hole(const Law& law) { return std::holds_alternative<BlackHole>(law); }

std::string name(const Law& law) { return std::string(names[law.index()]); }

const std::vector<std::string_view>& law_names() { return names; }

Law law_named(const std::string& name) {
    const auto found = std::ranges::find(names, name);
    if (found != names.end()) {
        return law_at(static_cast<std::size_t>(found - names.begin()), std::make_index_sequence<std::variant_size_v<Law>>());
    }
    const auto near = nearest_name(name, names);
    std::string known;
    for (const auto law : names) known += (known.empty() ? "" : ", ") + std::string(law);
    throw InputError(fmt::format("\"{}\" is not a profile: {}the profiles are {}", name,
                                 near.empty() ? "" : fmt::format("did you mean \"{}\"? ", near), known));
}

std::vector<index_t> counts_of(const GalaxyModel& model) {
    auto problems = problems_of(model);
    if (!problems.empty()) throw InputError(std::move(problems));
    std::vector<index_t> counts;
    for (const auto& c : model.components) {
        if (is_black_hole(c.law)) {
            counts.push_back(1);
        } else if (c.particle_mass > 0) {
            counts.push_back(static_cast<index_t>(std::llround(c.mass / c.particle_mass)));
        } else {
            counts.push_back(c.count);
        }
    }
    share(model.count, model, counts);
    return counts;
}

}  // namespace kasane::gravity
