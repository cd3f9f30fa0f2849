// Energy density and topological charge of one site, host and device.
#pragma once

#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/field_strength.body.hpp>

#include <numbers>

namespace kasane::lattice {

/// {E, q} of a site, the part of one k. With E_k = F_k4 and B_k = F_ij (ijk cyclic), both anti-Hermitian and without trace,
///   E = -sum_k tr(E_k E_k + B_k B_k),   q = -sum_mnrs eps_mnrs tr F_mn F_rs / (32 pi^2) = -8 sum_k tr(B_k E_k) / (32 pi^2).
struct SiteField {
    LinksView u;
    KS_FN Terms<2> operator()(const SitePlace& x, int k) const {
        auto [b, e] = magnetic_electric(u, x, k);
        b.remove_trace();
        e.remove_trace();
        return {{minus_trace(e, e) + minus_trace(b, b), minus_trace(b, e) / (4 * std::numbers::pi * std::numbers::pi)}};
    }
};

}  // namespace kasane::lattice
