// Halos of links, observables and flow of the workers of one process.
#include <kasane/lattice/gauge/link_colour.hpp>

#include <lattice/distributed/gluonic.hpp>
#include <lattice/lattice_space.hpp>

namespace kasane::lattice {
namespace {

class GluonicOn : public LatticeOnEverySpace {
   protected:
    template <class Body>
    void on_grid(const GridShape& shape, Body body) {
        const auto ranks = comm::alone();
        comm::WorkerCommunicator communicator(*ranks, shape[0] * shape[1] * shape[2] * shape[3]);
        communicator.run([&](comm::Worker& worker) { on_space([&](auto on) { body(on, worker); }); });
    }
};
KS_ON_LATTICE_SPACES(GluonicOn);

/// Every site of the halo, corners included, has the links of the site that it stands for; so also after an exchange of one
/// colour alone, which leaves the others.
TEST_P(GluonicOn, HalosHaveTheLinksOfTheNeighbours) {
    const Extents n{{4, 8, 4, 8}};
    const auto field = test::random_gauge(n, 1), other = test::random_gauge(n, 2);
    for (const int width : {1, 2})
        for (const GridShape& shape : {GridShape{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 1, 1, 4}, {2, 2, 1, 2}, {2, 4, 1, 1}, {2, 2, 2, 2}})
            on_grid(shape, [&](auto on, comm::Worker& worker) {
                const auto grid = RankGrid::given(n, worker.size(), shape);
                LinkHalo halo(on, worker, grid, width);
                const auto& sites = halo.sites();
                const auto expect = [&](const auto& u, const auto& expected) {
                    const auto all = to_gauge_field(u);
                    int wrong = 0;
                    for (index_t i = 0; i < all.extents.volume(); ++i) {
                        Site x = sites.in_lattice(all.extents.site(i));
                        for (int mu = 0; mu < 4; ++mu) x[mu] = (x[mu] + n[mu]) % n[mu];
                        for (int mu = 0; mu < 4; ++mu) wrong += !(all.link(i, mu).e[1][2].im == expected(x, mu).e[1][2].im);
                    }
                    EXPECT_EQ(wrong, 0) << grid.text() << ", width " << width;
                };
                auto u = halo.extended(local_part(grid, worker.index(), field));
                expect(u, [&](const Site& x, int mu) { return field.link(x, mu); });
                EXPECT_EQ(halo.local(u).link(1, 2).e[0][1].re, local_part(grid, worker.index(), field).link(1, 2).e[0][1].re);
                // New links of one colour on all local sites; then their halo.
                constexpr int colour = 2;
                auto mixed = field;
                for (index_t i = 0; i < n.volume(); ++i) {
                    const int mu = direction_of_colour(n.site(i), colour);
                    mixed.link(i, mu) = other.link(i, mu);
                }
                auto v = halo.extended(local_part(grid, worker.index(), mixed));
                auto after = to_gauge_field(v);
                const auto before = to_gauge_field(u);
                for (index_t i = 0; i < after.extents.volume(); ++i) {  // the halo of before
                    const Site x = after.extents.site(i);
                    bool inside = true;
                    for (int mu = 0; mu < 4; ++mu) inside = inside && x[mu] >= sites.width[mu] && x[mu] < sites.width[mu] + sites.local[mu];
                    for (int mu = 0; mu < 4 && !inside; ++mu) after.link(i, mu) = before.link(i, mu);
                }
                v = links_on(on, after);
                halo.exchange_colour(v, colour);
                expect(v, [&](const Site& x, int mu) { return mixed.link(x, mu); });
            });
}

TEST_P(GluonicOn, ObservablesAndFlowAreThoseOfOneDevice) {
    on_space([&](auto on) {
        const GluonicReference one(on, {{4, 8, 4, 8}}), thin(on, {{2, 6, 2, 12}});
        for (const GridShape& shape :
             {GridShape{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 1}, {1, 1, 2, 1}, {1, 1, 1, 2}, {1, 1, 1, 4}, {2, 2, 2, 1}, {2, 2, 2, 2}})
            for (const int width : {1, 2})
                on_grid(shape, [&](auto here, comm::Worker& worker) { expect_gluonic_of_one_device(here, worker, shape, width, one); });
        for (const GridShape& shape : {GridShape{1, 3, 1, 1}, {1, 1, 1, 6}, {1, 3, 1, 2}})
            on_grid(shape, [&](auto here, comm::Worker& worker) { expect_gluonic_of_one_device(here, worker, shape, 1, thin); });
    });
}

}  // namespace
}  // namespace kasane::lattice
