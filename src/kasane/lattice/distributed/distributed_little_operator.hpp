// The little Dirac operator of blocks that belong to the workers of a grid: each has the rows of its own blocks. Couplings to blocks of
// other workers are made from the neighbours' basis on the faces, in the set-up; a product exchanges the coefficients of blocks on faces.
// Invariants: all workers make the same calls in the same order; the matrices are those of one device to rounding.
// Declarations only: distributed_little_operator.kernels.cpp defines them, once per Space.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/lattice/distributed/block_halo.hpp>
#include <kasane/lattice/distributed/halo_exchange.hpp>
#include <kasane/lattice/solve/little_operator.hpp>

namespace kasane::lattice {

/// Links of a local lattice from which the little operator is made.
template <Space S>
struct LittleLinks {
    const Links<S>& own;
    const Links<S>& interior;  ///< those without the ones that leave the local lattice
    double signs[4];           ///< as for HaloTerms
};

template <Space S, class T>
class DistributedLittleOperator {
   public:
    /// Takes the memory. @param layout  of the local lattice's blocks   @param exchange, worker  must outlive it
    DistributedLittleOperator(S on, const BlockLayout& layout, HaloExchange<S>& exchange, comm::Worker& worker);

    /// As LittleOperator::assemble(). @throws ComputationError on every worker where a diagonal block is singular on one
    void assemble(const BlockVectors<S, T>& basis, const LittleLinks<S>& links, const CloverTerm<S>* A, const DiracParameters& parameters);

    const BlockLayout& layout() const { return local_.layout(); }
    /// As LittleOperator's. CPUs alone: devices have a WholeLittleOperator.
    void apply(const LittleVector<S, T>& in, LittleVector<S, T>& out) const
        requires std::same_as<S, Cpu>
    {
        multiply(local_.own(), nullptr, in, out);
    }
    void divide(const LittleVector<S, T>& in, LittleVector<S, T>& out) const { local_.divide(in, out); }
    void apply_divided(const LittleVector<S, T>& in, LittleVector<S, T>& between, LittleVector<S, T>& out) const
        requires std::same_as<S, Cpu>
    {
        divide(in, between);
        multiply(nullptr, in.data.data(), between, out);
    }

    /// The rows of this worker's blocks.
    const LittleOperator<S, T>& local() const { return local_; }
    /// Bytes of this worker.
    double bytes() const { return local_.bytes() + static_cast<double>(sent_.size() + received_.size()) * sizeof(T); }

   private:
    /// out = [added] + [own in] + (the neighbours' couplings) in. @param own, added  may be null
    void multiply(const T* own, const T* added, const LittleVector<S, T>& in, LittleVector<S, T>& out) const
        requires std::same_as<S, Cpu>;
    /// Computes the forward couplings over the faces from the neighbours' basis.
    void couple_forward(const BlockVectors<S, T>& basis, const LittleLinks<S>& links, double kappa);
    /// Computes the backward couplings over the faces from the neighbours' forward couplings.
    void couple_backward();
    /// Sends and receives numbers of each face, from begin[f] to begin[f + 1].
    void exchange(const index_t (&begin)[HaloLayout::most_faces + 1], const Buffer<T, S>& send, Buffer<T, S>& receive) const;

    S on_;
    BlockHalo halo_;
    HaloExchange<S>& exchange_;
    comm::Worker& worker_;
    LittleOperator<S, T> local_;
    mutable Buffer<T, S> sent_, received_;  ///< coefficients of the blocks on faces
};

}  // namespace kasane::lattice
