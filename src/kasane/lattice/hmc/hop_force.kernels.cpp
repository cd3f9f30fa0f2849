// The force of the hop, once per Space.
//   F_mu(x) = -kappa s TA(M_1 - M_2), s the sign of the boundary, TA the traceless anti-Hermitian part,
//   M_1 = tr_spin U (1 - g_mu) X(x + mu) Y(x)^+,   M_2 = tr_spin X(x) [U (1 + g_mu) Y(x + mu)]^+
// A projected spinor has two independent spins, and the product of two of them is twice that of the independent spins, so that the
// sums run over the two spins of half spinors.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/solve/field_sites.hpp>
#include <kasane/lattice/hmc/hop_force.body.hpp>
#include <kasane/lattice/hmc/hop_force.hpp>
#include <kasane/lattice/parallel_sites.hpp>

namespace kasane::lattice {
namespace {

template <class Sites>
struct HopForce {
    Sites x[2], y[2];  ///< of each parity
    LinksView u, force;
    double scale;  ///< -kappa factor
    bool antiperiodic;

    KS_FN void operator()(index_t i) const {
        const index_t places = x[0].places(), place = i % places;
        const auto parity = static_cast<Parity>(i / places);
        if (!x[0].counts(place)) return;
        const Site site = x[0].site(parity, place);
        const index_t checkerboard = u.extents.checkerboard(site);
        add<0>(parity, place, site, checkerboard);
        add<1>(parity, place, site, checkerboard);
        add<2>(parity, place, site, checkerboard);
        add<3>(parity, place, site, checkerboard);
    }

   private:
    template <int mu>
    KS_FN void add(Parity parity, index_t place, const Site& site, index_t checkerboard) const {
        const int here = static_cast<int>(parity), there = 1 - here;
        const index_t ahead = x[0].place(u.extents.shifted(site, mu, 1));
        const double sign = mu == 3 && antiperiodic && site[3] == u.extents[3] - 1 ? -1 : 1;
        const auto link = u.load(parity, checkerboard, mu);
        auto m = Su3<double>::zero();
        {
            const auto h = project<mu>(x[there].load(ahead), 1.), k = project<mu>(y[here].load(place), 1.);
            for (int s = 0; s < 2; ++s) add_outer(m, 1, product(link, h.s[s]), k.s[s]);
        }
        {
            const auto h = project<mu>(x[here].load(place), -1.), k = project<mu>(y[there].load(ahead), -1.);
            for (int s = 0; s < 2; ++s) add_outer(m, -1, h.s[s], product(link, k.s[s]));
        }
        auto f = traceless_antihermitian(m);
        f *= scale * sign;
        f += force.load(parity, checkerboard, mu);
        force.store(parity, checkerboard, mu, f);
    }
};

}  // namespace

template <>
void add_hop_force(const Links<KS_SPACE>& u, double kappa, Boundary boundary, const ResidentField<KS_SPACE>& x,
                   const ResidentField<KS_SPACE>& y, double factor, Links<KS_SPACE>& force) {
    KS_REQUIRE(u.extents == force.extents && x.even.lattice()->extents() == u.extents && y.even.lattice()->extents() == u.extents,
               "links, fields and force belong to lattices of different extents: give them the same");
    using Sites = FieldSites<KS_SPACE>;
    const HopForce<Sites> body{{Sites(x.even), Sites(x.odd)},     {Sites(y.even), Sites(y.odd)}, u.view(), force.view(), -kappa * factor,
                               boundary == Boundary::antiperiodic};
    parallel_for_sites(u.space(), 2 * body.x[0].places(), body);
}

}  // namespace kasane::lattice
