#include <kasane/lattice/gauge/site_tiles.hpp>

namespace kasane::lattice {
namespace {

/// Links that a site loads from beyond the first-level cache, for each thread that has a site; `most` threads could have one. 8: those of
/// the site, of its neighbours in time, and its force. Neighbours in space are shared within a tile, but not beyond its faces, where 3
/// links of a neighbour ahead and 4 of one behind are needed. Along x a face counts eight times, as a line of 128 bytes holds 16 sites of
/// both parities.
double cost(const Extents& n, const int (&tile)[3], int places, int most) {
    double links = 8, idle = static_cast<double>(most) / places;
    for (int mu = 0; mu < 3; ++mu) {
        if (tile[mu] != n[mu]) links += (mu == 0 ? 8 : 1) * 7.0 / tile[mu];
        idle *= static_cast<double>((n[mu] + tile[mu] - 1) / tile[mu] * tile[mu]) / n[mu];
    }
    return links * idle;
}

/// The tiles of at most `most` places of the least cost, with one slice.
SiteTiles least_cost_tiles(const Extents& n, int most) {
    SiteTiles t{n, {2, 1, 1}, {0, 0, 0}, 1};
    double least = 0;
    int tile[3];
    for (tile[0] = 2; tile[0] <= n[0]; tile[0] += 2)
        for (tile[2] = 1; tile[2] <= n[2]; ++tile[2])
            for (tile[1] = 1; tile[1] <= n[1]; ++tile[1]) {
                const index_t places = index_t{tile[0]} * tile[1] * tile[2];
                if (places > most) break;
                const double now = cost(n, tile, static_cast<int>(places), most);
                if (n[0] % tile[0] != 0 || (least > 0 && now >= least)) continue;
                least = now;
                for (int mu = 0; mu < 3; ++mu) t.tile[mu] = tile[mu];
            }
    for (int mu = 0; mu < 3; ++mu) t.grid[mu] = (n[mu] + t.tile[mu] - 1) / t.tile[mu];
    return t;
}

}  // namespace

SiteTiles site_tiles(const Extents& n, int most, int resident) {
    auto t = least_cost_tiles(n, most);
    // A block loads links of the slices before and after its own as well, about as many as those of one.
    double least = 0;
    for (int slices = 1; slices <= n[3]; ++slices) {
        const int blocks = t.tiles() * ((n[3] + slices - 1) / slices);
        const double now = static_cast<double>((blocks + resident - 1) / resident) * (slices + 1);
        if (slices == 1 || now < least) least = now, t.slices = slices;
    }
    return t;
}

SiteTiles colour_tiles(const Extents& n) {
    const auto few = least_cost_tiles(n, fewer_colour_threads), many = least_cost_tiles(n, colour_threads);
    const auto threads = [](const SiteTiles& t) { return t.blocks() * ((t.places() + 31) / 32) * 32; };
    return threads(few) <= threads(many) ? few : many;
}

}  // namespace kasane::lattice
