// Gauge transformations of a field on the host.
#pragma once

#include <kasane/lattice/gauge_field.hpp>

#include <cstdint>
#include <vector>

namespace kasane::lattice {

/// A Haar-distributed SU(3) matrix for every site, lexicographic; a function of (seed, site).
std::vector<Su3<double>> random_gauge_transformation(const Extents& extents, std::uint64_t seed);

/// U_mu(x) -> g(x) U_mu(x) g(x + mu)^+; a quark field becomes g(x) psi(x).   @param g  [volume], lexicographic
GaugeField gauge_transformed(const GaugeField& u, const std::vector<Su3<double>>& g);

}  // namespace kasane::lattice
