// The Wilson flow of one link, host and device, and its integration over any lattice: dV/dt = Z(V) V with Z = -(the traceless
// anti-Hermitian part of V times its staples). Luscher's Runge-Kutta steps in the form with one extra field K, since 17/36 Z_0 = 17/9 (Z_0
// / 4):
//   K = Z_0 / 4, V = exp(K) V;   K = 8/9 Z_1 - 17/9 K, V = exp(K) V;   K = 3/4 Z_2 - K, V = exp(K) V.       [Luscher 2010, app. C]
#pragma once

#include <kasane/lattice/gauge/link_paths.body.hpp>
#include <kasane/lattice/observe/field.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <cmath>

namespace kasane::lattice {

/// K <- force Z(u) + memory K, link by link; K is not read where memory is 0.
struct AccumulateFlow {
    LinksView u, k;
    double force, memory;
    KS_FN void operator()(const SitePlace& x, int mu) const {
        const auto paths = path_sum(u, x, mu);  // before the link, which would need registers meanwhile
        auto z = traceless_antihermitian(times_adjoint(completed(load_rows(u, x.parity, x.place, mu)), paths));
        z *= -force;
        if (memory != 0) {
            auto before = k.load(x.parity, x.place, mu);
            z += before *= memory;
        }
        k.store(x.parity, x.place, mu, z);
    }
};

/// @throws InputError as wilson_flow()
void check_flow(double t_max, double step, int every);

/// The points of wilson_flow().
/// @param stage    stage(force, memory): K <- force Z(u) + memory K, u <- exp(K) u, on all links
/// @param energy   energy(): E and Q of u   @param mean  mean(): the plaquette of u
template <class Stage, class Energy, class Mean>
std::vector<FlowPoint> flow_points(double t_max, double step, int every, const Stage& stage, const Energy& energy, const Mean& mean,
                                   const std::function<bool()>& stop = {}) {
    check_flow(t_max, step, every);
    const auto measured = [&](double t) -> FlowPoint {
        const EnergyAndCharge of = energy();
        // 2 Re tr(1 - U) over six planes: 36 (1 - mean of Re tr U / 3)
        return {t, t * t * of.energy, t * t * 36 * (1 - mean()), of.charge};
    };
    auto steps = std::llround(t_max / step);
    if (std::abs(static_cast<double>(steps) * step - t_max) > 1e-9 * t_max) {
        steps = static_cast<long long>(std::ceil(t_max / step));
        step = t_max / static_cast<double>(steps);
    }
    std::vector<FlowPoint> points{measured(0)};
    for (long long i = 1; i <= steps && !(stop && stop()); ++i) {
        stage(1. / 4 * step, 0.);
        stage(8. / 9 * step, -17. / 9);
        stage(3. / 4 * step, -1.);
        if (i % every == 0 || i == steps) points.push_back(measured(static_cast<double>(i) * step));
    }
    return points;
}

}  // namespace kasane::lattice
