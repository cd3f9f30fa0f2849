#include <kasane/gravity/direct/circulant.hpp>
#include <kasane/gravity/direct/meetings.hpp>

#include <algorithm>
#include <array>

namespace kasane::gravity::detail {
namespace {

int quanta_of(const PairShape& shape, const MeetingRow& row) { return row.count * (shape.targets_per_lane / row.tiles); }

/// Goes through the list once, in portions.
class Cutter {
   public:
    Cutter(const PairShape& shape, const std::vector<MeetingRow>& rows) : shape_(shape), rows_(rows) {}
    std::int64_t tiles() const { return tiles_; }
    /// From the present place to the first end of a quantum that leaves `tiles` of the list's tiles behind.
    Portion to(std::int64_t tiles) {
        Portion portion{row_, quantum_, 0};
        while (tiles_ < tiles) {
            const auto& row = rows_[static_cast<std::size_t>(row_)];
            const std::int64_t wanted = (tiles - tiles_ + row.tiles - 1) / row.tiles, here = quanta_of(shape_, row);
            const auto taken = std::min(wanted, here - quantum_);
            portion.quanta += taken;
            tiles_ += taken * row.tiles;
            quantum_ += static_cast<int>(taken);
            if (quantum_ == here) ++row_, quantum_ = 0;
        }
        return portion;
    }

   private:
    const PairShape& shape_;
    const std::vector<MeetingRow>& rows_;
    int row_ = 0, quantum_ = 0;
    std::int64_t tiles_ = 0;  ///< behind
};

}  // namespace

std::vector<MeetingRow> meeting_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
                                     index_t other_end) {
    const auto number = [&](index_t particles) { return static_cast<int>(shape.blocks(particles)); };
    const int blocks = number(total), first = number(begin), other_first = number(other_begin);
    const auto meetings = circulant_rows(blocks, first, number(end), other_first, number(other_end));
    std::vector<MeetingRow> rows;
    for (std::size_t k = shape.quanta.size(); k-- > 0;)
        for (const auto& row : meetings) {
            const auto [from, to] = shape.reached(k, row.distance, row.distance + row.count);
            if (from == to) continue;
            rows.push_back(
                {row.block - first, (row.block + from) % blocks - other_first, to - from, from == 0 ? 1 : 0, shape.quanta[k].tiles});
        }
    return rows;
}

std::int64_t count_tiles(const PairShape& shape, const std::vector<MeetingRow>& rows) {
    std::int64_t meetings = 0;
    for (const auto& row : rows) meetings += row.count;
    return meetings * shape.targets_per_lane;
}

std::vector<Portion> even_portions(const PairShape& shape, const std::vector<MeetingRow>& rows, std::int64_t begin, std::int64_t end,
                                   int warps) {
    Cutter cutter(shape, rows);
    cutter.to(begin);
    std::vector<Portion> portions;
    if (begin == end) return portions;
    const auto count = std::clamp<std::int64_t>((end - begin) / rows.front().tiles, 1, warps);
    for (std::int64_t k = 1; k <= count; ++k) portions.push_back(cutter.to(begin + (end - begin) * k / count));
    return portions;
}

std::vector<Portion> falling_portions(const PairShape& shape, const std::vector<MeetingRow>& rows, std::int64_t begin, std::int64_t end,
                                      int warps) {
    constexpr int share = 2;  // half of what is left goes to all warps
    Cutter cutter(shape, rows);
    cutter.to(begin);
    std::vector<Portion> portions;
    while (cutter.tiles() < end) {
        const auto size = std::max<std::int64_t>((end - cutter.tiles()) / (share * warps), 1);
        for (int warp = 0; warp < warps && cutter.tiles() < end; ++warp) portions.push_back(cutter.to(cutter.tiles() + size));
    }
    return portions;
}

}  // namespace kasane::gravity::detail
