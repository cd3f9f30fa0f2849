// Grids of workers: usable ones, the chosen one, numbers of workers and sites, refusals.
#include <kasane/core/base/error.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

namespace kasane::lattice {
namespace {

std::string refusal(const std::function<void()>& body) {
    try {
        body();
    } catch (const InputError& error) {
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
}
void expect_words(const std::string& text, const std::vector<std::string>& words) {
    for (const auto& word : words) EXPECT_NE(text.find(word), std::string::npos) << word << " is not in: " << text;
}

/// Pairs of neighbouring sites, counted one by one, of which the second belongs to another worker; sites of both parities.
index_t pairs_between_workers(const RankGrid& grid, int worker) {
    const auto owner = [&](const Site& x) {
        int number = 0;
        for (int mu = 3; mu >= 0; --mu) number = number * grid.shape()[static_cast<std::size_t>(mu)] + x[mu] / grid.local()[mu];
        return number;
    };
    index_t pairs = 0;
    for (index_t i = 0; i < grid.lattice().volume(); ++i) {
        const Site x = grid.lattice().site(i);
        if (owner(x) != worker) continue;
        for (int mu = 0; mu < 4; ++mu)
            for (const int step : {1, -1}) pairs += owner(grid.lattice().shifted(x, mu, step)) != worker;
    }
    return pairs;
}

TEST(RankGrid, EveryUsableGridDividesIntoEvenLocalLattices) {
    for (const Extents n : {Extents{{4, 4, 4, 8}}, Extents{{2, 2, 2, 32}}, Extents{{12, 6, 20, 24}}})
        for (const int workers : {1, 2, 3, 4, 6, 8, 12, 16}) {
            std::set<GridShape> seen;
            index_t before = 0;
            for (const auto& shape : usable_grids(n, workers)) {
                EXPECT_TRUE(seen.insert(shape).second);
                const auto grid = RankGrid::given(n, workers, shape);
                EXPECT_EQ(grid.size(), workers);
                index_t volume = workers;
                for (int mu = 0; mu < 4; ++mu) {
                    EXPECT_EQ(grid.local()[mu] % 2, 0);
                    EXPECT_EQ(grid.local()[mu] * shape[static_cast<std::size_t>(mu)], n[mu]);
                    volume *= grid.local()[mu];
                }
                EXPECT_EQ(volume, n.volume());
                EXPECT_GE(grid.face_sites(), before) << "sorted by the sites of faces";
                before = grid.face_sites();
            }
            // All products, from the definition.
            std::size_t count = 0;
            for (int x = 1; x <= workers; ++x)
                for (int y = 1; y <= workers; ++y)
                    for (int z = 1; z <= workers; ++z)
                        for (int t = 1; t <= workers; ++t)
                            count += x * y * z * t == workers && n[0] % (2 * x) == 0 && n[1] % (2 * y) == 0 && n[2] % (2 * z) == 0 &&
                                     n[3] % (2 * t) == 0;
            EXPECT_EQ(seen.size(), count) << text(n) << " on " << workers;
        }
}

TEST(RankGrid, FaceSitesAreThePairsOfNeighboursOnTwoWorkers) {
    const Extents n{{4, 8, 4, 12}};
    for (const GridShape& shape : {GridShape{1, 1, 1, 1}, {2, 1, 1, 1}, {1, 2, 1, 3}, {2, 4, 2, 1}, {2, 2, 2, 2}}) {
        const auto grid = RankGrid::given(n, shape[0] * shape[1] * shape[2] * shape[3], shape);
        for (int worker = 0; worker < grid.size(); ++worker) EXPECT_EQ(pairs_between_workers(grid, worker), 2 * grid.face_sites());
    }
}

TEST(RankGrid, PlacesNeighboursAndOriginsFitTogether) {
    const auto grid = RankGrid::given({{8, 4, 12, 16}}, 48, {2, 1, 3, 8});
    std::set<index_t> origins;
    for (int worker = 0; worker < grid.size(); ++worker) {
        EXPECT_TRUE(origins.insert(grid.lattice().lexicographic(grid.origin(worker))).second);
        EXPECT_EQ(grid.origin(worker).parity(), Parity::even) << "a site has one parity in both lattices";
        for (int mu = 0; mu < 4; ++mu) {
            const int ahead = grid.neighbour(worker, mu, 1);
            EXPECT_EQ(grid.neighbour(ahead, mu, -1), worker);
            Site place = grid.place(worker);
            place[mu] = (place[mu] + 1) % grid.shape()[static_cast<std::size_t>(mu)];
            const Site there = grid.place(ahead);
            EXPECT_TRUE(std::equal(place.x, place.x + 4, there.x));
        }
    }
    EXPECT_EQ(grid.neighbour(5, 1, 1), 5) << "an undivided direction leads back";
    EXPECT_EQ(grid.text(), "2x1x3x8 workers, each with 4x4x4x2 sites");
}

TEST(RankGrid, ChoosesTheSmallestFaces) {
    const auto shape = [](const Extents& n, int workers) { return RankGrid::chosen(n, workers).shape(); };
    EXPECT_EQ(shape({{8, 8, 8, 8}}, 1), (GridShape{1, 1, 1, 1}));
    EXPECT_EQ(shape({{8, 8, 8, 16}}, 2), (GridShape{1, 1, 1, 2}));
    EXPECT_EQ(shape({{24, 24, 24, 48}}, 16), (GridShape{1, 1, 2, 8})) << "as many sites as {1, 2, 2, 4}, fewer messages";
    EXPECT_EQ(shape({{16, 16, 16, 16}}, 16), (GridShape{1, 1, 4, 4}));
    EXPECT_EQ(shape({{2, 2, 2, 32}}, 16), (GridShape{1, 1, 1, 16})) << "one direction alone can be divided";
    EXPECT_EQ(shape({{32, 2, 2, 2}}, 8), (GridShape{8, 1, 1, 1}));
    EXPECT_EQ(shape({{6, 4, 4, 4}}, 3), (GridShape{3, 1, 1, 1}));
}

TEST(RankGrid, RefusesWithTheUsableOnes) {
    const Extents n{{4, 4, 4, 8}};
    expect_words(refusal([&] { RankGrid::chosen(n, 3); }), {"4x4x4x8", "3 workers", "Usable numbers of workers: 1, 2, 4"});
    expect_words(refusal([&] { RankGrid::chosen(n, 64); }), {"64 workers", "1, 2, 4, 8, 16, 32"});
    expect_words(refusal([&] { RankGrid::given(n, 4, {4, 1, 1, 1}); }), {"[4, 1, 1, 1]", "odd extents", "[1, 1, 1, 4]", "[2, 2, 1, 1]"});
    expect_words(refusal([&] { RankGrid::given(n, 4, {1, 1, 1, 2}); }), {"its product must be 4"});
    expect_words(refusal([&] { RankGrid::given(n, 4, {-2, -2, 1, 1}); }), {"its product must be 4"});
    expect_words(refusal([&] { RankGrid::given(n, 4, {0, 1, 1, 4}); }), {"its product must be 4"});
    expect_words(refusal([&] { RankGrid::given(n, 4, {1 << 30, 1 << 30, 1 << 30, 4}); }), {"its product must be 4"});
    expect_words(refusal([&] { RankGrid::given(n, 5, {1, 1, 1, 5}); }), {"5 workers", "Usable numbers"});
    expect_words(refusal([&] { RankGrid::chosen({{4, 4, 4, 5}}, 1); }), {"must be even"});
    expect_words(refusal([&] { RankGrid::chosen(n, 0); }), {"at least one worker"});
    expect_words(refusal([&] { RankGrid::given({{64, 64, 64, 64}}, 16, {16, 2, 1, 1}); }), {"and", "more"});
}

}  // namespace
}  // namespace kasane::lattice
