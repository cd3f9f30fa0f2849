#include <kasane/lattice/gauge/temporal_gauge.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>

namespace kasane::lattice {

TemporalGauge temporal_gauge(const GaugeField& links) {
    const auto& n = links.extents;
    const index_t volume = n.volume(), slice = volume / n[3];
    TemporalGauge gauge{GaugeField(n), std::vector<Su3<double>>(static_cast<std::size_t>(volume))};
    auto& g = gauge.g;
    const auto at = [](index_t i) { return static_cast<std::size_t>(i); };
    parallel_for(Cpu{}, slice, [&](index_t x) {
        g[at(x)] = Su3<double>::unit();
        for (index_t i = x + slice; i < volume; i += slice) g[at(i)] = reunitarised(g[at(i - slice)] * links.link(i - slice, 3));
    });
    parallel_for(Cpu{}, volume, [&](index_t i) {
        const Site x = n.site(i);
        for (int mu = 0; mu < 4; ++mu) {
            const index_t next = n.lexicographic(n.shifted(x, mu, 1));
            gauge.links.link(i, mu) =
                mu == 3 && x[3] + 1 < n[3] ? Su3<double>::unit() : times_adjoint(g[at(i)] * links.link(i, mu), g[at(next)]);
        }
    });
    return gauge;
}

SpinorField rotated(const SpinorField& psi, const std::vector<Su3<double>>& g, bool adjoint) {
    KS_EXPECT(static_cast<index_t>(g.size()) == psi.extents.volume());
    SpinorField out(psi.extents);
    parallel_for(Cpu{}, psi.extents.volume(), [&](index_t x) {
        const auto& u = g[static_cast<std::size_t>(x)];
        for (int spin = 0; spin < 4; ++spin)
            for (int i = 0; i < 3; ++i) {
                std::complex<double> sum = 0;
                for (int j = 0; j < 3; ++j) {
                    const auto e = adjoint ? conj(u.e[j][i]) : u.e[i][j];
                    sum += std::complex<double>(e.re, e.im) * psi.at(x, spin, j);
                }
                out.at(x, spin, i) = sum;
            }
    });
    return out;
}

}  // namespace kasane::lattice
