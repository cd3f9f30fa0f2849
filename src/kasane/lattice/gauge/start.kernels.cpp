// Starts, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/gauge/start.body.hpp>
#include <kasane/lattice/gauge/start.hpp>
#include <kasane/lattice/parallel_sites.hpp>

#include <algorithm>
#include <string>

namespace kasane::lattice {
namespace {

/// Sets every link of a site by a recipe of (link number, old link).
template <class Recipe>
struct SetLinks {
    LinksView u;
    Recipe recipe;
    index_t first;  // site that index 0 stands for
    KS_FN void operator()(index_t index) const {
        const index_t i = first + index, half = u.extents.half();
        const auto parity = static_cast<Parity>(i / half);
        const index_t place = i % half, site = u.extents.lexicographic(u.extents.site(parity, place));
        for (int mu = 0; mu < 4; ++mu) u.store(parity, place, mu, recipe(u, parity, place, mu, 4 * site + mu));
    }
};

/// A start, whatever the old link.
template <class Start>
struct StartLinks {
    Start start;
    KS_FN Su3<double> operator()(const LinksView&, Parity, index_t, int, index_t number) const { return start(number); }
};
struct Reunitarise {
    KS_FN Su3<double> operator()(const LinksView& u, Parity parity, index_t place, int mu, index_t) const {
        return reunitarised(u.load(parity, place, mu));
    }
};

template <class Recipe>
void set_links(Links<KS_SPACE>& u, Recipe recipe, const ProgressFunction& progress = {}) {
    constexpr index_t block = 1 << 16;  // sites: about half a second of one CPU thread
    const index_t sites = u.extents.volume();
    for (index_t first = 0; first < sites; first += block) {
        parallel_for_sites(u.space(), std::min(block, sites - first), SetLinks<Recipe>{u.view(), recipe, first});
        if (!progress) continue;
        synchronize(u.space());
        progress(static_cast<double>(std::min(first + block, sites)) / static_cast<double>(sites), "links");
    }
}

}  // namespace

template <>
void cold_start(Links<KS_SPACE>& u) {
    set_links(u, StartLinks<ColdStart>{});
}
template <>
void hot_start(Links<KS_SPACE>& u, std::uint64_t seed, const ProgressFunction& progress) {
    set_links(u, StartLinks<HotStart>{{seed}}, progress);
}
template <>
void weak_start(Links<KS_SPACE>& u, double epsilon, std::uint64_t seed, const ProgressFunction& progress) {
    KS_VALIDATE(epsilon > 0 && epsilon <= largest_weak_epsilon,
                "epsilon of a weak start must be above 0 and at most " + std::to_string(largest_weak_epsilon));
    set_links(u, StartLinks<WeakStart>{{seed, epsilon}}, progress);
}
template <>
void reunitarise(Links<KS_SPACE>& u) {
    set_links(u, Reunitarise{});
}

}  // namespace kasane::lattice
