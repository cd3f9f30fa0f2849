// Gauge fields to begin with. Random ones are functions of (seed, link) alone.
#pragma once

#include <kasane/lattice/links.hpp>

#include <cstdint>

namespace kasane::lattice {

/// All links 1.
template <Space S>
void cold_start(Links<S>& u);
/// Haar-distributed links.
template <Space S>
void hot_start(Links<S>& u, std::uint64_t seed);
/// U = exp(i epsilon P), P = sum_a g_a lambda_a / 2 with standard Gaussian g_a.                                    [Ish09, slide 26]
template <Space S>
void weak_start(Links<S>& u, double epsilon, std::uint64_t seed);
/// Every link back into SU(3) (su3.hpp).
template <Space S>
void reunitarise(Links<S>& u);

}  // namespace kasane::lattice
