#include <kasane/lattice/distributed/halo_places.hpp>

namespace kasane::lattice {

using namespace device;

namespace {

/// Tiles beside a face perpendicular to mu.
index_t tiles_beside(const Tiles& tiles, int mu) { return tiles.grid.volume() / tiles.grid[mu]; }

/// Number of a tile among those with its coordinate along mu.
index_t number_beside(const Tiles& tiles, int mu, Site tile) {
    Extents slice = tiles.grid;
    slice.n[mu] = 1;
    tile[mu] = 0;
    return slice.lexicographic(tile);
}

}  // namespace

HaloPlaces halo_places(const Tiling& tiling, const RankGrid& grid, int worker) {
    const auto& tiles = tiling.tiles;
    const Site here = grid.place(worker);
    HaloPlaces made;
    made.neighbours = tiling.neighbours;
    made.first = tiles.extents.half();

    index_t first_tile[directions], count = tiles.grid.volume();
    for (int d = 0; d < directions; ++d) {
        const int mu = d / 2;
        first_tile[d] = count;
        made.receiver[static_cast<std::size_t>(d)] = worker;
        if (!grid.divided(mu)) continue;
        count += tiles_beside(tiles, mu);
        // The neighbour ahead of the receiver sends what it reads forward.
        made.receiver[static_cast<std::size_t>(d)] = grid.neighbour(worker, mu, d % 2 == 0 ? -1 : 1);
    }
    made.end = count * tiles.per_tile;

    for (index_t i = 0; i < tiles.grid.volume(); ++i) {
        const Site tile = tiles.grid.site(i);
        for (int d = 0; d < directions; ++d) {
            const int mu = d / 2;
            const bool ahead = d % 2 == 0;
            if (!grid.divided(mu) || tile[mu] != (ahead ? tiles.grid[mu] - 1 : 0)) continue;
            const bool crosses = mu == 3 && here[3] == (ahead ? grid.shape()[3] - 1 : 0);
            made.neighbours[static_cast<std::size_t>(i)].neighbour[d] =
                static_cast<std::uint32_t>(first_tile[d] + number_beside(tiles, mu, tile)) | (crosses ? crosses_boundary : 0u);
        }
    }
    for (const Parity parity : {Parity::even, Parity::odd})
        for (index_t i = 0; i < tiles.extents.half(); ++i) {
            const auto place = static_cast<std::uint32_t>(i);
            const Site x = tiles.site(parity, place), tile = tiles.grid.site(tiles.tile_of(place));
            for (int d = 0; d < directions; ++d) {
                const int mu = d / 2;
                if (!grid.divided(mu) || x[mu] != (d % 2 == 0 ? 0 : tiles.extents[mu] - 1)) continue;
                const auto in_halo = static_cast<std::uint32_t>(first_tile[d] + number_beside(tiles, mu, tile));
                made.sent[static_cast<int>(parity)][d].push_back({place, in_halo * tiles.per_tile + place % tiles.per_tile});
            }
        }
    return made;
}

}  // namespace kasane::lattice
