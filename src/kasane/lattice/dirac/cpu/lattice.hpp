// Numbering of the sites of a parity on the CPU, so that neighbours are in the same lane: blocks of 16 places, one vector or a few.
// Each lane holds a sub-lattice (directions are halved, those whose halves are even, until 16 lanes are full), so that a
// neighbour is the same lane of another block, and across a sub-lattice's boundary the lane whose number differs by one bit. Lattices
// that cannot be halved often enough fill their lanes with consecutive sites, and find neighbours lane by lane.
// Invariants: the numbering does not depend on the instruction set; places beyond the last site hold copies of it, which stay
// copies under every operation, and which no sum includes.
#pragma once

#include <kasane/lattice/dirac/dirac.hpp>

#include <cstdint>
#include <vector>

namespace kasane::lattice {

/// Positions of the neighbours of a block's 16 places.
struct NeighbourBlock {
    std::int32_t at = 0;        ///< block; or, lane by lane, the first index of its 16 places in lane_places()
    std::uint16_t crosses = 0;  ///< bit l: lane l's step goes around the lattice
    std::uint8_t exchange = 0;  ///< lane l's neighbour is in lane l xor this
    bool lane_by_lane = false;
};

template <>
class Lattice<Cpu> {
   public:
    static constexpr int lanes = 16;

    /// @throws InputError for invalid extents
    Lattice(Cpu on, const Extents& extents);

    const Extents& extents() const { return extents_; }
    Cpu space() const { return on_; }
    index_t sites() const { return extents_.half(); }  ///< of one parity
    index_t blocks() const { return blocks_; }         ///< of one parity
    index_t places() const { return blocks_ * lanes; }

    Site site(Parity parity, index_t place) const;
    index_t place(const Site& site) const;
    /// Whether the place holds a site; otherwise a copy of one.
    bool counts(index_t place) const;

    /// [block][2 mu + (backward)] around the sites of this parity; neighbours are places of the other.
    const NeighbourBlock* neighbours(Parity parity) const { return neighbours_[static_cast<int>(parity)].data(); }
    const std::int32_t* lane_places(Parity parity) const { return lane_places_[static_cast<int>(parity)].data(); }

   private:
    void find_neighbours(Parity parity);

    Cpu on_;
    Extents extents_, part_;       ///< of the lattice, of the sub-lattice of one lane
    int split_[4] = {0, 0, 0, 0};  ///< the bit of a lane's number that selects the half, or 0
    int together_ = 1;             ///< consecutive sites of a sub-lattice in a block
    index_t blocks_ = 0;
    std::vector<NeighbourBlock> neighbours_[2];
    std::vector<std::int32_t> lane_places_[2];
};

}  // namespace kasane::lattice
