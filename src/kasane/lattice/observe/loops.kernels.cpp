// Plaquette, link trace and Polyakov loop, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/observe/loops.body.hpp>
#include <kasane/lattice/observe/observables.hpp>

namespace kasane::lattice {
namespace {

/// tr prod_t U_t(x, y, z, t) of the spatial site i.
struct SiteLoop {
    LinksView u;
    KS_FN Terms<2> operator()(index_t i) const {
        Site x = u.extents.site(i);
        auto product = u.load(x, 3);
        for (x[3] = 1; x[3] < u.extents[3]; ++x[3]) product = product * u.load(x, 3);
        const auto loop = trace(product);
        return {{loop.re, loop.im}};
    }
};

}  // namespace

template <Space S>
Plaquette plaquette(const Links<S>& u) {
    const auto& n = u.extents;
    const auto of = sum<2>(u.space(), n.volume(), SitePlaquettes<LinksView>{u.view(), n});
    const auto planes = 9 * static_cast<double>(n.volume());  // three of each kind, and the 3 of the trace
    return {of[0] / planes, of[1] / planes};
}

template <Space S>
double link_trace(const Links<S>& u) {
    const auto& n = u.extents;
    return sum<1>(u.space(), n.volume(), SiteTraces<LinksView>{u.view(), n})[0] / (12 * static_cast<double>(n.volume()));
}

template <Space S>
std::complex<double> polyakov_loop(const Links<S>& u) {
    const index_t sites = u.extents.volume() / u.extents[3];
    const auto of = sum<2>(u.space(), sites, SiteLoop{u.view()});
    const auto scale = 1 / (3 * static_cast<double>(sites));
    return {of[0] * scale, of[1] * scale};
}

template Plaquette plaquette(const Links<KS_SPACE>&);
template double link_trace(const Links<KS_SPACE>&);
template std::complex<double> polyakov_loop(const Links<KS_SPACE>&);

}  // namespace kasane::lattice
