// The circulant order of tile pairs: tile b of B is paired with b, b + 1, …, b + B/2 (mod B). With B even, two tiles at the distance B/2
// form one pair, which the one or the other evaluates alternately. So every tile pair occurs once, and workers have equal work.
#pragma once

#include <kasane/core/base/types.hpp>

#include <vector>

namespace kasane::gravity {

/// Tile pairs of one tile with consecutive tiles of a source block.
struct CirculantRow {
    int tile;      ///< number among all tiles
    int distance;  ///< distance of the first pair; its other tile is (tile + distance) mod B
    int count;     ///< number of pairs
};

/// Largest distance of a pair of `tile`.
KS_FN int circulant_reach(int tile, int tiles) {
    if (tiles % 2 == 1) return tiles / 2;
    const int half = tiles / 2;
    return tile % half % 2 == (tile < half ? 0 : 1) ? half : half - 1;
}

/// All pairs of the tiles [begin, end) with the tiles [other_begin, other_end), row by row; a tile may have two rows.
/// @param tiles  number of all tiles
std::vector<CirculantRow> circulant_rows(int tiles, int begin, int end, int other_begin, int other_end);

}  // namespace kasane::gravity
