// The work of the kernel `pair` between two pieces, as the warps of the device walk through it: meetings of blocks in rows, every
// meeting cut into quanta, all quanta in one list, those of more tiles first. Invariants: a quantum is the same tiles of the same two
// blocks whatever the pieces, the members, the warps; the portions of a call make up its part of the list, each quantum once.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <vector>

namespace kasane::gravity::detail {

/// A block meets neighbouring blocks; numbers count from the first block of its own piece and of the other piece.
struct MeetingRow {
    int block, other;
    int count;
    int diagonal;  ///< 1: the first of them is the block itself
    int tiles;     ///< of a quantum
};

/// Neighbouring quanta of the list, which a warp goes through at a time.
struct Portion {
    int row, first;       ///< the first of them: its row, its number in the row
    std::int64_t quanta;  ///< how many
};

/// Rows of all meetings of the blocks of [begin, end) with those of [other_begin, other_end) (circulant.hpp).
std::vector<MeetingRow> meeting_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
                                     index_t other_end);
std::int64_t count_tiles(const PairShape& shape, const std::vector<MeetingRow>& rows);

// Parts of the list are told by their first and last tile; they begin and end with the quantum that ends there or is the next to end.

/// The part in portions for at most so many warps, as equal as whole quanta allow: so few that each has one quantum at least.
std::vector<Portion> even_portions(const PairShape& shape, const std::vector<MeetingRow>& rows, std::int64_t begin, std::int64_t end,
                                   int warps);
/// The part in portions for warps that take the next one when they have finished one, so that they end together: the smaller, the less is
/// left. Not one is empty.
std::vector<Portion> falling_portions(const PairShape& shape, const std::vector<MeetingRow>& rows, std::int64_t begin, std::int64_t end,
                                      int warps);

/// A place in the list.
template <int K>
struct TileWalk {
    const MeetingRow* row;
    int block, other;
    int left;   ///< meetings of the row, the present one included
    int tile;   ///< of the other block
    int tiles;  ///< of a quantum here
    bool diagonal;

    KS_FN TileWalk(const MeetingRow* rows, const Portion& portion) : row(rows + portion.row) {
        enter();
        const int before = portion.first * tiles;
        tile = before % K;
        other += before / K, left -= before / K;
        diagonal = diagonal && before < K;
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
