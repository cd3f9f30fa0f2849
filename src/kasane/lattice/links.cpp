#include <kasane/lattice/links.hpp>

namespace kasane::lattice {

template <>
Links<Cpu> links_on(Cpu on, const GaugeField& from) {
    return links_on(on, from.extents, view(from.links));
}
template <>
GaugeField to_gauge_field(const Links<Cpu>& from) {
    GaugeField to(from.extents);
    copy_links(from, view(to.links));
    return to;
}

#if defined(KASANE_CUDA)
template <>
Links<Cuda> links_on(Cuda on, const GaugeField& from) {
    const auto host = links_on(Cpu{}, from);
    Links<Cuda> to(on, from.extents);
    copy_from_host(on, to.data.view(), host.data.view());
    return to;
}
template <>
GaugeField to_gauge_field(const Links<Cuda>& from) {
    Links<Cpu> host(Cpu{}, from.extents);
    copy_to_host(from.space(), host.data.view(), from.data.view());
    return to_gauge_field(host);
}
#endif

}  // namespace kasane::lattice
