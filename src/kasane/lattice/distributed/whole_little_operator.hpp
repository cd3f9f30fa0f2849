// The little Dirac operator of the whole lattice on every worker: each makes the rows of its own blocks and receives those of the others.
// Every worker then solves the little system as one device does, without a message, after its right-hand side was collected. Devices take
// it, because a sum over all of them takes longer than a product with the little operator (docs/lattice-deflation.md, "On several
// workers"). Invariants: all workers make the same calls in the same order; the matrices are those of one device to rounding, and the same
// bits on every worker. Declarations only: whole_little_operator.kernels.cpp defines them, once per Space.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/lattice/distributed/distributed_little_operator.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>

namespace kasane::lattice {

/// Sizes and addresses of vectors of the whole lattice's little system. @param local  those of a local lattice
BlockLayout whole_layout(const RankGrid& grid, const BlockLayout& local);

template <Space S, class T>
class WholeLittleOperator : public LittleOperator<S, T> {
   public:
    /// Collective. Takes the memory. @param local  of the local lattice's blocks   @param exchange, worker  must outlive it
    WholeLittleOperator(S on, const BlockLayout& local, HaloExchange<S>& exchange, comm::Worker& worker, const RankGrid& grid);

    /// Does the same as DistributedLittleOperator::assemble(). Collective.
    void assemble(const BlockVectors<S, T>& basis, const LittleLinks<S>& links, const CloverTerm<S>* A, const DiracParameters& parameters);
    /// Collective. all = the coefficients of all workers' blocks. @param own  those of the local lattice's blocks
    void collect(const LittleVector<S, T>& own, LittleVector<S, T>& all) const;
    /// own = those of the local lattice's blocks.
    void select(const LittleVector<S, T>& all, LittleVector<S, T>& own) const;

   private:
    /// all = numbers of the blocks of all workers, `words` of each. @param received  memory for those of one worker
    void collect(const T* own, index_t words, Buffer<T, S>& received, T* all) const;

    S on_;
    BlockLayout local_;
    HaloExchange<S>& exchange_;
    comm::Worker& worker_;
    RankGrid grid_;
    mutable comm::Channel<S> channel_;
    mutable Buffer<T, S> received_;  ///< coefficients of another worker's blocks
};

}  // namespace kasane::lattice
