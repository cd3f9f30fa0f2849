#include <kasane/gravity/direct/circulant.hpp>
#include <kasane/gravity/direct/tile_pairs.hpp>

#include <algorithm>
#include <array>

namespace kasane::gravity::detail {
namespace {

int units_of(const PairShape& shape, const TilePairRow& row) { return row.count * (shape.targets_per_lane / row.strips); }

/// Divides the list into chunks, from its beginning to its end.
class Cutter {
   public:
    Cutter(const PairShape& shape, const std::vector<TilePairRow>& rows) : shape_(shape), rows_(rows) {}
    std::int64_t strips() const { return strips_; }
    /// The chunk from the present place to the first end of a work unit at or after strip number `strips`.
    Chunk to(std::int64_t strips) {
        Chunk chunk{row_, unit_, 0};
        while (strips_ < strips) {
            const auto& row = rows_[static_cast<std::size_t>(row_)];
            const std::int64_t wanted = (strips - strips_ + row.strips - 1) / row.strips, here = units_of(shape_, row);
            const auto taken = std::min(wanted, here - unit_);
            chunk.units += taken;
            strips_ += taken * row.strips;
            unit_ += static_cast<int>(taken);
            if (unit_ == here) ++row_, unit_ = 0;
        }
        return chunk;
    }

   private:
    const PairShape& shape_;
    const std::vector<TilePairRow>& rows_;
    int row_ = 0, unit_ = 0;
    std::int64_t strips_ = 0;  ///< strips of the chunks so far
};

}  // namespace

std::vector<TilePairRow> tile_pair_rows(const PairShape& shape, index_t total, index_t begin, index_t end, index_t other_begin,
                                        index_t other_end) {
    const auto number = [&](index_t particles) { return static_cast<int>(shape.tiles(particles)); };
    const int tiles = number(total), first = number(begin), other_first = number(other_begin);
    const auto pairs = circulant_rows(tiles, first, number(end), other_first, number(other_end));
    std::vector<TilePairRow> rows;
    for (std::size_t k = shape.units.size(); k-- > 0;)
        for (const auto& row : pairs) {
            const auto [from, to] = shape.reached(k, row.distance, row.distance + row.count);
            if (from == to) continue;
            rows.push_back(
                {row.tile - first, (row.tile + from) % tiles - other_first, to - from, from == 0 ? 1 : 0, shape.units[k].strips});
        }
    return rows;
}

std::int64_t count_strips(const PairShape& shape, const std::vector<TilePairRow>& rows) {
    std::int64_t pairs = 0;
    for (const auto& row : rows) pairs += row.count;
    return pairs * shape.targets_per_lane;
}

std::vector<Chunk> even_chunks(const PairShape& shape, const std::vector<TilePairRow>& rows, std::int64_t begin, std::int64_t end,
                               int warps) {
    Cutter cutter(shape, rows);
    cutter.to(begin);
    std::vector<Chunk> chunks;
    if (begin == end) return chunks;
    const auto count = std::clamp<std::int64_t>((end - begin) / rows.front().strips, 1, warps);
    for (std::int64_t k = 1; k <= count; ++k) chunks.push_back(cutter.to(begin + (end - begin) * k / count));
    return chunks;
}

std::vector<Chunk> guided_chunks(const PairShape& shape, const std::vector<TilePairRow>& rows, std::int64_t begin, std::int64_t end,
                                 int warps) {
    constexpr int share = 2;  // each round distributes half of the remaining strips over the warps
    Cutter cutter(shape, rows);
    cutter.to(begin);
    std::vector<Chunk> chunks;
    while (cutter.strips() < end) {
        const auto size = std::max<std::int64_t>((end - cutter.strips()) / (share * warps), 1);
        for (int warp = 0; warp < warps && cutter.strips() < end; ++warp) chunks.push_back(cutter.to(cutter.strips() + size));
    }
    return chunks;
}

}  // namespace kasane::gravity::detail
