// Products and preconditioners of a matrix in rows of blocks on a space: block IC(0), and the inverses of the diagonal blocks.
// Invariants: vectors are in the order of elimination of the block rows, the numbers of a block row together; a block row of one colour is
// coupled with none of the same colour; results do not depend on threads.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/block/blocked_rows.hpp>
#include <kasane/sparse/general/sliced_matrix.hpp>

#include <memory>
#include <vector>

namespace kasane::sparse {

/// The matrix and its preconditioner, whatever the size of blocks.
template <Space S>
class BlockFactors {
   public:
    virtual ~BlockFactors() = default;
    /// out = A in
    virtual void multiply(const Buffer<double, S>& in, Buffer<double, S>& out) const = 0;
    /// out = M^-1 in
    virtual void precondition(const Buffer<double, S>& in, Buffer<double, S>& out) const = 0;
    /// Replaces the values and makes the preconditioner. @param values  of block_values()   @param shift  the diagonal is raised by this
    /// part of itself   @return false where a pivot is not positive
    virtual bool set_values(const std::vector<double>& values, double shift) = 0;
    virtual index_t stored_blocks() const = 0;
    virtual std::uint64_t bytes() const = 0;
    /// Bytes that a product and a preconditioner must move, without their vectors.
    virtual double bytes_per_iteration() const = 0;
};

enum class BlockPreconditioner { none, jacobi, ic0 };

/// @param pattern      slices of the pattern of blocks, in the order of elimination   @param color_begin  first block row of each colour,
/// and their number   @param block  2 to 6
template <Space S>
std::unique_ptr<BlockFactors<S>> make_block_factors(S on, const SlicedPattern& pattern, std::vector<index_t> color_begin, int block,
                                                    BlockPreconditioner kind);

/// to[i B + c] = from[row[i] B + c]; with `back` the other way.
template <Space S>
void permute_blocks(S on, View<const std::int32_t> row, int block, bool back, View<const double> from, View<double> to);

}  // namespace kasane::sparse
