// The Wilson flow, once per Space: dV/dt = Z(V) V with Z = -(the traceless anti-Hermitian part of V times its staples).
// Luscher's Runge-Kutta steps in the form with one extra field K, since 17/36 Z_0 = 17/9 (Z_0 / 4):
//   K = Z_0 / 4, V = exp(K) V;   K = 8/9 Z_1 - 17/9 K, V = exp(K) V;   K = 3/4 Z_2 - K, V = exp(K) V.       [Luscher 2010, app. C]
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/lattice/gauge/around_sites.hpp>
#include <kasane/lattice/gauge/exponential_update.body.hpp>
#include <kasane/lattice/observe/field.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <cmath>

namespace kasane::lattice {
namespace {

/// K <- force Z(u) + memory K, link by link; K is not read where memory is 0.
struct Accumulate {
    LinksView u, k;
    double force, memory;
    KS_FN void operator()(const SitePlace& x, int mu) const {
        auto z = traceless_antihermitian(times_adjoint(completed(load_rows(u, x.parity, x.place, mu)), path_sum(u, x, mu)));
        z *= -force;
        if (memory != 0) {
            auto before = k.load(x.parity, x.place, mu);
            z += before *= memory;
        }
        k.store(x.parity, x.place, mu, z);
    }
};

void advance(Links<KS_SPACE>& u, Links<KS_SPACE>& k, double step) {
    const index_t links = 4 * u.extents.volume();
    const double stages[3][2] = {{1. / 4, 0}, {8. / 9, -17. / 9}, {3. / 4, -1}};
    for (const auto& [force, memory] : stages) {
        for_each_around<4>(u.space(), u.extents, Accumulate{u.view(), k.view(), force * step, memory});
        parallel_for_sites(u.space(), links, ExponentialUpdate{u.view(), k.view(), 1});
    }
}

FlowPoint measured(const Links<KS_SPACE>& u, double t) {
    const auto [energy, charge] = energy_and_charge(u);
    // 2 Re tr(1 - U) over six planes: 36 (1 - mean of Re tr U / 3)
    return {t, t * t * energy, t * t * 36 * (1 - plaquette(u).mean()), charge};
}

}  // namespace

template <>
std::vector<FlowPoint> wilson_flow(Links<KS_SPACE>& u, double t_max, double step, int every) {
    KS_VALIDATE(step > 0 && t_max >= 0 && every >= 1 && t_max / step < 1e9,
                "Wilson flow: the step must be positive, t_max not negative and points apart by at least one step");
    const auto steps = std::llround(t_max / step);
    Links<KS_SPACE> k(u.space(), u.extents);
    std::vector<FlowPoint> points{measured(u, 0)};
    for (long long i = 1; i <= steps; ++i) {
        advance(u, k, step);
        if (i % every == 0) points.push_back(measured(u, static_cast<double>(i) * step));
    }
    return points;
}

}  // namespace kasane::lattice
