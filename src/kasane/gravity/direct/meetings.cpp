#include <kasane/gravity/direct/circulant.hpp>
#include <kasane/gravity/direct/meetings.hpp>

#include <algorithm>

namespace kasane::gravity::detail {
namespace {

std::int64_t quanta_of(const PairShape& shape, const MeetingRow& row) {
    return static_cast<std::int64_t>(row.count) * (shape.targets_per_lane / row.tiles);
}

/// Tiles of the list before quantum `quantum` of the row that holds it, when `before` tiles are before the row.
std::int64_t tiles_before(const MeetingRow& row, std::int64_t before, std::int64_t quantum) { return before + (quantum - row.first) * row.tiles; }

}  // namespace

std::vector<MeetingRow> meeting_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
                                     index_t other_end) {
    const auto number = [&](index_t particles) { return static_cast<int>(shape.blocks(particles)); };
    const int blocks = number(total), first = number(begin), other_first = number(other_begin);
    std::vector<MeetingRow> coarse, fine;
    for (const auto& row : circulant_rows(blocks, first, number(end), other_first, number(other_end))) {
        const int near = std::clamp(shape.fine_reach - row.distance, 0, row.count);
        const auto meets = [&](int distance, int count, int tiles) {
            return MeetingRow{row.block - first, (row.block + distance) % blocks - other_first, count, distance == 0 ? 1 : 0, tiles, 0};
        };
        if (near > 0) fine.push_back(meets(row.distance, near, shape.fine_tiles));
        if (near < row.count) coarse.push_back(meets(row.distance + near, row.count - near, shape.coarse_tiles));
    }
    coarse.insert(coarse.end(), fine.begin(), fine.end());
    std::int64_t quanta = 0;
    for (auto& row : coarse) row.first = quanta, quanta += quanta_of(shape, row);
    return coarse;
}

QuantumCounts count_quanta(const PairShape& shape, const std::vector<MeetingRow>& rows) {
    QuantumCounts counts;
    for (const auto& row : rows) {
        counts.all += quanta_of(shape, row);
        if (row.tiles == shape.coarse_tiles) counts.coarse += quanta_of(shape, row);
    }
    return counts;
}

std::vector<WarpShare> warp_shares(const PairShape& shape, const std::vector<MeetingRow>& rows, std::int64_t begin, std::int64_t end, int warps) {
    // Tiles up to a place in the list, row by row; places are looked for in ascending order.
    std::size_t row = 0;
    std::int64_t before = 0;
    const auto to_quantum = [&](std::int64_t quantum) {
        while (row + 1 < rows.size() && rows[row + 1].first <= quantum) before += quanta_of(shape, rows[row]) * rows[row].tiles, ++row;
        return tiles_before(rows[row], before, quantum);
    };
    if (begin == end) return std::vector<WarpShare>(static_cast<std::size_t>(warps), WarpShare{begin, 0});
    const auto first_tile = to_quantum(begin), tiles = to_quantum(end) - first_tile;
    row = 0, before = 0;
    std::vector<WarpShare> shares;
    std::int64_t next = begin;
    for (int warp = 1; warp <= warps; ++warp) {
        const auto wanted = first_tile + tiles * warp / warps;
        while (row + 1 < rows.size() && before + quanta_of(shape, rows[row]) * rows[row].tiles <= wanted)
            before += quanta_of(shape, rows[row]) * rows[row].tiles, ++row;
        const auto last = warp == warps ? end : std::clamp(rows[row].first + (wanted - before + rows[row].tiles / 2) / rows[row].tiles, next, end);
        shares.push_back({next, last - next});
        next = last;
    }
    return shares;
}

}  // namespace kasane::gravity::detail
