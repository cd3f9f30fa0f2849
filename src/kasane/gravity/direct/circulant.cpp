#include <kasane/gravity/direct/circulant.hpp>

#include <algorithm>

namespace kasane::gravity {

std::vector<CirculantRow> circulant_rows(int tiles, int begin, int end, int other_begin, int other_end) {
    std::vector<CirculantRow> rows;
    for (int tile = begin; tile < end; ++tile) {
        const int reach = circulant_reach(tile, tiles);
        // Distances of the other tiles, without and with a wrap around the circle: other - tile and other - tile + tiles.
        for (const int turn : {0, tiles}) {
            const int first = std::max(0, other_begin - tile + turn), last = std::min(reach, other_end - 1 - tile + turn);
            if (first <= last) rows.push_back({tile, first, last - first + 1});
        }
    }
    return rows;
}

}  // namespace kasane::gravity
