// Diagonal links whose plaquettes are constant: exact fields with a known topological charge.
#pragma once

#include <kasane/lattice/gauge_field.hpp>

#include <array>
#include <cmath>
#include <numbers>

namespace kasane::lattice {

/// In colour c every plaquette of the plane xy is exp(2 pi i xy[c] / (X Y)), of zt exp(2 pi i zt[c] / (Z T)), all others are 1; the
/// numbers sum to zero. In a plane (first, second): U_second = exp(i angle x_first), and U_first = exp(-i angle N_first x_second) at the
/// boundary, where the flux would not close otherwise. Q = sum_c xy[c] zt[c] in the continuum.                       ['t Hooft 1981]
inline GaugeField constant_flux(const Extents& n, const std::array<int, 3>& xy, const std::array<int, 3>& zt) {
    GaugeField u(n);
    for (index_t i = 0; i < n.volume(); ++i) {
        const Site x = n.site(i);
        for (const int first : {0, 2}) {
            const int second = first + 1;
            const auto& flux = first == 0 ? xy : zt;
            for (int c = 0; c < 3; ++c) {
                const double angle = 2 * std::numbers::pi * flux[static_cast<std::size_t>(c)] / (n[first] * n[second]);
                const double along_second = angle * x[first], along_first = x[first] + 1 == n[first] ? -angle * n[first] * x[second] : 0;
                u.link(i, second).e[c][c] = {std::cos(along_second), std::sin(along_second)};
                u.link(i, first).e[c][c] = {std::cos(along_first), std::sin(along_first)};
            }
        }
    }
    return u;
}

}  // namespace kasane::lattice
