#include <kasane/lattice/links.hpp>

#include <kasane/core/device/staged_copy.hpp>

#include <utility>

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
    Buffer<Su3<double>, Cuda> there(on, std::ssize(from.links));
    staged_to_device(on, there.view(), [&](index_t i) { return from.links[static_cast<std::size_t>(i)]; });
    return links_on(on, from.extents, std::as_const(there).view());
}
template <>
GaugeField to_gauge_field(const Links<Cuda>& from) {
    Links<Cpu> host(Cpu{}, from.extents);
    copy_to_host(from.space(), host.data.view(), from.data.view());
    return to_gauge_field(host);
}
#endif

}  // namespace kasane::lattice
