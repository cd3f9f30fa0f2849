// Deposits particles into a pyramid of grids, each half as fine as the one before, then refines and adds the grids from the coarsest on.
// A particle's level follows from the number of its neighbours on the sky; its mass is split between two levels.
// The particles are divided into slices, whose number depends on the number of particles alone. Each slice has its own grids, which are
// added in the order of the slices: the picture does not depend on the number of threads.
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/thread_pool.hpp>
#include <kasane/report/projection.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::report {
namespace {

constexpr int top_level = 5;            // cells of 32 pixels
constexpr int margin = 2 << top_level;  // pixels around the picture, for kernels that reach in from outside
constexpr double neighbours = 32;       // particles under one kernel

struct Grid {
    int columns = 0, rows = 0;
    std::vector<float> cell;
    Grid(int c, int r) : columns(c), rows(r), cell(static_cast<std::size_t>(c) * static_cast<std::size_t>(r)) {}
    std::size_t index(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x);
    }
    float& at(int x, int y) { return cell[index(x, y)]; }
    float at(int x, int y) const { return const_cast<Grid*>(this)->at(x, y); }
    float near(int x, int y) const { return at(std::clamp(x, 0, columns - 1), std::clamp(y, 0, rows - 1)); }
};

int padded(int pixels) {
    const int block = 1 << top_level;
    return (pixels + 2 * margin + block - 1) / block * block;
}

std::vector<Grid> pyramid(int columns, int rows) {
    std::vector<Grid> levels;
    for (int l = 0; l <= top_level; ++l) levels.emplace_back(columns >> l, rows >> l);
    return levels;
}

/// Triangular-shaped cloud: three cells per axis, second-order weights (Hockney & Eastwood 1988, ch. 5). (x, y) in cells.
void deposit(Grid& grid, double x, double y, double amount) {
    const int cx = static_cast<int>(std::floor(x)), cy = static_cast<int>(std::floor(y));
    if (cx < 1 || cy < 1 || cx >= grid.columns - 1 || cy >= grid.rows - 1) return;
    const double dx = x - cx - 0.5, dy = y - cy - 0.5;
    const double wx[] = {(0.5 - dx) * (0.5 - dx) / 2, 0.75 - dx * dx, (0.5 + dx) * (0.5 + dx) / 2};
    const double wy[] = {(0.5 - dy) * (0.5 - dy) / 2, 0.75 - dy * dy, (0.5 + dy) * (0.5 + dy) / 2};
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) grid.at(cx + i - 1, cy + j - 1) += static_cast<float>(amount * wx[i] * wy[j]);
}

/// Adds the coarse density to the twice finer one by Chaikin's rule, whose limit is a quadratic B-spline. Sums are conserved.
void refine(const Grid& coarse, Grid& fine) {
    Grid wide(fine.columns, coarse.rows);
    for (int y = 0; y < coarse.rows; ++y)
        for (int x = 0; x < fine.columns; ++x) {
            const int c = x / 2, side = x % 2 ? c + 1 : c - 1;
            wide.at(x, y) = 0.75F * coarse.at(c, y) + 0.25F * coarse.near(side, y);
        }
    for (int y = 0; y < fine.rows; ++y) {
        const int c = y / 2, side = std::clamp(y % 2 ? c + 1 : c - 1, 0, coarse.rows - 1);
        for (int x = 0; x < fine.columns; ++x) fine.at(x, y) += 0.75F * wide.at(x, c) + 0.25F * wide.at(x, side);
    }
}

struct SkyPoint {
    float x, y;  // padded pixels
    float mass;
};

/// Calls body(row) for all rows of a grid, on all threads.
template <class F>
void for_each_row(int rows, const F& body) {
    constexpr int rows_of_a_part = 16;
    const int parts = (rows + rows_of_a_part - 1) / rows_of_a_part;
    for_each_part(thread_count(Cpu{}), parts, [&](index_t part) {
        const int first = static_cast<int>(part) * rows_of_a_part;
        for (int y = first; y < std::min(first + rows_of_a_part, rows); ++y) body(y);
    });
}

/// The sum of the slices' grids, in the first one.
void add_to_first(std::vector<std::vector<Grid>>& slices, std::size_t level) {
    auto& sum = slices[0][level];
    for_each_row(sum.rows, [&](int y) {
        for (std::size_t s = 1; s < slices.size(); ++s)
            for (int x = 0; x < sum.columns; ++x) sum.at(x, y) += slices[s][level].at(x, y);
    });
}

constexpr index_t least_slice = 1 << 18;  // particles: their deposits take longer than the grids of a slice
constexpr index_t most_slices = 16;

/// The points of a slice that are inside the padded picture.
std::vector<SkyPoint> points_of(const Window& window, Plane plane, View<const Vec3<double>> position, View<const double> mass,
                                View<const std::uint8_t> group, std::uint8_t which, index_t first, index_t end) {
    const int columns = padded(window.columns), rows = padded(window.rows);
    const double scale = 1 / window.pixel();
    const float last_x = std::nextafter(static_cast<float>(columns), 0.0F), last_y = std::nextafter(static_cast<float>(rows), 0.0F);
    std::vector<SkyPoint> points;
    points.reserve(static_cast<std::size_t>(std::count(group.begin() + first, group.begin() + end, which)));
    for (index_t i = first; i < end; ++i) {
        if (group[i] != which) continue;
        const auto r = position[i];
        const double up = plane == Plane::xy ? r.y - window.center.y : r.z - window.center.z;
        const double x = (r.x - window.center.x) * scale + window.columns / 2.0 + margin;
        const double y = -up * scale + window.rows / 2.0 + margin;
        if (x >= 0 && x < columns && y >= 0 && y < rows)  // false for NaN; a float just below `columns` may round up to it
            points.push_back(
                {std::min(static_cast<float>(x), last_x), std::min(static_cast<float>(y), last_y), static_cast<float>(mass[i])});
    }
    return points;
}

