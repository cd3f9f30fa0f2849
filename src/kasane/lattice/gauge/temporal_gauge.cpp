#include <kasane/lattice/gauge/temporal_gauge.hpp>

#include <kasane/core/device/parallel.hpp>

namespace kasane::lattice {

TemporalGauge temporal_gauge(const GaugeField& links) {
    const auto& n = links.extents;
    const index_t slice = n.volume() / n[3];
    TemporalGauge fixed{GaugeField(n), GaugeTransformation(static_cast<std::size_t>(n.volume()))};
    auto& g = fixed.g;
    const auto at = [](index_t x) { return static_cast<std::size_t>(x); };
    parallel_for(Cpu{}, slice, [&](index_t i) {  // g(t + 1) = g(t) U_t(t), from 1
        g[at(i)] = Su3<double>::unit();
        for (index_t x = i; x + slice < n.volume(); x += slice) g[at(x + slice)] = reunitarised(g[at(x)] * links.link(x, 3));
    });
    parallel_for(Cpu{}, n.volume(), [&](index_t x) {
        const Site site = n.site(x);
        for (int mu = 0; mu < 4; ++mu) {
            const bool one = mu == 3 && site[3] + 1 < n[3];
            const auto ahead = at(n.lexicographic(n.shifted(site, mu, 1)));
            fixed.links.link(x, mu) = one ? Su3<double>::unit() : times_adjoint(g[at(x)] * links.link(x, mu), g[ahead]);
        }
    });
    return fixed;
}

void transform(const GaugeTransformation& g, SpinorField& psi, bool back) {
    parallel_for(Cpu{}, psi.extents.volume(), [&](index_t x) {
        const auto& u = g[static_cast<std::size_t>(x)];
        const auto m = back ? adjoint(u) : u;
        for (int spin = 0; spin < 4; ++spin) {
            std::complex<double> old[3];
            for (int c = 0; c < 3; ++c) old[c] = psi.at(x, spin, c);
            for (int i = 0; i < 3; ++i) {
                std::complex<double> sum = 0;
                for (int j = 0; j < 3; ++j) sum += std::complex<double>(m.e[i][j].re, m.e[i][j].im) * old[j];
                psi.at(x, spin, i) = sum;
            }
        }
    });
}

}  // namespace kasane::lattice
