// The work of the kernel `pair` between two pieces, as the warps of the device walk through it: meetings of blocks in rows, every
// meeting cut into quanta of a fixed number of tiles. Invariants: a quantum is the same tiles of the same two blocks whatever the pieces,
// the members, the warps; the warps of a call go through all quanta, each once.
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
};

/// Where a warp begins, and how many quanta it goes through.
struct WarpStart {
    int row, quantum;  ///< of the row
    std::int64_t quanta;
};

/// Rows of all meetings of the blocks of [begin, end) with those of [other_begin, other_end) (circulant.hpp).
std::vector<MeetingRow> meeting_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
                                     index_t other_end);
std::int64_t count_quanta(const PairShape& shape, const std::vector<MeetingRow>& rows);
/// Quanta [begin, end) of the rows in equal shares.
std::vector<WarpStart> warp_starts(const PairShape& shape, const std::vector<MeetingRow>& rows, std::int64_t begin, std::int64_t end,
                                   int warps);

/// The tiles of quanta one after the other.
template <int K>
struct TileWalk {
    const MeetingRow* row;
    int block, other;
    int left;  ///< meetings of the row, the present one included
    int tile;  ///< of the other block
    bool diagonal;

    KS_FN TileWalk(const MeetingRow* rows, const WarpStart& start, int quantum_tiles) : row(rows + start.row) {
        enter();
        const int tiles = start.quantum * quantum_tiles, meeting = tiles / K;
        tile = tiles % K;
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
    KS_FN bool ends_quantum(int quantum_tiles) const { return (tile + 1) % quantum_tiles == 0; }

   private:
    KS_FN void enter() {
        const auto here = *row;
        block = here.block, other = here.other, left = here.count, diagonal = here.diagonal != 0;
    }
};

}  // namespace kasane::gravity::detail
