// An observable of one's own on a quenched ensemble: the 1 x 2 Wilson loop, from the links on the host, beside kasane's plaquette.
#include <kasane/lattice.hpp>

#include <cstdio>

using namespace kasane;

/// Mean Re tr W / 3 of the R x T loops in the planes of space and time.
double wilson_loop(const lattice::GaugeField& u, int R, int T) {
    const auto& n = u.extents;
    double sum = 0;
    for (index_t i = 0; i < n.volume(); ++i)
        for (int mu = 0; mu < 3; ++mu) {
            auto s = n.site(i);
            auto loop = lattice::Su3<double>::unit();
            for (int k = 0; k < R; ++k) loop = loop * u.link(s, mu), s = n.shifted(s, mu, 1);
            for (int k = 0; k < T; ++k) loop = loop * u.link(s, 3), s = n.shifted(s, 3, 1);
            for (int k = 0; k < R; ++k) s = n.shifted(s, mu, -1), loop = loop * adjoint(u.link(s, mu));
            for (int k = 0; k < T; ++k) s = n.shifted(s, 3, -1), loop = loop * adjoint(u.link(s, 3));
            sum += trace(loop).re / 3;
        }
    return sum / (3 * static_cast<double>(n.volume()));
}

int main() {
    const double beta = 5.7;
    lattice::Links<Cpu> links(Cpu{}, {{4, 4, 4, 8}});
    lattice::cold_start(links);
    double small = 0, large = 0, plaquette = 0;
    for (std::uint64_t sweep = 0; sweep < 40; ++sweep) {
        lattice::heatbath_sweep(links, beta, 1, sweep);
        lattice::overrelaxation_sweep(links);
        lattice::reunitarise(links);
        const auto field = lattice::to_gauge_field(links);
        small = wilson_loop(field, 1, 1), large = wilson_loop(field, 1, 2), plaquette = lattice::plaquette(links).time;
        if (sweep % 10 == 9) std::printf("sweep %2d: W(1,1) = %.4f, W(1,2) = %.4f\n", static_cast<int>(sweep) + 1, small, large);
    }
    return small > large && large > 0 && small - plaquette < 1e-12 && plaquette - small < 1e-12 ? 0 : 1;
}
