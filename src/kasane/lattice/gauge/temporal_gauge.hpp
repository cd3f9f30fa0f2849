// Temporal gauge: the transformation after which U_t = 1 but on the last time slice, where it is the Polyakov loop's matrix. Operators then
// need not read those links; solutions are those of the untouched field, transformed.
// Invariant: U^g_mu(x) = g(x) U_mu(x) g(x + mu)^+ and psi^g(x) = g(x) psi(x), so that D[U^g] psi^g = (D[U] psi)^g; g = 1 on slice 0.
#pragma once

#include <kasane/lattice/gauge_field.hpp>
#include <kasane/lattice/spinor_field.hpp>

#include <vector>

namespace kasane::lattice {

/// One SU(3) matrix per site, in lexicographic order.
using GaugeTransformation = std::vector<Su3<double>>;

struct TemporalGauge {
    GaugeField links;  ///< U^g, its U_t exactly 1 but on the last slice
    GaugeTransformation g;
};
TemporalGauge temporal_gauge(const GaugeField& links);

/// psi := g psi; g^+ psi where `back`.
void transform(const GaugeTransformation& g, SpinorField& psi, bool back = false);

}  // namespace kasane::lattice
