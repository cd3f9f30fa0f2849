// The matrix of a tensor that couples directions on a box that is divided into slabs: rows of the own cells (tensor_scheme.hpp), which need
// one plane of cells of each neighbour. The planes travel during the product with the couplings of own cells.
// Invariant: the product is that of tensor_matrix(), to rounding.
#pragma once

#include <kasane/sparse/aggregation/rows.hpp>
#include <kasane/sparse/distributed/box_part.hpp>
#include <kasane/sparse/distributed/distributed_algebra.hpp>
#include <kasane/sparse/distributed/plane_exchange.hpp>

#include <cstdint>

namespace kasane::sparse {

template <Space S>
class SlabRows {
   public:
    /// Collective over the workers. @param part  with rows   @param first_channel  number of the first channel of its exchange
    SlabRows(S on, comm::Worker& worker, const BoxPart& part, int first_channel);

    /// The interface of krylov: out = A in, of the own cells.
    void apply(DistributedAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const;
    std::uint64_t bytes() const;

   private:
    S on_;
    Rows<double, S> inner_, outer_;
    Buffer<std::int32_t, S> outer_row_;
    index_t plane_, below_, above_;       ///< cells of a plane, and of the neighbours' planes: 0 where there is none
    mutable Buffer<double, S> received_;  ///< numbers of the plane below, then of the one above
    mutable PlaneExchange<S> exchange_;
};

}  // namespace kasane::sparse
