// Plaquette and link trace of a host field, without a copy of it.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/observe/loops.body.hpp>
#include <kasane/lattice/observe/observables.hpp>

namespace kasane::lattice {
namespace {

struct FieldView {
    const GaugeField* field;
    const Su3<double>& load(const Site& x, int mu) const { return field->link(x, mu); }
};

void require_links(const GaugeField& u) {
    KS_REQUIRE(std::ssize(u.links) == 4 * required(u.extents).volume(),
               "the gauge field of a lattice " + text(u.extents) + " has " + std::to_string(u.links.size()) + " links");
}

}  // namespace

Plaquette plaquette(const GaugeField& u) {
    require_links(u);
    const auto of = sum<2>(Cpu{}, u.extents.volume(), SitePlaquettes<FieldView>{{&u}, u.extents});
    const auto planes = 9 * static_cast<double>(u.extents.volume());
    return {of[0] / planes, of[1] / planes};
}

double link_trace(const GaugeField& u) {
    require_links(u);
    return sum<1>(Cpu{}, u.extents.volume(), SiteTraces<FieldView>{{&u}, u.extents})[0] / (12 * static_cast<double>(u.extents.volume()));
}

}  // namespace kasane::lattice
