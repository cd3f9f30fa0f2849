// Observables and flow of divided links, once per Space: the bodies of one device on the local sites, sums over all workers.
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/distributed/gluonic.hpp>
#include <kasane/lattice/distributed/local_sums.hpp>
#include <kasane/lattice/gauge/exponential_update.body.hpp>
#include <kasane/lattice/observe/field.body.hpp>
#include <kasane/lattice/observe/flow.body.hpp>
#include <kasane/lattice/observe/loops.body.hpp>
#include <kasane/lattice/parallel_sites.hpp>

namespace kasane::lattice {
namespace {

/// Matrices in memory, [18][n].
struct Matrices {
    double* data;
    index_t n;
    KS_FN Su3<double> load(index_t i) const {
        Su3<double> u;
        for (int k = 0; k < 9; ++k) u.e[k / 3][k % 3] = {data[2 * k * n + i], data[(2 * k + 1) * n + i]};
        return u;
    }
    KS_FN void store(index_t i, const Su3<double>& u) const {
        for (int k = 0; k < 9; ++k) {
            data[2 * k * n + i] = u.e[k / 3][k % 3].re;
            data[(2 * k + 1) * n + i] = u.e[k / 3][k % 3].im;
        }
    }
};

/// The product of the local time links above a local site of space.
struct LocalTimeLine {
    LinksView u;
    LocalSites sites;
    Matrices lines;
    KS_FN void operator()(index_t i) const {
        Site x = sites.local.site(i);
        for (int mu = 0; mu < 4; ++mu) x[mu] += sites.width[mu];
        auto product = u.load(x, 3);
        for (int t = 1; t < sites.local[3]; ++t) {
            ++x[3];
            product = product * u.load(x, 3);
        }
        lines.store(i, product);
    }
};

/// product <- product next
struct MultiplyLines {
    Matrices product, next;
    KS_FN void operator()(index_t i) const { product.store(i, product.load(i) * next.load(i)); }
};

struct TraceLines {
    Matrices lines;
    KS_FN Terms<2> operator()(index_t i) const {
        const auto loop = trace(lines.load(i));
        return {{loop.re, loop.im}};
    }
};

double volume_of(const LinkHalo<KS_SPACE>& halo) { return static_cast<double>(halo.sites().lattice.volume()); }

}  // namespace

template <>
Plaquette plaquette(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& u) {
    const auto of = sum_of_sites<2>(halo, SitePlaquettes<LinksView>{u.view(), u.extents});
    return {of[0] / (9 * volume_of(halo)), of[1] / (9 * volume_of(halo))};
}

template <>
double link_trace(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& u) {
    return sum_of_sites<1>(halo, SiteTraces<LinksView>{u.view(), u.extents})[0] / (12 * volume_of(halo));
}

template <>
std::complex<double> polyakov_loop(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& u) {
    const auto on = halo.space();
    const auto& sites = halo.sites();
    const index_t n = sites.local.volume() / sites.local[3];
    Buffer<double, KS_SPACE> product(on, 18 * n), next(on, 18 * n), received(on, 18 * n);
    parallel_for_sites(on, n, LocalTimeLine{u.view(), sites, {product.data(), n}});
    parallel_for_sites(on, n, LocalTimeLine{u.view(), sites, {next.data(), n}});
    const auto bytes = 18 * n * static_cast<index_t>(sizeof(double));
    for (int step = 1; step < halo.grid().shape()[3]; ++step) {
        halo.pass(3, -1, {reinterpret_cast<const std::byte*>(next.data()), bytes}, {reinterpret_cast<std::byte*>(received.data()), bytes});
        std::swap(next, received);
        parallel_for_sites(on, n, MultiplyLines{{product.data(), n}, {next.data(), n}});
    }
    Terms<2> here{};
    if (sites.origin[3] == 0) here = sum<2>(on, n, TraceLines{{product.data(), n}});
    synchronize(on);
    const auto of = over_workers(halo.worker(), here);
    const double scale = sites.lattice[3] / (3 * volume_of(halo));
    return {of[0] * scale, of[1] * scale};
}

template <>
EnergyAndCharge energy_and_charge(LinkHalo<KS_SPACE>& halo, const Links<KS_SPACE>& u) {
    const auto& sites = halo.sites();
    const auto here = sum<2>(halo.space(), 3 * sites.local.volume(), AroundLocalSites<3, SiteField>{sites, {u.view()}});
    const auto of = over_workers(halo.worker(), here);
    return {of[0] / volume_of(halo), of[1]};
}

template <>
std::vector<FlowPoint> wilson_flow(LinkHalo<KS_SPACE>& halo, Links<KS_SPACE>& u, double t_max, double step, int every) {
    const auto& sites = halo.sites();
    auto k = halo.links();
    const auto stage = [&](double force, double memory) {
        const index_t links = 4 * sites.local.volume();
        parallel_for_sites(halo.space(), links, AroundLocalSites<4, AccumulateFlow>{sites, {u.view(), k.view(), force, memory}});
        parallel_for_sites(halo.space(), links, OnLocalLinks<ExponentialUpdate>{sites, {u.view(), k.view(), 1}});
        halo.exchange(u);
    };
    return flow_points(t_max, step, every, stage, [&] { return energy_and_charge(halo, u); }, [&] { return plaquette(halo, u).mean(); });
}

}  // namespace kasane::lattice
