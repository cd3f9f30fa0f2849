// Blocks that are solved together: one block on the CPU, where it stays in a thread's cache; all blocks of a colour on a device, in one
// launch. The blocks of a batch are stacked to a lattice of their own, whose links across the faces of blocks are zero, so that the
// operator of the whole lattice is the operator of every block with its Dirichlet boundary.
#pragma once

#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/schwarz/block_fields.hpp>
#include <kasane/lattice/schwarz/block_links.hpp>
#include <kasane/lattice/solve/even_odd.hpp>

#include <algorithm>
#include <utility>

namespace kasane::lattice {

inline index_t places_of(const Lattice<Cpu>& lattice) { return lattice.places(); }
inline Site site_of(const Lattice<Cpu>& lattice, Parity parity, index_t place) { return lattice.site(parity, place); }
inline index_t place_of(const Lattice<Cpu>& lattice, const Site& site) { return lattice.place(site); }
inline bool holds_site(const Lattice<Cpu>& lattice, index_t place) { return lattice.counts(place); }
#if defined(KASANE_CUDA)
inline index_t places_of(const Lattice<Cuda>& lattice) { return lattice.sites(); }
inline Site site_of(const Lattice<Cuda>& lattice, Parity parity, index_t place) {
    return lattice.tiles().site(parity, static_cast<std::uint32_t>(place));
}
inline index_t place_of(const Lattice<Cuda>& lattice, const Site& site) { return lattice.tiles().place(site); }
inline bool holds_site(const Lattice<Cuda>&, index_t) { return true; }
#endif

/// Fields of a batch, kept by each thread.
template <Space S, Precision P>
struct BlockWorkspace {
    Field<S, P> r;     ///< residual on the blocks' even sites
    Field<S, P> odd;   ///< on their odd sites
    Field<S, P> y, q;  ///< solution on even sites; the operator times the residual
    BlockAlgebra<S, P> algebra;
    BlockWorkspace(const std::shared_ptr<const Lattice<S>>& lattice, index_t blocks, const std::vector<std::uint32_t>& places)
        : r(lattice), odd(lattice), y(lattice), q(lattice), algebra(lattice, blocks, places) {}
};

/// Lattices of the fields that blocks read and write: the same, unless blocks read residuals of a border.
template <Space S>
struct BlockLattices {
    const Lattice<S>&residuals, &solutions;
};

/// The even-odd preconditioned operator of some blocks, and their places in the whole lattice. Even and odd are those of the block, which
/// are the other ones of the whole lattice where blocks start on odd sites.
template <Space S, Precision P>
class BlockBatch {
   public:
    /// @param links, A  where residuals are   @param stack  the lattice of the stacked blocks
    BlockBatch(const BlockGrid& grid, const std::vector<index_t>& blocks, const BlockLattices<S>& lattices,
               const std::shared_ptr<const Lattice<S>>& stack, const Links<S>& links, const CloverTerm<S>* A, DiracParameters parameters,
               const LinkStorage& storage)
        : even_(grid.start_parity()), kappa_(parameters.kappa) {
        std::vector<Site> starts;
        for (const index_t block : blocks) starts.push_back(grid.start(block));
        const auto count = static_cast<index_t>(blocks.size());
        const auto here = stacked_blocks(grid, count, starts.data());
        const bool same = &lattices.residuals == &lattices.solutions;
        std::vector<std::uint32_t> table(static_cast<std::size_t>(places_of(*stack))), own(same ? 0 : table.size());
        parallel_for(Cpu{}, places_of(*stack), [&](index_t place) {
            const Site stacked = site_of(*stack, even_, place);
            index_t k = 0;
            const Site local = here.local(stacked, k);
            bool wraps = false;
            const Site site = here.site(stacked, wraps);
            std::uint32_t flags = 0;
            if (grid.owns(blocks[static_cast<std::size_t>(k)], local) && holds_site(*stack, place)) flags |= own_place;
            if (wraps && parameters.boundary == Boundary::antiperiodic) flags |= opposite_place;
            const auto entry = [&](const Lattice<S>& of, const Site& s) { return static_cast<std::uint32_t>(place_of(of, s)) | flags; };
            table[static_cast<std::size_t>(place)] = entry(lattices.residuals, here.stored(site));
            if (same || (flags & own_place) == 0) return;
            Site in_part = site;
            for (int mu = 0; mu < 4; ++mu) in_part[mu] -= grid.base[mu];
            own[static_cast<std::size_t>(place)] = entry(lattices.solutions, in_part);
        });
        const auto space = lattices.solutions.space();
        places_ = to_space(space, table);
        if (!same) own_places_ = to_space(space, own);
        const auto starts_there = to_space(space, starts);
        const auto there = stacked_blocks(grid, count, starts_there.data());
        const auto stacked_links = block_links(links, there);
        std::optional<CloverTerm<S>> clover;
        if (A) clover.emplace(block_clover(*A, space, there));
        if (!grid.spans[3]) parameters.boundary = Boundary::periodic;
        A_.emplace(stack, stacked_links, clover ? &*clover : nullptr, parameters, storage, Schur::symmetric);
    }

    /// x += the blocks' approximate solutions of D x = (A_ee r, 0) in their own regions, by `steps` iterations of minimal residual.
    /// @param r, x  on the even sites of their lattices
    void solve(const Field<S, P>& whole_r, int steps, BlockWorkspace<S, P>& work, Field<S, P>& x) const {
        auto& [r, odd, y, q, algebra] = work;
        const bool starts_even = even_ == Parity::even;
        if (starts_even) {
            gather(whole_r, places_, r);
        } else {  // the block's even sites get kappa A_ee^-1 H_eo of the residual on its odd ones
            gather(whole_r, places_, odd);
            A_->dirac().hop(HopForm::inverse, Parity::even, false, kappa_, odd, nullptr, r);
        }
        for (int step = 0; step < steps; ++step) {
            A_->apply(algebra, r, q);
            algebra.minimal_residual(q, r, y, step == 0);
        }
        if (!starts_even) A_->reconstruct(y, odd);
        add_own(starts_even ? y : odd, own_places_.size() > 0 ? own_places_ : places_, x);
    }

    /// Applications of the operator since the last call, times the sites of a parity.
    double take_work() const { return static_cast<double>(A_->take_applications()) * static_cast<double>(A_->lattice()->extents().half()); }

   private:
    Parity even_;  ///< of the block, of the whole lattice's even sites
    double kappa_;
    Buffer<std::uint32_t, S> places_;      ///< of the even sites among the residuals
    Buffer<std::uint32_t, S> own_places_;  ///< of the own ones among the solutions; empty where these have the same places
    std::optional<EvenOdd<S, P>> A_;
};

}  // namespace kasane::lattice
