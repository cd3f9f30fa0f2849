// Energy density and topological charge, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/field_strength.body.hpp>
#include <kasane/lattice/observe/field.hpp>
#include <kasane/lattice/observe/observables.hpp>

#include <numbers>

namespace kasane::lattice {
namespace {

/// {E, q} of a site. With E_k = F_k4 and B_k = F_ij (ijk cyclic), both anti-Hermitian and without trace,
///   E = -sum_k tr(E_k E_k + B_k B_k),   q = -sum_mnrs eps_mnrs tr F_mn F_rs / (32 pi^2) = -8 sum_k tr(B_k E_k) / (32 pi^2).
struct SiteField {
    LinksView u;
    KS_FN Terms<2> operator()(index_t i) const {
        const auto& n = u.extents;
        const Site x = n.site(static_cast<Parity>(i / n.half()), i % n.half());
        Terms<2> sum{};
        for (int k = 0; k < 3; ++k) {
            const auto e = traceless_antihermitian(field_strength(u, x, k, 3));
            const auto b = traceless_antihermitian(field_strength(u, x, (k + 1) % 3, (k + 2) % 3));
            // -tr(X Y) = Re tr(X Y^+) for anti-Hermitian Y
            sum[0] += real_trace_times_adjoint(e, e) + real_trace_times_adjoint(b, b);
            sum[1] += real_trace_times_adjoint(b, e);
        }
        sum[1] /= 4 * std::numbers::pi * std::numbers::pi;
        return sum;
    }
};

}  // namespace

template <>
EnergyAndCharge energy_and_charge(const Links<KS_SPACE>& u) {
    const index_t sites = u.extents.volume();
    const auto of = sum<2>(u.space(), sites, SiteField{u.view()});
    return {of[0] / static_cast<double>(sites), of[1]};
}
template <>
double topological_charge(const Links<KS_SPACE>& u) {
    return energy_and_charge(u).charge;
}
template <>
double energy_density(const Links<KS_SPACE>& u) {
    return energy_and_charge(u).energy;
}

}  // namespace kasane::lattice
