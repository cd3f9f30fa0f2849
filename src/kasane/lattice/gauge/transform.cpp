#include <kasane/lattice/gauge/transform.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/lattice/gauge/random_su3.body.hpp>

namespace kasane::lattice {

std::vector<Su3<double>> random_gauge_transformation(const Extents& extents, std::uint64_t seed) {
    std::vector<Su3<double>> g(static_cast<std::size_t>(extents.volume()));
    for (std::size_t site = 0; site < g.size(); ++site) {
        auto random = random_stream(seed, RandomPurpose::gauge_transformation, static_cast<index_t>(site));
        g[site] = random_su3(random);
    }
    return g;
}

GaugeField gauge_transformed(const GaugeField& u, const std::vector<Su3<double>>& g) {
    const auto& n = u.extents;
    KS_REQUIRE(static_cast<index_t>(g.size()) == n.volume(),
               "a gauge transformation of " + std::to_string(g.size()) + " matrices does not fit a lattice of " + text(n));
    GaugeField to(n);
    for (index_t i = 0; i < n.volume(); ++i) {
        const Site x = n.site(i);
        for (int mu = 0; mu < 4; ++mu) {
            const auto next = static_cast<std::size_t>(n.lexicographic(n.shifted(x, mu, 1)));
            to.link(i, mu) = times_adjoint(g[static_cast<std::size_t>(i)] * u.link(i, mu), g[next]);
        }
    }
    return to;
}

}  // namespace kasane::lattice
