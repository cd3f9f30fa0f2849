#include <kasane/lattice/distributed/local_part.hpp>

#include <algorithm>

namespace kasane::lattice {
namespace {

/// Calls body(number in the local lattice, number in the whole one) for each row along x, with the number of its sites.
template <class Body>
void for_rows(const RankGrid& grid, int worker, const Body& body) {
    const Site origin = grid.origin(worker);
    const int row = grid.local()[0];
    for (index_t i = 0; i < grid.local().volume(); i += row) {
        Site x = grid.local().site(i);
        for (int mu = 0; mu < 4; ++mu) x[mu] += origin[mu];
        body(i, grid.lattice().lexicographic(x), row);
    }
}

}  // namespace

GaugeField local_part(const RankGrid& grid, int worker, const GaugeField& all) {
    GaugeField part(grid.local());
    for_rows(grid, worker, [&](index_t to, index_t from, int row) { std::copy_n(&all.link(from, 0), 4 * row, &part.link(to, 0)); });
    return part;
}

SpinorField local_part(const RankGrid& grid, int worker, const SpinorField& all) {
    SpinorField part(grid.local());
    for_rows(grid, worker, [&](index_t to, index_t from, int row) {
        std::copy_n(all.values.data() + 12 * from, 12 * row, part.values.data() + 12 * to);
    });
    return part;
}

void set_local_part(const RankGrid& grid, int worker, const SpinorField& part, SpinorField& all) {
    for_rows(grid, worker, [&](index_t from, index_t to, int row) {
        std::copy_n(part.values.data() + 12 * from, 12 * row, all.values.data() + 12 * to);
    });
}

void set_local_part(const RankGrid& grid, int worker, const GaugeField& part, GaugeField& all) {
    for_rows(grid, worker, [&](index_t from, index_t to, int row) { std::copy_n(&part.link(from, 0), 4 * row, &all.link(to, 0)); });
}

}  // namespace kasane::lattice
