// Operations of hybrid Monte Carlo on quark fields of one parity that the field algebra lacks.
#pragma once

#include <kasane/lattice/dirac/clover_term.hpp>
#include <kasane/lattice/solve/fields.hpp>

#include <cstdint>

namespace kasane::lattice {

/// eta with the density exp(-eta^+ eta): real and imaginary parts have variance 1/2. A function of (seed, site, trajectory, term) alone.
/// @param parity  of the sites of eta   @param term  number of the pseudofermion field, from 0 to 2^16 - 1
template <Space S>
void gaussian_field(std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity, Field<S, Precision::double_>& eta);

/// out += i c g5 in
template <Space S, Precision P>
void add_i_gamma5(double c, const Field<S, P>& in, Field<S, P>& out);

/// v := (A + i mu g5)^-1 v, of the sites of a parity.   @param A  null: 1
template <Space S, Precision P>
void divide_by_twisted(const CloverTerm<S>* A, Parity parity, double mu, Field<S, P>& v);

/// Sum over the sites of a parity of log |det(A + i mu g5)|. @throws ComputationError where A^2 + mu^2 is not positive definite
template <Space S>
double twisted_log_determinant(const CloverTerm<S>& A, Parity parity, double mu);

}  // namespace kasane::lattice
