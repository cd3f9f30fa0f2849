// The work of the kernel `pair` between two source blocks: rows of tile pairs, divided into work units, in one list that begins with the
// largest work units. Warps take chunks of this list. Invariants: a work unit consists of the same strips of the same two tiles for any
// source blocks, workers and warps; the chunks of a call contain every work unit of its part of the list once.
// Terms (tile, strip, work unit): schedule.hpp.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <vector>

namespace kasane::gravity::detail {

/// Tile pairs of one tile with consecutive other tiles.
struct TilePairRow {
    int tile, other;  ///< numbers of the tiles of the first pair in their source blocks
    int count;        ///< number of pairs
    int diagonal;     ///< 1: the first pair is the tile with itself
    int strips;       ///< strips of a work unit
};

/// Consecutive work units of the list, which one warp executes.
struct Chunk {
    int row, first;      ///< row of the first work unit, and its number in the row
    std::int64_t units;  ///< number of work units
};

/// Rows of all tile pairs of the particles [begin, end) with [other_begin, other_end) out of `total` (circulant.hpp).
std::vector<TilePairRow> tile_pair_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
                                        index_t other_end);
std::int64_t count_strips(const PairShape& shape, const std::vector<TilePairRow>& rows);

// [begin, end) is a part of the list, counted in strips; both ends are rounded up to the end of a work unit.

/// Divides a part into at most `warps` chunks, as equal as whole work units allow, each with at least one work unit.
std::vector<Chunk> even_chunks(const PairShape& shape, const std::vector<TilePairRow>& rows, std::int64_t begin, std::int64_t end,
                               int warps);
/// Divides a part for guided scheduling: a warp that has finished a chunk takes the next one. The chunks become smaller towards the end, so
/// that all warps end together. No chunk is empty.
std::vector<Chunk> guided_chunks(const PairShape& shape, const std::vector<TilePairRow>& rows, std::int64_t begin, std::int64_t end,
                                 int warps);

/// The present strip of a walk through the list.
template <int K>
struct StripWalk {
    const TilePairRow* row;
    int tile, other;
    int left;    ///< remaining tile pairs of the row, with the present one
    int strip;   ///< number of the strip in the other tile
    int strips;  ///< strips of a work unit of this row
    bool diagonal;

    KS_FN StripWalk(const TilePairRow* rows, const Chunk& chunk) : row(rows + chunk.row) {
        enter();
        const int before = chunk.first * strips;
        strip = before % K;
        other += before / K, left -= before / K;
        diagonal = diagonal && before < K;
    }
    KS_FN void next() {
        if (++strip < K) return;
        strip = 0;
        diagonal = false;
        ++other;
        if (--left > 0) return;
        ++row;
        enter();
    }
    /// Number of the strip's first particle in the other source block.
    KS_FN int first_source() const { return (other * K + strip) * 32; }
    KS_FN bool ends_unit() const { return (strip + 1) % strips == 0; }

   private:
    KS_FN void enter() {
        const auto here = *row;
        tile = here.tile, other = here.other, left = here.count, diagonal = here.diagonal != 0, strips = here.strips;
    }
};

}  // namespace kasane::gravity::detail
