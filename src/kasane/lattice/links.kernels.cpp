// Links from and to arrays in the order of GaugeField, in the memory of the space, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/links.hpp>

namespace kasane::lattice {
namespace {

struct TakeLinks {
    const Su3<double>* from;
    LinksView to;
    KS_FN void operator()(index_t i) const {
        const Site site = to.extents.site(i);
        for (int mu = 0; mu < 4; ++mu) to.store(site, mu, from[4 * i + mu]);
    }
};

struct GiveLinks {
    LinksView from;
    Su3<double>* to;
    KS_FN void operator()(index_t i) const {
        const Site site = from.extents.site(i);
        for (int mu = 0; mu < 4; ++mu) to[4 * i + mu] = from.load(site, mu);
    }
};

/// Adds x - x of the numbers of the links of a site: 0, or NaN where one is not finite.
struct AddDifferences {
    LinksView links;
    KS_FN Terms<1> operator()(index_t i) const {
        const Site site = links.extents.site(i);
        Terms<1> sum{};
        for (int mu = 0; mu < 4; ++mu) {
            const auto u = links.load(site, mu);
            for (int k = 0; k < 9; ++k) {
                const auto z = u.e[k / 3][k % 3];
                sum[0] += (z.re - z.re) + (z.im - z.im);
            }
        }
        return sum;
    }
};

/// Counts the links of a site that are not in SU(3).
struct CountOutside {
    LinksView links;
    double tolerance;
    LinksAs as;
    KS_FN Terms<1> operator()(index_t i) const {
        const Site site = links.extents.site(i);
        Terms<1> count{};
        for (int mu = 0; mu < 4; ++mu) {
            auto u = links.load(site, mu);
            if (as == LinksAs::reunitarised) u = reunitarised(u);
            if (!(distance_from_su3(u) <= tolerance)) count[0] += 1;
        }
        return count;
    }
};

void require_links(index_t n, const Extents& extents) {
    KS_REQUIRE(n == 4 * extents.volume(), "an array of " + std::to_string(n) + " links does not fit a lattice of " + text(extents));
}

}  // namespace

template <>
Links<KS_SPACE> links_on(KS_SPACE on, const Extents& extents, View<const Su3<double>> from) {
    require_links(from.n, extents);
    Links<KS_SPACE> to(on, extents);
    parallel_for(on, extents.volume(), TakeLinks{from.ptr, to.view()});
    synchronize(AnySpace(on));
    return to;
}

template <>
bool are_finite(const Links<KS_SPACE>& links) {
    return sum<1>(links.space(), links.extents.volume(), AddDifferences{links.view()})[0] == 0;
}

template <>
index_t links_outside_su3(const Links<KS_SPACE>& links, double tolerance, LinksAs as) {
    return static_cast<index_t>(sum<1>(links.space(), links.extents.volume(), CountOutside{links.view(), tolerance, as})[0]);
}

template <>
void copy_links(const Links<KS_SPACE>& from, View<Su3<double>> to) {
    require_links(to.n, from.extents);
    parallel_for(from.space(), from.extents.volume(), GiveLinks{from.view(), to.ptr});
    synchronize(AnySpace(from.space()));
}

}  // namespace kasane::lattice
