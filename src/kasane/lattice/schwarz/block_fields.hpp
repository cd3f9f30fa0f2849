// Fields of blocks: copies from and to fields of the whole lattice, and the minimal residual step of every block; copies for messages.
// Declarations only: schwarz/cpu/ and schwarz/cuda/ define them, because each space has its own layout of a field.
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kasane::lattice {

// Entries of a table of places: the place in the whole lattice, of at most 30 bits, and two flags.
inline constexpr std::uint32_t own_place = 1u << 30;       ///< the place belongs to the block's own region
inline constexpr std::uint32_t opposite_place = 1u << 31;  ///< the block's field is the opposite there: antiperiodic time
inline constexpr std::uint32_t place_mask = own_place - 1;

/// block = whole at the places of the table, with their signs.
template <Space S, Precision P>
void gather(const Field<S, P>& whole, const Buffer<std::uint32_t, S>& places, Field<S, P>& block);

/// whole += block at the own places of the table. Calls at the same time are safe where own regions differ.
template <Space S, Precision P>
void add_own(const Field<S, P>& block, const Buffer<std::uint32_t, S>& places, Field<S, P>& whole);

/// Bytes of a spinor in memory.
template <Precision P>
inline constexpr index_t spinor_bytes = P == Precision::double_  ? 192
                                        : P == Precision::single ? 96
                                                                 : 52;

/// Copies the spinors at these places, with their bits, to spinor_bytes for each in the space's memory, in an order of the space.
template <Space S, Precision P>
void pack_spinors(const Field<S, P>& from, const Buffer<std::uint32_t, S>& places, std::byte* memory);
/// Copies them to the places of a field. The places differ.
template <Space S, Precision P>
void unpack_spinors(const std::byte* memory, const Buffer<std::uint32_t, S>& places, Field<S, P>& to);

/// Vector operations on the even sites of stacked blocks, each with scalars of its own. On the CPU a stack has one block.
template <Space S, Precision P>
class BlockAlgebra {
   public:
    /// @param places  of each block's even sites, [block][sites]; empty: one block, all places
    BlockAlgebra(const std::shared_ptr<const Lattice<S>>& lattice, index_t blocks, const std::vector<std::uint32_t>& places);
    ~BlockAlgebra();
    BlockAlgebra(BlockAlgebra&&) noexcept;

    /// One step of minimal residual with the direction r [Saad 2003, algorithm 5.3]: alpha = (q, r) / (q, q) for q = A r, x += alpha r,
    /// r -= alpha q. A block whose q vanishes does not change. @param first  x is not read: it is zero
    void minimal_residual(const Field<S, P>& q, Field<S, P>& r, Field<S, P>& x, bool first);

   private:
    struct Work;
    std::unique_ptr<Work> work_;
};

}  // namespace kasane::lattice
