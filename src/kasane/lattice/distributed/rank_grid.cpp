#include <kasane/core/base/counted.hpp>
#include <kasane/lattice/distributed/rank_grid.hpp>

#include <kasane/core/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace kasane::lattice {
namespace {

Extents local_extents(const Extents& lattice, const GridShape& shape) {
    Extents local = lattice;
    for (int mu = 0; mu < 4; ++mu) local.n[mu] /= shape[static_cast<std::size_t>(mu)];
    return local;
}

bool divides(const Extents& lattice, int mu, int workers) { return workers >= 1 && lattice[mu] % (2 * workers) == 0; }

index_t sites_of_faces(const Extents& local, const GridShape& shape) {
    index_t sites = 0;
    for (int mu = 0; mu < 4; ++mu)
        if (shape[static_cast<std::size_t>(mu)] > 1) sites += local.volume() / local[mu];  // two faces, half of their sites
    return sites;
}

/// Numbers with a separator between them.
template <class Numbers>
std::string joined(const Numbers& numbers, const char* separator) {
    std::string text;
    for (const auto n : numbers) text += (text.empty() ? "" : separator) + std::to_string(n);
    return text;
}

std::string grid_text(const GridShape& shape) { return "[" + joined(shape, ", ") + "]"; }

/// "[1, 1, 2, 4], [1, 2, 2, 2] and 7 more"
std::string grids_text(const std::vector<GridShape>& grids) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < std::min(most, grids.size()); ++i) text += (i > 0 ? ", " : "") + grid_text(grids[i]);
    if (grids.size() > most) text += fmt::format(" and {} more", grids.size() - most);
    return text;
}

/// Numbers of workers with a usable grid: the largest ones up to `wanted`, and the next one above it.
std::string usable_numbers(const Extents& lattice, int wanted) {
    std::vector<index_t> numbers{1};
    for (int mu = 0; mu < 4; ++mu) {
        std::vector<index_t> next;
        for (int g = 1; g <= lattice[mu] / 2; ++g)
            if (divides(lattice, mu, g))
                for (const auto n : numbers) next.push_back(n * g);
        std::ranges::sort(next);
        next.erase(std::unique(next.begin(), next.end()), next.end());
        numbers = std::move(next);
    }
    constexpr std::ptrdiff_t most = 12;
    const auto above = std::ranges::upper_bound(numbers, index_t{wanted});
    const auto first = above - std::min(most, above - numbers.begin()), last = above == numbers.end() ? above : above + 1;
    return (first == numbers.begin() ? "" : "…, ") + joined(std::vector<index_t>(first, last), ", ");
}

[[noreturn]] void refuse_number(const Extents& lattice, int workers) {
    throw InputError(
        fmt::format("a lattice of {} cannot be divided among {} workers: each must have the same, even extents. Usable numbers "
                    "of workers: {}",
                    text(lattice), workers, usable_numbers(lattice, workers)));
}

}  // namespace

std::vector<GridShape> usable_grids(const Extents& lattice, int workers) {
    std::vector<GridShape> grids;
    for (int x = 1; x <= workers; ++x) {
        if (workers % x != 0 || !divides(lattice, 0, x)) continue;
        for (int y = 1; y <= workers / x; ++y) {
            if (workers / x % y != 0 || !divides(lattice, 1, y)) continue;
            for (int z = 1; z <= workers / x / y; ++z) {
                if (workers / x / y % z != 0 || !divides(lattice, 2, z)) continue;
                const int t = workers / x / y / z;
                if (divides(lattice, 3, t)) grids.push_back({x, y, z, t});
            }
        }
    }
    std::ranges::stable_sort(
        grids, {}, [&](const GridShape& g) { return std::tuple{sites_of_faces(local_extents(lattice, g), g), g[0], g[1], g[2]}; });
    return grids;
}

RankGrid::RankGrid(const Extents& lattice, const GridShape& shape)
    : lattice_(lattice), local_(local_extents(lattice, shape)), shape_(shape) {}

RankGrid RankGrid::chosen(const Extents& lattice, int workers) {
    check_extents(lattice, {"", 0, 0, "the lattice"});
    KS_VALIDATE(workers > 0, fmt::format("a grid needs at least one worker, not {}", workers));
    const auto grids = usable_grids(lattice, workers);
    if (grids.empty()) refuse_number(lattice, workers);
    return {lattice, grids.front()};
}

RankGrid RankGrid::given(const Extents& lattice, int workers, const GridShape& shape) {
    check_extents(lattice, {"", 0, 0, "the lattice"});
    KS_VALIDATE(workers > 0, fmt::format("a grid needs at least one worker, not {}", workers));
    const auto grids = usable_grids(lattice, workers);
    if (std::ranges::find(grids, shape) != grids.end()) return {lattice, shape};
    if (grids.empty()) refuse_number(lattice, workers);
    index_t product = 1;
    bool counts = true;
    for (const int g : shape) {
        counts = counts && g >= 1 && g <= workers;
        product *= counts ? g : 0;
    }
    const auto reason = counts && product == workers
                            ? fmt::format("would leave odd extents or a remainder on a lattice of {}", kasane::lattice::text(lattice))
                            : fmt::format("is not a grid of {}: its product must be {}", counted(workers, "worker"), workers);
    throw InputError(
        fmt::format("the grid {} {}. Usable grids, the smallest faces first: {}", grid_text(shape), reason, grids_text(grids)));
}

int RankGrid::size() const { return shape_[0] * shape_[1] * shape_[2] * shape_[3]; }

Site RankGrid::place(int worker) const {
    Site place{};
    for (int mu = 0; mu < 4; ++mu) {
        const int along = shape_[static_cast<std::size_t>(mu)];
        place[mu] = worker % along;
        worker /= along;
    }
    return place;
}

int RankGrid::neighbour(int worker, int mu, int step) const {
    int stride = 1;
    for (int nu = 0; nu < mu; ++nu) stride *= shape_[static_cast<std::size_t>(nu)];
    const int along = shape_[static_cast<std::size_t>(mu)], here = place(worker)[mu];
    return worker + ((here + step + along) % along - here) * stride;
}

Site RankGrid::origin(int worker) const {
    Site site = place(worker);
    for (int mu = 0; mu < 4; ++mu) site[mu] *= local_[mu];
    return site;
}

index_t RankGrid::face_sites() const { return sites_of_faces(local_, shape_); }

Extents RankGrid::bordered(int width) const {
    Extents all = local_;
    for (int mu = 0; mu < 4; ++mu)
        if (divided(mu)) all.n[mu] += 2 * width;
    return all;
}

std::string RankGrid::text() const {
    return fmt::format("{} workers, each with {} sites", joined(shape_, "x"), kasane::lattice::text(local_));
}

}  // namespace kasane::lattice
