// Random numbers and forces of divided quark fields, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/half_spinor.body.hpp>
#include <kasane/lattice/distributed/quark_halo.hpp>
#include <kasane/lattice/dirac/gaussian_spinor.body.hpp>
#include <kasane/lattice/hmc/hop_force.body.hpp>
#include <kasane/lattice/parallel_sites.hpp>
#include <kasane/lattice/solve/field_sites.hpp>

namespace kasane::lattice {
namespace {

template <class Sites>
struct DrawLocalGaussian {
    Sites out;
    LocalSites sites;
    Parity parity;
    GaussianSpinor gaussian;
    KS_FN void operator()(index_t place) const {
        Site x = out.site(parity, place);
        for (int mu = 0; mu < 4; ++mu) x[mu] += sites.origin[mu];
        out.store(place, gaussian(sites.lattice.lexicographic(x)));
    }
};

/// The force of the links of a face's direction, by the sites that they leave.
template <class Sites, int mu>
struct FaceForce {
    HaloLayout layout;
    int face;
    Sites own;
    LinksView u, force;
    HopForceTerm term;
    Parity parity;
    double scale;
    const std::byte* halo;

    KS_FN void operator()(index_t i) const {
        const Site x = layout.site(mu, layout.received_slice(face), parity, i);
        const index_t checkerboard = u.extents.checkerboard(x);
        const auto link = u.load(parity, checkerboard, mu);
        const auto ahead = load_half_spinor<KS_SPACE, Precision::double_, double>(
            halo + layout.begin[face] * halo_site_bytes<Precision::double_>, layout.sites(face), i);
        const auto psi = own.load(own.place(x));
        auto m = Su3<double>::zero();
        if (term == HopForceTerm::x_ahead) {
            const auto k = project<mu>(psi, 1.);
            for (int s = 0; s < 2; ++s) add_outer(m, 1, product(link, ahead.s[s]), k.s[s]);
        } else {
            const auto h = project<mu>(psi, -1.);
            for (int s = 0; s < 2; ++s) add_outer(m, -1, h.s[s], product(link, ahead.s[s]));
        }
        auto f = traceless_antihermitian(m);
        f *= scale;
        force.store(parity, checkerboard, mu, f += force.load(parity, checkerboard, mu));
    }
};

}  // namespace

template <>
void gaussian_field(const LocalSites& sites, std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity,
                    Field<KS_SPACE, Precision::double_>& eta) {
    const FieldSites<KS_SPACE> out(eta);
    const GaussianSpinor gaussian{seed, trajectory, static_cast<std::uint64_t>(term)};
    parallel_for(eta.lattice()->space(), out.places(), DrawLocalGaussian<FieldSites<KS_SPACE>>{out, sites, parity, gaussian});
}

template <>
void add_face_force(const HaloLayout& layout, const Links<KS_SPACE>& u, HopForceTerm term, Parity parity, double scale,
                    const double (&signs)[4], const Field<KS_SPACE, Precision::double_>& own, const std::byte* halo,
                    Links<KS_SPACE>& force) {
    using Sites = FieldSites<KS_SPACE>;
    const Sites sites(own);
    for (int face = 0; face < layout.faces; face += 2) {
        const auto run = [&]<int mu>() {
            parallel_for_sites(u.space(), layout.sites(face),
                               FaceForce<Sites, mu>{layout, face, sites, u.view(), force.view(), term, parity, scale * signs[mu], halo});
        };
        switch (layout.mu[face]) {
            case 0: run.operator()<0>(); break;
            case 1: run.operator()<1>(); break;
            case 2: run.operator()<2>(); break;
            default: run.operator()<3>(); break;
        }
    }
}

}  // namespace kasane::lattice
