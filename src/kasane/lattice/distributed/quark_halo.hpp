// Parts of hybrid Monte Carlo with quarks that depend on the whole lattice or on other workers, besides the hop: random numbers of
// pseudofermion fields, and the force of the links that leave a local lattice.
#pragma once

#include <kasane/lattice/distributed/halo_layout.hpp>
#include <kasane/lattice/distributed/local_sites.hpp>
#include <kasane/lattice/links.hpp>
#include <kasane/lattice/solve/fields.hpp>

#include <cstddef>
#include <cstdint>

namespace kasane::lattice {

/// Does the same as gaussian_field() (hmc/quark_field.hpp) for the whole lattice. @param eta  of the local lattice
template <Space S>
void gaussian_field(const LocalSites& sites, std::uint64_t seed, std::uint64_t trajectory, int term, Parity parity,
                    Field<S, Precision::double_>& eta);

/// The two terms of the force of the hop (hmc/hop_force.kernels.cpp), M_1 - M_2.
enum class HopForceTerm {
    x_ahead,  ///< M_1, of X(x + mu) and Y(x)
    y_ahead,  ///< M_2, of X(x) and Y(x + mu)
};
/// Adds scale TA(M_1), or -scale TA(M_2), to the force of the links that leave the local lattice from sites of a parity.
/// @param u, force  of the local lattice, with all its links   @param signs  as for HaloTerms   @param own  Y or X of this parity
/// @param halo  of DistributedDirac::halo(): of X, or in the adjoint of Y, of the other parity
template <Space S>
void add_face_force(const HaloLayout& layout, const Links<S>& u, HopForceTerm term, Parity parity, double scale, const double (&signs)[4],
                    const Field<S, Precision::double_>& own, const std::byte* halo, Links<S>& force);

}  // namespace kasane::lattice
