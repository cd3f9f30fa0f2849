#include <kasane/core/base/error.hpp>
#include <kasane/lattice/performance/scaling_model.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace kasane::lattice {
namespace {

constexpr double hops_of_iteration = 4;  ///< two applications of the even-odd operator, two hops each

struct Point {
    double x = 0, y = 0, value = 0, scale = 1;  ///< scale: the time that the deviation is relative to
};

/// a, b >= 0 with the least squares of (a x + b y - value) / scale.
std::array<double, 2> two_terms(const std::vector<Point>& points) {
    double xx = 0, xy = 0, yy = 0, xv = 0, yv = 0;
    for (const auto& p : points) {
        const double w = 1 / (p.scale * p.scale);
        xx += w * p.x * p.x, xy += w * p.x * p.y, yy += w * p.y * p.y, xv += w * p.x * p.value, yv += w * p.y * p.value;
    }
    const double determinant = xx * yy - xy * xy;
    if (determinant > 1e-9 * xx * yy) {
        const double a = (xv * yy - yv * xy) / determinant, b = (yv * xx - xv * xy) / determinant;
        if (a >= 0 && b >= 0) return {a, b};
    }
    // One of them alone: that which takes more of the squares away.
    const double a = xx > 0 ? std::max(0., xv / xx) : 0, b = yy > 0 ? std::max(0., yv / yy) : 0;
    if (a * xv >= b * yv && a > 0) return {a, 0};
    return {0, b};
}

double sites(const RankGrid& grid) { return static_cast<double>(grid.local().volume()); }

double doublings(const RankGrid& grid) { return std::log2(grid.size()); }

template <class Rows>
int most_of(const Rows& rows) {
    int most = 1;
    for (const auto& row : rows) most = std::max(most, row.grid.size());
    return most;
}

template <class Model, class Rows>
double largest_deviation(const Model& model, const Rows& rows) {
    double largest = 0;
    for (const auto& row : rows) largest = std::max(largest, std::abs(model.time(row.grid).total() / row.seconds - 1));
    return largest;
}

}  // namespace

HopModel::HopModel(const std::vector<MeasuredHop>& rows) {
    std::vector<Point> alone, faces;
    bool one = false;
    for (const auto& row : rows) {
        one |= row.grid.size() == 1;
        const double own = sites(row.grid);
        alone.push_back({1, own, row.alone, row.alone});
        fewest_sites_ = fewest_sites_ > 0 ? std::min(fewest_sites_, own) : own;
        if (row.grid.size() == 1) continue;
        faces.push_back({1, row.face_bytes, row.seconds - row.alone, row.seconds});
        face_site_bytes_ = row.face_bytes / static_cast<double>(row.grid.face_sites());
    }
    KS_REQUIRE(one && !faces.empty(), "a model of hops needs measurements on one worker and on several");
    most_workers_ = most_of(rows);
    const auto interior = two_terms(alone), exchange = two_terms(faces);
    start_ = interior[0], site_ = interior[1], latency_ = exchange[0], byte_ = exchange[1];
    largest_ = largest_deviation(*this, rows);
}

HopTime HopModel::time(const RankGrid& grid) const {
    HopTime out{start_, site_ * sites(grid), 0, 0};
    if (grid.size() == 1) return out;
    out.latency = latency_;
    out.halo = byte_ * face_site_bytes_ * static_cast<double>(grid.face_sites());
    return out;
}

IterationModel::IterationModel(const HopModel& hop, const std::vector<MeasuredIteration>& rows) : hop_(hop), most_workers_(most_of(rows)) {
    const auto rest = [&](const MeasuredIteration& row) { return row.seconds - hops_of_iteration * hop_.time(row.grid).total(); };
    std::vector<Point> one, several;
    for (const auto& row : rows)
        if (row.grid.size() == 1) one.push_back({1, sites(row.grid), rest(row), row.seconds});
    KS_REQUIRE(!one.empty(), "a model of an iteration needs a measurement on one worker");
    const auto vectors = two_terms(one);
    start_ = vectors[0], site_ = vectors[1];
    for (const auto& row : rows)
        if (row.grid.size() > 1) several.push_back({doublings(row.grid), 0, rest(row) - start_ - site_ * sites(row.grid), row.seconds});
    sums_ = two_terms(several)[0];
    largest_ = largest_deviation(*this, rows);
}

IterationTime IterationModel::time(const RankGrid& grid) const {
    const auto hop = hop_.time(grid);
    const double n = hops_of_iteration;
    return {{n * hop.start, n * hop.interior, n * hop.latency, n * hop.halo}, start_, site_ * sites(grid), sums_ * doublings(grid)};
}

}  // namespace kasane::lattice
