#include <kasane/lattice/dirac/cuda/tiling.hpp>

#include <bit>
#include <vector>

namespace kasane::lattice::device {
namespace {

/// Neighbours that a site of a tile does not share with another site of it, on average: 2 of a direction for each of its layers, none where
/// the tile goes around the lattice. Along x the two halves of a 32-byte sector belong to different tiles there, so these count twice.
double surface(const Extents& extents, const Extents& tile) {
    double sum = 0;
    for (int mu = 0; mu < 4; ++mu)
        if (tile[mu] != extents[mu]) sum += (mu == 0 ? 4.0 : 2.0) / tile[mu];
    return sum;
}

Extents best_tile(const Extents& extents, int most) {
    Extents best{{2, 2, 2, 2}}, tile;
    const auto candidates = [&](int mu, auto&& next) {
        for (int b = 2; b <= extents[mu]; b += 2)
            if (extents[mu] % b == 0) {
                tile.n[mu] = b;
                next();
            }
    };
    candidates(3, [&] {
        candidates(2, [&] {
            candidates(1, [&] {
                candidates(0, [&] {
                    if (tile.half() <= most && surface(extents, tile) < surface(extents, best)) best = tile;
                });
            });
        });
    });
    return best;
}

}  // namespace

Tiling tiling(const Extents& extents, int most) {
    Tiling made;
    Tiles& t = made.tiles;
    t.extents = extents;
    t.tile = best_tile(extents, most);
    for (int mu = 0; mu < 4; ++mu) t.grid.n[mu] = extents[mu] / t.tile[mu];
    t.per_tile = static_cast<std::uint32_t>(t.tile.half());
    // i / d for i < 2^31: with l = ceil(log2 d), the multiplier ceil(2^(31 + l) / d) has 32 bits and the error stays below 1 / d.
    const int l = std::bit_width(t.per_tile - 1);
    t.magic = static_cast<std::uint32_t>(((std::uint64_t{1} << (31 + l)) + t.per_tile - 1) / t.per_tile);
    t.shift = l - 1;

    for (const Parity parity : {Parity::even, Parity::odd})
        for (index_t i = 0; i < t.tile.half(); ++i) {
            const Site s = t.tile.site(parity, i);
            LaneEntry entry{};
            for (int d = 0; d < directions; ++d) {
                const int mu = d / 2, step = d % 2 == 0 ? 1 : -1;
                const bool leaves = s[mu] + step < 0 || s[mu] + step >= t.tile[mu];
                entry.neighbour[d] = static_cast<std::uint16_t>(static_cast<unsigned>(t.tile.checkerboard(t.tile.shifted(s, mu, step))) |
                                                                (leaves ? leaves_tile : 0u));
            }
            made.lanes.push_back(entry);
        }
    for (index_t i = 0; i < t.grid.volume(); ++i) {
        const Site s = t.grid.site(i);
        TileEntry entry{};
        for (int d = 0; d < directions; ++d) {
            const int mu = d / 2, step = d % 2 == 0 ? 1 : -1;
            const bool crosses = mu == 3 && (s[3] + step < 0 || s[3] + step >= t.grid[3]);
            entry.neighbour[d] =
                static_cast<std::uint32_t>(t.grid.lexicographic(t.grid.shifted(s, mu, step))) | (crosses ? crosses_boundary : 0u);
        }
        made.neighbours.push_back(entry);
    }
    return made;
}

}  // namespace kasane::lattice::device
