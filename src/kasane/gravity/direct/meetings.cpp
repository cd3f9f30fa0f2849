#include <kasane/gravity/direct/circulant.hpp>
#include <kasane/gravity/direct/meetings.hpp>

namespace kasane::gravity::detail {

std::vector<MeetingRow> meeting_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
                                     index_t other_end) {
    const auto number = [&](index_t particles) { return static_cast<int>(shape.blocks(particles)); };
    const int blocks = number(total), first = number(begin), other_first = number(other_begin);
    std::vector<MeetingRow> rows;
    for (const auto& row : circulant_rows(blocks, first, number(end), other_first, number(other_end)))
        rows.push_back({row.block - first, (row.block + row.distance) % blocks - other_first, row.count, row.distance == 0 ? 1 : 0});
    return rows;
}

std::int64_t count_quanta(const PairShape& shape, const std::vector<MeetingRow>& rows) {
    std::int64_t meetings = 0;
    for (const auto& row : rows) meetings += row.count;
    return meetings * shape.quanta_per_meeting();
}

std::vector<WarpStart> warp_starts(const PairShape& shape, const std::vector<MeetingRow>& rows, std::int64_t begin, std::int64_t end,
                                   int warps) {
    std::vector<WarpStart> starts;
    std::int64_t before = 0;  // quanta of the rows before this one
    std::size_t row = 0;
    const auto quanta_of = [&](std::size_t r) { return static_cast<std::int64_t>(rows[r].count) * shape.quanta_per_meeting(); };
    for (int warp = 0; warp < warps; ++warp) {
        const auto first = begin + (end - begin) * warp / warps, last = begin + (end - begin) * (warp + 1) / warps;
        while (row + 1 < rows.size() && before + quanta_of(row) <= first) before += quanta_of(row++);
        starts.push_back({static_cast<int>(row), static_cast<int>(first - before), last - first});
    }
    return starts;
}

}  // namespace kasane::gravity::detail
