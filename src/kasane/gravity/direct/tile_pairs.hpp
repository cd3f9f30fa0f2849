// The work of the kernel `pair` between two source blocks, as the warps of the device walk through it: tile pairs of blocks in rows, every
// tile pair divided into work units, all of them in one list, those of more tiles first. Invariants: a work unit is the same tiles of the
// same two blocks whatever the source blocks, the workers, the warps; the chunks of a call make up its part of the list, each work unit
// once.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/gravity/direct/schedule.hpp>

#include <vector>

namespace kasane::gravity::detail {

/// A block meets neighbouring blocks; numbers count from the first block of its own source block and of the other source block.
struct TilePairRow {
    int block, other;
    int count;
    int diagonal;  ///< 1: the first of them is the block itself
    int tiles;     ///< of a work unit
};

/// Neighbouring work units of the list, which a warp goes through at a time.
struct Chunk {
    int row, first;      ///< the first of them: its row, its number in the row
    std::int64_t units;  ///< how many
};

/// Rows of all tile pairs of the blocks of [begin, end) with those of [other_begin, other_end) (circulant.hpp).
std::vector<TilePairRow> tile_pair_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
                                        index_t other_end);
std::int64_t count_tiles(const PairShape& shape, const std::vector<TilePairRow>& rows);

// Parts of the list are given by their first and last tile; they begin and end with the work unit that ends there or is the next to end.

/// The part in chunks for at most so many warps, as equal as whole work units allow: so few that each has one work unit at least.
std::vector<Chunk> even_chunks(const PairShape& shape, const std::vector<TilePairRow>& rows, std::int64_t begin, std::int64_t end,
                               int warps);
/// The part in chunks for warps that take the next one when they have finished one, so that they end together: the smaller, the less is
/// left. Not one is empty.
std::vector<Chunk> guided_chunks(const PairShape& shape, const std::vector<TilePairRow>& rows, std::int64_t begin, std::int64_t end,
                                 int warps);

/// A place in the list.
template <int K>
struct TileWalk {
    const TilePairRow* row;
    int block, other;
    int left;   ///< tile pairs of the row, the present one included
    int tile;   ///< of the other block
    int tiles;  ///< of a work unit here
    bool diagonal;

    KS_FN TileWalk(const TilePairRow* rows, const Chunk& chunk) : row(rows + chunk.row) {
        enter();
        const int before = chunk.first * tiles;
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
    /// Of the present tile, among the other source block's particles.
    KS_FN int first_source() const { return (other * K + tile) * 32; }
    KS_FN bool ends_unit() const { return (tile + 1) % tiles == 0; }

   private:
    KS_FN void enter() {
        const auto here = *row;
        block = here.block, other = here.other, left = here.count, diagonal = here.diagonal != 0, tiles = here.tiles;
    }
};

}  // namespace kasane::gravity::detail
