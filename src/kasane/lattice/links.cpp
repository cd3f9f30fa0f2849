#include <kasane/lattice/links.hpp>

#include <kasane/core/device/parallel.hpp>

namespace kasane::lattice {
namespace {

Links<Cpu> reordered(Cpu on, const GaugeField& from) {
    Links<Cpu> to(on, from.extents);
    const auto links = to.view();
    parallel_for(on, from.extents.volume(), [&](index_t i) {
        const auto site = from.extents.site(i);
        for (int mu = 0; mu < 4; ++mu) links.store(site, mu, from.link(i, mu));
    });
    return to;
}

GaugeField reordered(Cpu on, const LinksView& from) {
    GaugeField to(from.extents);
    parallel_for(on, from.extents.volume(), [&](index_t i) {
        const auto site = from.extents.site(i);
        for (int mu = 0; mu < 4; ++mu) to.link(i, mu) = from.load(site, mu);
    });
    return to;
}

}  // namespace

template <>
Links<Cpu> links_on(Cpu on, const GaugeField& from) {
    return reordered(on, from);
}
template <>
GaugeField to_gauge_field(const Links<Cpu>& from) {
    return reordered(from.space(), from.view());
}

#if defined(KASANE_CUDA)
template <>
Links<Cuda> links_on(Cuda on, const GaugeField& from) {
    const auto host = reordered(Cpu{}, from);
    Links<Cuda> to(on, from.extents);
    copy_from_host(on, to.data.view(), host.data.view());
    return to;
}
template <>
GaugeField to_gauge_field(const Links<Cuda>& from) {
    Links<Cpu> host(Cpu{}, from.extents);
    copy_to_host(from.space(), host.data.view(), from.data.view());
    return reordered(Cpu{}, std::as_const(host).view());
}
#endif

}  // namespace kasane::lattice