/// Numbers of particles per cell of every level.
std::vector<Grid> counts(const std::vector<std::vector<SkyPoint>>& slices, int columns, int rows) {
    std::vector<std::vector<Grid>> count(slices.size());
    for_each_part(thread_count(Cpu{}), std::ssize(slices), [&](index_t part) {
        const auto s = static_cast<std::size_t>(part);
        if (s == 0)
            count[0] = pyramid(columns, rows);
        else
            count[s].emplace_back(columns, rows);
        for (const auto& p : slices[s]) count[s][0].at(static_cast<int>(p.x), static_cast<int>(p.y)) += 1;
    });
    add_to_first(count, 0);
    auto levels = std::move(count[0]);
    for (int l = 1; l <= top_level; ++l) {
        auto& coarse = levels[static_cast<std::size_t>(l)];
        const auto& fine = levels[static_cast<std::size_t>(l - 1)];
        for (int y = 0; y < coarse.rows; ++y)
            for (int x = 0; x < coarse.columns; ++x)
                coarse.at(x, y) =
                    fine.at(2 * x, 2 * y) + fine.at(2 * x + 1, 2 * y) + fine.at(2 * x, 2 * y + 1) + fine.at(2 * x + 1, 2 * y + 1);
    }
    return levels;
}

/// The level, a real number, whose kernel holds about `neighbours` particles around those of a pixel.
double kernel_level(const std::vector<Grid>& count, int column, int row) {
    for (int l = 0; l <= top_level; ++l) {
        const auto& grid = count[static_cast<std::size_t>(l)];
        const int x = column >> l, y = row >> l;
        double around = 0;
        for (int j = -1; j <= 1; ++j)
            for (int i = -1; i <= 1; ++i) around += grid.near(x + i, y + j);
        if (around < 2 * neighbours && l < top_level) continue;
        // The kernel's variance is half a cell squared, so about 2 pi cells lie under it.
        const double per_pixel = around / (9.0 * (1 << 2 * l));
        return std::clamp(std::log2(neighbours / (6.3 * per_pixel)) / 2, 0.0, static_cast<double>(top_level));
    }
    return top_level;
}

/// kernel_level() of every pixel that holds particles.
std::vector<double> kernel_levels(const std::vector<Grid>& count) {
    const auto& finest = count[0];
    std::vector<double> levels(finest.cell.size());
    for_each_row(finest.rows, [&](int y) {
        for (int x = 0; x < finest.columns; ++x)
            if (finest.at(x, y) > 0) levels[finest.index(x, y)] = kernel_level(count, x, y);
    });
    return levels;
}

}  // namespace

Density surface_density(const Window& window, Plane plane, View<const Vec3<double>> position, View<const double> mass,
                        View<const std::uint8_t> group, std::uint8_t which) {
    const int columns = padded(window.columns), rows = padded(window.rows);
    const int threads = thread_count(Cpu{});
    const index_t n = position.size(), slices = std::clamp<index_t>(n / least_slice, 1, most_slices);
    std::vector<std::vector<SkyPoint>> points(static_cast<std::size_t>(slices));
    for_each_part(threads, slices, [&](index_t s) {
        points[static_cast<std::size_t>(s)] = points_of(window, plane, position, mass, group, which, n * s / slices, n * (s + 1) / slices);
    });

    const auto levels = kernel_levels(counts(points, columns, rows));
    std::vector<std::vector<Grid>> deposits(points.size());
    for_each_part(threads, slices, [&](index_t s) {
        auto& level = deposits[static_cast<std::size_t>(s)] = pyramid(columns, rows);
        for (const auto& p : points[static_cast<std::size_t>(s)]) {
            const double l = levels[level[0].index(static_cast<int>(p.x), static_cast<int>(p.y))];
            const int lower = std::min(static_cast<int>(l), top_level - 1);
            const double upper_share = l - lower;
            for (int k = 0; k < 2; ++k) {
                const double share = k ? upper_share : 1 - upper_share;
                const double cell = 1 << (lower + k);
                deposit(level[static_cast<std::size_t>(lower + k)], p.x / cell, p.y / cell, p.mass * share / (cell * cell));
            }
        }
    });
    for (std::size_t l = 0; l <= top_level; ++l) add_to_first(deposits, l);
    auto& level = deposits[0];
    for (std::size_t l = top_level; l > 0; --l) refine(level[l], level[l - 1]);

    const double scale = 1 / window.pixel();
    Density density{window.columns, window.rows, {}};
    density.value.reserve(static_cast<std::size_t>(window.columns) * static_cast<std::size_t>(window.rows));
    for (int y = 0; y < window.rows; ++y)
        for (int x = 0; x < window.columns; ++x)
            density.value.push_back(level[0].at(x + margin, y + margin) * static_cast<float>(scale * scale));
    return density;
}

std::vector<Density> surface_densities(const Window& window, Plane plane, View<const Vec3<double>> position, View<const double> mass,
                                       View<const std::uint8_t> group, const std::vector<double>& weight) {
    std::vector<Density> result;
    for (std::size_t g = 0; g < weight.size(); ++g) {
        result.push_back(surface_density(window, plane, position, mass, group, static_cast<std::uint8_t>(g)));
        for (auto& v : result.back().value) v *= static_cast<float>(weight[g]);
    }
    return result;
}

}  // namespace kasane::report
