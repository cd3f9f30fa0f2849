#include <kasane/gravity/direct/circulant.hpp>

#include <algorithm>

namespace kasane::gravity {

std::vector<CirculantRow> circulant_rows(int blocks, int begin, int end, int other_begin, int other_end) {
    std::vector<CirculantRow> rows;
    for (int block = begin; block < end; ++block) {
        const int reach = circulant_reach(block, blocks);
        // The others as distances, before and behind the end of the circle: [other - block] and [other - block + blocks].
        for (const int turn : {0, blocks}) {
            const int first = std::max(0, other_begin - block + turn), last = std::min(reach, other_end - 1 - block + turn);
            if (first <= last) rows.push_back({block, first, last - first + 1});
        }
    }
    return rows;
}

}  // namespace kasane::gravity
