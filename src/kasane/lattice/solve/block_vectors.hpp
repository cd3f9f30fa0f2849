// Near-null vectors cut into blocks and chiralities: an orthonormal basis of the subspace of inexact deflation [Luscher 2007], the
// prolongation P (coefficients to fields) and the restriction P^+.
// Invariants: P^+ P = 1 after orthonormalise(); a field of one chirality (spins 0, 1 or 2, 3) has coefficients of that chirality alone, so
// that P commutes with gamma_5. Declarations only: block_vectors.kernels.cpp defines them, once per Space.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/lattice/schwarz/block_grid.hpp>
#include <kasane/lattice/solve/fields.hpp>

#include <memory>
#include <vector>

namespace kasane::lattice {

/// Sizes and addresses of a basis; copied into kernels. Vectors are in packs of eight; those beyond `count` are zero.
/// Basis: [parity][block][site of the block's half][12][pack][re, im][8]. Coefficients: [block][chirality][pack][re, im][8].
struct BlockLayout {
    Extents lattice, own, grid;  ///< of the whole lattice, of a block, of the grid of blocks
    int count = 0;               ///< near-null vectors
    int packs = 0;               ///< of eight vectors
    KS_FN index_t blocks() const { return grid.volume(); }
    KS_FN index_t half() const { return own.half(); }                         ///< sites of a parity in a block
    KS_FN index_t site_words() const { return 12 * index_t{16} * packs; }     ///< of a site of the basis
    KS_FN index_t words() const { return blocks() * half() * site_words(); }  ///< of a parity of the basis
    KS_FN index_t coefficients() const { return blocks() * block_words(); }   ///< real numbers of a vector of coefficients
    KS_FN index_t block_words() const { return index_t{32} * packs; }         ///< of which in a block
    KS_FN index_t rows() const { return index_t{16} * packs; }                ///< of the little operator in a block, padding included
    /// Number of a site within the half of its block, and its block.
    KS_FN index_t slot(const Site& site) const {
        Site block{}, local{};
        for (int mu = 0; mu < 4; ++mu) {
            block[mu] = site[mu] / own[mu];
            local[mu] = site[mu] % own[mu];
        }
        return grid.lexicographic(block) * half() + own.checkerboard(local);
    }
    /// The site of a slot: blocks begin on even coordinates, so parities in a block are those of the lattice.
    KS_FN Site site(Parity parity, index_t slot) const {
        const Site block = grid.site(slot / half());
        Site s = own.site(parity, slot % half());
        for (int mu = 0; mu < 4; ++mu) s[mu] += block[mu] * own[mu];
        return s;
    }
};

/// @tparam T  of the stored numbers: float or double
template <Space S, class T>
class BlockVectors {
   public:
    /// Uninitialised vectors. @param block  extents of a block, which divide the lattice
    BlockVectors(std::shared_ptr<const Lattice<S>> lattice, const Extents& block, int count);

    const BlockLayout& layout() const { return layout_; }
    S space() const { return data_[0].space(); }
    const T* data(Parity parity) const { return data_[static_cast<int>(parity)].data(); }
    double bytes() const { return 2. * static_cast<double>(layout_.words()) * sizeof(T); }

    /// Vector k of a parity = field.
    template <Precision P>
    void set(int k, Parity parity, const Field<S, P>& field) {
        set<P>(k, parity, std::vector<const Field<S, P>*>{&field});
    }
    /// Vectors of a parity from `first` on = fields, at most four of them.
    template <Precision P>
    void set(int first, Parity parity, const std::vector<const Field<S, P>*>& fields);
    /// Makes the vectors orthonormal in each block and chirality. Returns the smallest norm that a vector of norm 1 had kept: about 1e-7
    /// (single) or less where vectors are linearly dependent.
    double orthonormalise();
    /// c = P^+ field, of the sites of one parity; added to c where `add`. @param c  [layout().coefficients()]
    template <Precision P>
    void restrict_to(Parity parity, const Field<S, P>& field, bool add, T* c) const;
    /// field = P c on the sites of one parity.
    template <Precision P>
    void prolong(Parity parity, const T* c, Field<S, P>& field) const;

   private:
    BlockLayout layout_;
    std::shared_ptr<const Lattice<S>> lattice_;
    Buffer<T, S> data_[2];
    Buffer<std::uint32_t, S> places_[2];  ///< of each slot, in a field of that parity
    Buffer<std::uint32_t, S> slots_[2];   ///< of each place; places that hold copies have the slot of their site
    Buffer<T, S> kept_;                   ///< [block][chirality] smallest squared norm
};

}  // namespace kasane::lattice
