// Momenta of the links, and the updates of links and momenta. Conventions: hmc/action_term.hpp.
// Invariant: every function works on one link at a time or sums in one order, so results do not depend on the number of threads.
#pragma once

#include <kasane/lattice/links.hpp>

#include <cstdint>

namespace kasane::lattice {

/// P = i sum_a pi_a T_a with standard Gaussian pi_a for every link: a function of (seed, link, trajectory) alone.
template <Space S>
void draw_momenta(Links<S>& p, std::uint64_t seed, std::uint64_t trajectory);

/// -sum tr P^2 = sum_a pi_a^2 / 2 over all links.
template <Space S>
double kinetic_energy(const Links<S>& p);

/// Norms |F| = sqrt(sum_a f_a^2) = sqrt(-2 tr F^2) of the matrices of all links.
struct LinkNorms {
    double sum = 0, largest = 0;
};
template <Space S>
LinkNorms link_norms(const Links<S>& force);

/// u <- exp(step p) u, projected back to SU(3).
template <Space S>
void move_links(Links<S>& u, const Links<S>& p, double step);

/// All matrices 0.
template <Space S>
void set_zero(Links<S>& p);
/// p <- -p
template <Space S>
void reverse(Links<S>& p);
/// p += a force
template <Space S>
void add_links(double a, const Links<S>& force, Links<S>& p);
/// sqrt(sum |a - b|^2) over all links, with Frobenius' norm.
template <Space S>
double distance(const Links<S>& a, const Links<S>& b);
/// to <- from, on the space of both.
template <Space S>
void copy_links(const Links<S>& from, Links<S>& to);

}  // namespace kasane::lattice
