// Initial gauge fields. Random ones are functions of (seed, link) alone.
#pragma once

#include <kasane/core/base/progress.hpp>
#include <kasane/lattice/links.hpp>

#include <cstdint>

namespace kasane::lattice {

/// All links 1.
template <Space S>
void cold_start(Links<S>& u);
/// Haar-distributed links. @param progress  called several times a second; it may throw to stop
template <Space S>
void hot_start(Links<S>& u, std::uint64_t seed, const ProgressFunction& progress = {});
/// The largest epsilon of a weak start: beyond it the links cover the group almost uniformly, and the exponential becomes ever slower.
constexpr double largest_weak_epsilon = 10;
/// U = exp(i epsilon P), P = sum_a g_a lambda_a / 2 with standard Gaussian g_a.                                    [Ish09, slide 26]
/// @param epsilon  above 0 and at most largest_weak_epsilon   @param progress  as in hot_start
template <Space S>
void weak_start(Links<S>& u, double epsilon, std::uint64_t seed, const ProgressFunction& progress = {});
/// Projects every link back to SU(3) (su3.hpp). A link whose first two rows are zero or parallel gets NaN: links_outside_su3() counts them.
template <Space S>
void reunitarise(Links<S>& u);

}  // namespace kasane::lattice
