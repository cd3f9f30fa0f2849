#include <kasane/lattice/distributed/links_halo.hpp>

#include <algorithm>

namespace kasane::lattice {
namespace {

using Slice = std::vector<Su3<double>>;

/// Calls body(site, number of its first link in the slice) for the sites with this coordinate along mu.
template <class Body>
void for_slice(const Extents& n, int mu, int coordinate, const Body& body) {
    Extents slice = n;
    slice.n[mu] = 1;
    for (index_t i = 0; i < slice.volume(); ++i) {
        Site x = slice.site(i);
        x[mu] = coordinate;
        body(x, static_cast<std::size_t>(4 * i));
    }
}

Slice slice_of(const GaugeField& u, int mu, int coordinate) {
    Slice slice(u.links.size() / static_cast<std::size_t>(u.extents[mu]));
    for_slice(u.extents, mu, coordinate, [&](const Site& x, std::size_t first) { std::copy_n(&u.link(x, 0), 4, &slice[first]); });
    return slice;
}

void set_slice(GaugeField& u, int mu, int coordinate, const Slice& slice) {
    for_slice(u.extents, mu, coordinate,
              [&](const Site& x, std::size_t first) { std::copy_n(&slice[first], 4, &u.link(u.extents.lexicographic(x), 0)); });
}

View<std::byte> bytes_of(Slice& slice) {
    return {reinterpret_cast<std::byte*>(slice.data()), static_cast<index_t>(slice.size() * sizeof(Su3<double>))};
}

}  // namespace

GaugeField with_halo(comm::Worker& worker, comm::Channel<Cpu>& channel, const RankGrid& grid, const GaugeField& local) {
    GaugeField now = local;
    for (int mu = 0; mu < 4; ++mu) {
        if (!grid.divided(mu)) continue;
        const int last = now.extents[mu] - 1;
        const int back = grid.neighbour(worker.index(), mu, -1), ahead = grid.neighbour(worker.index(), mu, 1);
        auto first_here = slice_of(now, mu, 0), last_here = slice_of(now, mu, last);
        Slice first_ahead(first_here.size()), last_behind(first_here.size());
        channel.start({}, bytes_of(first_here), back, bytes_of(first_ahead), ahead);
        channel.finish({});
        channel.start({}, bytes_of(last_here), ahead, bytes_of(last_behind), back);
        channel.finish({});
        Extents grown = now.extents;
        grown.n[mu] += 2;
        GaugeField next(grown);
        for (int c = 0; c <= last; ++c) set_slice(next, mu, c + 1, slice_of(now, mu, c));
        set_slice(next, mu, 0, last_behind);
        set_slice(next, mu, last + 2, first_ahead);
        now = std::move(next);
    }
    return now;
}

}  // namespace kasane::lattice
