// One link's update, and the sweep over all links, host and device, for plaquettes of any weight: a test uses them for two-dimensional
// theories, whose plaquette is known exactly.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/gauge/staple.body.hpp>
#include <kasane/lattice/gauge/su2.body.hpp>
#include <kasane/lattice/random.hpp>

namespace kasane::lattice {

/// Changes w = u A in each SU(2) subgroup in turn, and u with it.
struct Heatbath {
    double beta;
    std::uint64_t seed, sweep;
    KS_FN void operator()(Su3<double>& u, Su3<double>& w, index_t number) const {
        auto random = random_stream<RandomWords>(seed, RandomPurpose::heatbath, number, sweep);
        update(u, w, 0, 1, random);
        update(u, w, 0, 2, random);
        update(u, w, 1, 2, random);
    }

   private:
    KS_FN void update(Su3<double>& u, Su3<double>& w, int i, int j, RandomWords& random) const {
        const Su2Part part = su2_part(w, i, j);
        // exp(beta / 3 Re tr(g w)) = exp(strength Re tr(g direction) / 2)
        const Su2 g = heatbath_su2(2 * beta / 3 * part.length, part.direction, random);
        multiply_rows(u, i, j, g);
        multiply_rows(w, i, j, g);
    }
};

/// @throws LogicError as heatbath_sweep()
inline Heatbath heatbath(double beta, std::uint64_t seed, std::uint64_t sweep) {
    KS_REQUIRE(beta >= 0 && std::isfinite(beta), "beta = " + std::to_string(beta) + " of a heatbath must be finite and 0 or above");
    return {beta, seed, sweep};
}

struct Overrelaxation {
    KS_FN void operator()(Su3<double>& u, Su3<double>& w, index_t) const {
        update(u, w, 0, 1);
        update(u, w, 0, 2);
        update(u, w, 1, 2);
    }

   private:
    KS_FN void update(Su3<double>& u, Su3<double>& w, int i, int j) const {
        const Su2 g = reflection_su2(su2_part(w, i, j).direction);
        multiply_rows(u, i, j, g);
        multiply_rows(w, i, j, g);
    }
};

/// Updates the link of a site along mu. @param number  of the link, for its random numbers: 4 site + mu, with the lexicographic site
template <class Update>
KS_FN void update_link(const LinksView& links, const SitePlace& x, int mu, const Update& update, index_t number) {
    const auto paths = path_sum(links, x, mu);  // before the link, which would need registers meanwhile
    Su3<double> u = completed(load_rows(links, x.parity, x.place, mu)), w = times_adjoint(u, paths);
    update(u, w, number);
    links.store(x.parity, x.place, mu, reunitarised(u));
}

/// The update of a link.
template <class Update>
struct UpdateLink {
    LinksView links;
    Update update;
    KS_FN void operator()(const SitePlace& x, int mu) const { update_link(links, x, mu, update, 4 * x.lexicographic() + mu); }
};
template <Space S, class Update>
void sweep_links(Links<S>& u, const Update& update) {
    for (int colour = 0; colour < link_colours; ++colour)
        for_links_of_colour(u.space(), u.extents, colour, UpdateLink<Update>{u.view(), update});
}

/// Does the same for plaquettes of any weight.
template <class Update, class Weight>
struct UpdateWeightedLinks {
    LinksView links;
    int colour;
    Update update;
    Weight weight;
    KS_FN void operator()(index_t site) const {
        const Site x = links.extents.site(site);
        const int mu = direction_of_colour(x, colour);
        Su3<double> w = staple_sum(links, x, mu, weight);
        Su3<double> u = links.load(x, mu);
        w = u * w;
        update(u, w, 4 * site + mu);
        links.store(x, mu, reunitarised(u));
    }
};
template <Space S, class Update, class Weight>
void sweep_links(Links<S>& u, const Update& update, Weight weight) {
    for (int colour = 0; colour < link_colours; ++colour)
        parallel_for_sites(u.space(), u.extents.volume(), UpdateWeightedLinks<Update, Weight>{u.view(), colour, update, weight});
}

}  // namespace kasane::lattice
