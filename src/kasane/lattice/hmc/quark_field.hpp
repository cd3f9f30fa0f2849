// Operations of hybrid Monte Carlo on quark fields of one parity that the field algebra lacks.
#pragma once

#include <kasane/lattice/solve/fields.hpp>

#include <cstdint>

namespace kasane::lattice {

/// eta with the density exp(-eta^+ eta): real and imaginary parts have variance 1/2. A function of (seed, site, trajectory, term) alone.
/// @param parity  of the sites of eta   @param term  number of the pseudofermion field, from 0 to 2^16 - 1
template <Space S>
void gaussian_field(std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity, Field<S, Precision::double_>& eta);

/// out += i c g5 in
template <Space S>
void add_i_gamma5(double c, const Field<S, Precision::double_>& in, Field<S, Precision::double_>& out);

}  // namespace kasane::lattice
