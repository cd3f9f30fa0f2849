// Momenta, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/exponential_update.body.hpp>
#include <kasane/lattice/hmc/momenta.body.hpp>
#include <kasane/lattice/hmc/momenta.hpp>
#include <kasane/lattice/parallel_sites.hpp>

#include <cmath>

namespace kasane::lattice {
namespace {

/// Draws the four momenta of a site.
struct DrawMomenta {
    LinksView p;
    MomentumOfLink momentum;
    KS_FN void operator()(index_t i) const {
        const index_t half = p.extents.half(), place = i % half;
        const auto parity = static_cast<Parity>(i / half);
        const index_t site = p.extents.lexicographic(p.extents.site(parity, place));
        for (int mu = 0; mu < 4; ++mu) p.store(parity, place, mu, momentum(4 * site + mu));
    }
};

/// Element by element, padding included.
struct SetMomentaToZero {
    double* to;
    KS_FN void operator()(index_t i) const { to[i] = 0; }
};
struct Reverse {
    double* p;
    KS_FN void operator()(index_t i) const { p[i] = -p[i]; }
};
struct AddNumbers {
    double a;
    const double* from;
    double* to;
    KS_FN void operator()(index_t i) const { to[i] += a * from[i]; }
};
struct CopyNumbers {
    const double* from;
    double* to;
    KS_FN void operator()(index_t i) const { to[i] = from[i]; }
};

}  // namespace

template <>
void draw_momenta(Links<KS_SPACE>& p, std::uint64_t seed, std::uint64_t trajectory) {
    parallel_for_sites(p.space(), p.extents.volume(), DrawMomenta{p.view(), {seed, trajectory}});
}

template <>
double kinetic_energy(const Links<KS_SPACE>& p) {
    return sum<1>(p.space(), p.extents.volume(), SiteKineticEnergy{p.view()})[0];
}

template <>
LinkNorms link_norms(const Links<KS_SPACE>& force) {
    const auto norms = reduce<NormTerms>(force.space(), force.extents.volume(), SiteNorms{force.view()});
    return {norms.sum, norms.largest};
}

template <>
double distance(const Links<KS_SPACE>& a, const Links<KS_SPACE>& b) {
    KS_EXPECT(a.extents == b.extents);
    return std::sqrt(sum<1>(a.space(), a.extents.volume(), SiteDistance{a.view(), b.view()})[0]);
}

template <>
void move_links(Links<KS_SPACE>& u, const Links<KS_SPACE>& p, double step) {
    KS_EXPECT(p.extents == u.extents);
    parallel_for_sites(u.space(), 4 * u.extents.volume(), ExponentialUpdate{u.view(), p.view(), step});
}

template <>
void set_zero(Links<KS_SPACE>& p) {
    parallel_for(p.space(), p.data.size(), SetMomentaToZero{p.data.data()});
}
template <>
void reverse(Links<KS_SPACE>& p) {
    parallel_for(p.space(), p.data.size(), Reverse{p.data.data()});
}
template <>
void add_links(double a, const Links<KS_SPACE>& force, Links<KS_SPACE>& p) {
    KS_EXPECT(force.extents == p.extents);
    parallel_for(p.space(), p.data.size(), AddNumbers{a, force.data.data(), p.data.data()});
}
template <>
void copy_links(const Links<KS_SPACE>& from, Links<KS_SPACE>& to) {
    KS_EXPECT(from.extents == to.extents);
    parallel_for(to.space(), to.data.size(), CopyNumbers{from.data.data(), to.data.data()});
}

}  // namespace kasane::lattice
