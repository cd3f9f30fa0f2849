// The work of the kernel `pair` between two pieces, as the warps of the device walk through it: meetings of blocks in rows, every
// meeting cut into quanta, all quanta in one list, the coarse ones first. Invariants: a quantum is the same tiles of the same two blocks
// whatever the pieces, the members, the warps; the warps of a call go through all its quanta, each once.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <vector>

namespace kasane::gravity::detail {

/// A block meets neighbouring blocks; numbers count from the first block of its own piece and of the other piece.
struct MeetingRow {
    int block, other;
    int count;
    int diagonal;        ///< 1: the first of them is the block itself
    int tiles;           ///< of a quantum
    std::int64_t first;  ///< number of its first quantum in the list
};

/// Quanta [first, first + count) of the list, which a warp goes through from one to the next.
struct WarpShare {
    std::int64_t first, count;
};

/// Rows of all meetings of the blocks of [begin, end) with those of [other_begin, other_end) (circulant.hpp).
std::vector<MeetingRow> meeting_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin, index_t other_end);
/// Quanta in the list, and how many of them are coarse.
struct QuantumCounts {
    std::int64_t all = 0, coarse = 0;
};
QuantumCounts count_quanta(const PairShape& shape, const std::vector<MeetingRow>& rows);
/// Quanta [begin, end) of the list, which differ in their tiles, in shares of as equally many tiles as can be.
std::vector<WarpShare> warp_shares(const PairShape& shape, const std::vector<MeetingRow>& rows, std::int64_t begin, std::int64_t end, int warps);

/// A place in the list.
template <int K>
struct TileWalk {
    const MeetingRow* row = nullptr;
    int block = 0, other = 0;
    int left = 0;  ///< meetings of the row, the present one included
    int tile = 0;  ///< of the other block
    int tiles = 1; ///< of a quantum here
    bool diagonal = false;

    /// To the beginning of a quantum.
    KS_FN void seek(const MeetingRow* rows, int count, std::int64_t quantum) {
        int low = 0;
        while (count - low > 1) {
            const int middle = low + (count - low) / 2;
            if (rows[middle].first <= quantum)
                low = middle;
            else
                count = middle;
        }
        row = rows + low;
        enter();
        const int begin = static_cast<int>(quantum - row->first) * tiles, meeting = begin / K;
        tile = begin % K;
        other += meeting, left -= meeting;
        diagonal = diagonal && meeting == 0;
    }
    KS_FN void next() {
        if (++tile < K) return;
        tile = 0;
        diagonal = false;
        ++other;
        if (--left > 0) return;
        ++row;
        enter();
    }
    /// Of the present tile, among the other piece's particles.
    KS_FN int first_source() const { return (other * K + tile) * 32; }
    KS_FN bool ends_quantum() const { return (tile + 1) % tiles == 0; }

   private:
    KS_FN void enter() {
        const auto here = *row;
        block = here.block, other = here.other, left = here.count, diagonal = here.diagonal != 0, tiles = here.tiles;
    }
};

}  // namespace kasane::gravity::detail
