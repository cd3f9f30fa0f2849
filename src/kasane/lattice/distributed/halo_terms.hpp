// The terms of a hop whose neighbours belong to other workers: half spinors are packed before the messages, and added after them.
// Between the two, the local lattice's own hop runs with links that leave the local lattice set to zero, so that it has all other terms.
//   first slice, sent backward:  (1 - s g) psi(x + mu), which the receiver multiplies by its U(x)
//   last slice, sent forward:    U(y)^+ (1 + s g) psi(y), which the receiver adds as it is
// So a worker needs no links of another one; a boundary sign is part of the stored links.
// Adding needs A^-1 of the sites beside faces alone, whose Cholesky factors are stored: to factorise A in every hop took as long as all
// the rest of the addition (CPU, 16^3 x 8, 2026-11).
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>
#include <kasane/lattice/distributed/halo_layout.hpp>
#include <kasane/lattice/solve/fields.hpp>

namespace kasane::lattice {

/// Numbers in registers, as those of FieldSites.
template <Space S, Precision P>
struct HaloReal {
    using type = double;
};
#if defined(KASANE_CUDA)
template <Precision P>
struct HaloReal<Cuda, P> {
    using type = device::Real<P>;
};
#endif

template <Space S, Precision P>
class HaloTerms {
   public:
    using Real = typename HaloReal<S, P>::type;

    /// @param links  all of the local lattice   @param A  null: 1
    /// @param signs  factor of the links that leave the local lattice forward, per direction: -1 across an antiperiodic boundary
    HaloTerms(std::shared_ptr<const Lattice<S>> lattice, const HaloLayout& layout, const Links<S>& links, const CloverTerm<S>* A,
              const double (&signs)[4]);

    /// Replaces links and clover term by those of another field; does not wait. @param A  null exactly where it was null before
    void take(const Links<S>& links, const CloverTerm<S>* A);

    /// The half spinors of all faces for the hop from `in`, of this parity, into the memory of a HaloExchange.
    void pack(Parity from, bool adjoint, const Field<S, P>& in, std::byte* sent) const;
    /// out += c H in, or c A^-1 H in where the form is inverse, of the terms that were received. @param to  parity of out
    void add(HopForm form, Parity to, bool adjoint, double c, const std::byte* received, Field<S, P>& out) const;

    std::uint64_t bytes() const;

   private:
    std::shared_ptr<const Lattice<S>> lattice_;
    HaloLayout layout_;
    double signs_[4];
    Buffer<Real, S> links_[2], factors_[2];  ///< links of the last slices; factors of A at the places beside faces; of each parity
    // Tables, since the divisions for a site's number and place take longer than the rest.
    Buffer<std::int32_t, S> sent_[2];      ///< places of the sites of all faces
    Buffer<std::int32_t, S> places_[2];    ///< places beside faces, with the copies of sites that a field has
    Buffer<std::int32_t, S> received_[2];  ///< numbers of their half spinors in each face, -1: none
    Buffer<index_t, S> beside_[2];         ///< checkerboard numbers of the sites beside faces; empty without clover term
};

/// Sets the links to zero that leave the local lattice toward another worker.
template <Space S>
void remove_leaving_links(const HaloLayout& layout, Links<S>& links);

/// The part of a clover term that belongs to the local lattice. @param extended  of the local lattice with one more site on both sides of
/// each direction that has faces
template <Space S>
CloverTerm<S> without_halo(const CloverTerm<S>& extended, const HaloLayout& layout);

}  // namespace kasane::lattice
