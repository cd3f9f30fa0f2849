// The temporal gauge: U_t = 1 except on the last time slice, whose links hold the part that no gauge transformation removes (Polyakov
// loops).
#pragma once

#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <vector>

namespace kasane::lattice {

struct TemporalGauge {
    GaugeField links;            ///< g(x) U_mu(x) g(x + mu)^+
    std::vector<Su3<double>> g;  ///< [volume], lexicographic; 1 on the first time slice
};

/// g(x, t) = g(x, t - 1) U_t(x, t - 1), made unitary again at every step. Links of t before the last slice are 1 exactly.
TemporalGauge temporal_gauge(const GaugeField& links);

/// g psi of every site, or g^+ psi.   @param g  [volume], lexicographic
SpinorField rotated(const SpinorField& psi, const std::vector<Su3<double>>& g, bool adjoint);

}  // namespace kasane::lattice
