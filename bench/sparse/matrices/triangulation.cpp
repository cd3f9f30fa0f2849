// Points are inserted one after the other: the triangle that contains a point is found by a walk from the last one and split, and edges
// are flipped until every circumscribed circle is empty [C. L. Lawson, Software for C1 surface interpolation, 1977].
#include <bench/sparse/matrices/triangulation.hpp>
#include <kasane/core/math/random.hpp>

#include <algorithm>
#include <utility>

namespace kasane::bench {
namespace {

using Point = std::array<double, 2>;

/// Twice the area of (a, b, c): positive where they are counterclockwise.
double oriented(const Point& a, const Point& b, const Point& c) { return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]); }

/// Whether d lies inside the circle through a, b, c, which are counterclockwise.
bool in_circle(const Point& a, const Point& b, const Point& c, const Point& d) {
    const double ax = a[0] - d[0], ay = a[1] - d[1], bx = b[0] - d[0], by = b[1] - d[1], cx = c[0] - d[0], cy = c[1] - d[1];
    const double a2 = ax * ax + ay * ay, b2 = bx * bx + by * by, c2 = cx * cx + cy * cy;
    return ax * (by * c2 - b2 * cy) - ay * (bx * c2 - b2 * cx) + a2 * (bx * cy - by * cx) > 0;
}

/// Square of the radius of the circle through a, b, c.
double squared_radius(const Point& a, const Point& b, const Point& c) {
    const auto squared = [](const Point& p, const Point& q) { return (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]); };
    const double area2 = oriented(a, b, c);
    return squared(a, b) * squared(b, c) * squared(c, a) / (4 * area2 * area2);
}

/// The bits of x and y in turn.
std::uint64_t morton(std::uint64_t x, std::uint64_t y) {
    std::uint64_t code = 0;
    for (unsigned bit = 0; bit < 20; ++bit) code |= ((x >> bit & 1) << (2 * bit)) | ((y >> bit & 1) << (2 * bit + 1));
    return code;
}

/// Triangles with their neighbours. Corner k lies opposite of neighbour k; -1 is outside. A new point is corner 0 of its triangles.
class Growing {
   public:
    explicit Growing(std::vector<Point> points) : point_(std::move(points)), given_(static_cast<std::int32_t>(point_.size())) {
        for (const Point far : {Point{-100., -100.}, Point{101., -100.}, Point{0.5, 150.}}) point_.push_back(far);
        triangle_.push_back({{given_, given_ + 1, given_ + 2}, {-1, -1, -1}});
        for (std::int32_t p = 0; p < given_; ++p) insert(p);
    }

    std::vector<std::array<std::int32_t, 3>> triangles(double largest_radius) const {
        std::vector<std::array<std::int32_t, 3>> kept;
        for (const auto& t : triangle_) {
            if (std::ranges::any_of(t.corner, [&](std::int32_t p) { return p >= given_; })) continue;
            if (squared_radius(at(t.corner[0]), at(t.corner[1]), at(t.corner[2])) < largest_radius * largest_radius)
                kept.push_back(t.corner);
        }
        return kept;
    }

   private:
    struct Triangle {
        std::array<std::int32_t, 3> corner, neighbour;
    };
    const Point& at(std::int32_t p) const { return point_[static_cast<std::size_t>(p)]; }
    Triangle& of(std::int32_t t) { return triangle_[static_cast<std::size_t>(t)]; }

    std::int32_t find(const Point& p) {
        for (std::int32_t t = last_;;) {
            const Triangle& here = of(t);
            std::int32_t next = -1;
            for (std::size_t k = 0; k < 3 && next < 0; ++k)
                if (oriented(at(here.corner[(k + 1) % 3]), at(here.corner[(k + 2) % 3]), p) < 0) next = here.neighbour[k];
            if (next < 0) return last_ = t;
            t = next;
        }
    }

    void replace_neighbour(std::int32_t t, std::int32_t before, std::int32_t after) {
        if (t >= 0) std::ranges::replace(of(t).neighbour, before, after);
    }

    void insert(std::int32_t p) {
        const std::int32_t t = find(at(p)), t1 = static_cast<std::int32_t>(triangle_.size()), t2 = t1 + 1;
        const auto [corner, neighbour] = of(t);
        const auto [a, b, c] = corner;
        triangle_.push_back({{p, c, a}, {neighbour[1], t2, t}});
        triangle_.push_back({{p, a, b}, {neighbour[2], t, t1}});
        of(t) = {{p, b, c}, {neighbour[0], t1, t2}};
        replace_neighbour(neighbour[1], t, t1);
        replace_neighbour(neighbour[2], t, t2);
        open_.assign({t, t1, t2});
        while (!open_.empty()) {
            const std::int32_t next = open_.back();
            open_.pop_back();
            flip(next);
        }
    }

    /// Replaces the edge opposite of corner 0 by the other diagonal, where the far corner lies inside the circle.
    void flip(std::int32_t t) {
        const auto [corner, neighbour] = of(t);
        const auto [p, b, c] = corner;
        const std::int32_t u = neighbour[0];
        if (u < 0) return;
        const Triangle other = of(u);
        const auto k = static_cast<std::size_t>(std::ranges::find(other.neighbour, t) - other.neighbour.begin());
        const std::int32_t q = other.corner[k], beside_b = other.neighbour[(k + 1) % 3], beside_c = other.neighbour[(k + 2) % 3];
        if (!in_circle(at(p), at(b), at(c), at(q))) return;
        of(t) = {{p, b, q}, {beside_b, u, neighbour[2]}};
        of(u) = {{p, q, c}, {beside_c, neighbour[1], t}};
        replace_neighbour(beside_b, u, t);
        replace_neighbour(neighbour[1], t, u);
        open_.push_back(t);
        open_.push_back(u);
    }

    std::vector<Point> point_;
    std::int32_t given_, last_ = 0;
    std::vector<Triangle> triangle_;
    std::vector<std::int32_t> open_;
};

}  // namespace

Triangulation random_triangulation(index_t side, std::uint64_t seed) {
    RandomStream random(seed, 0);
    const double h = 1. / static_cast<double>(side);
    std::vector<std::pair<std::uint64_t, Point>> sorted;
    for (index_t j = 0; j < side; ++j)
        for (index_t i = 0; i < side; ++i) {
            const double x = static_cast<double>(i) + 0.1 + 0.8 * random.uniform(),
                         y = static_cast<double>(j) + 0.1 + 0.8 * random.uniform();
            sorted.push_back({morton(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j)), Point{h * x, h * y}});
        }
    std::ranges::sort(sorted);
    Triangulation mesh;
    for (const auto& [code, point] : sorted) mesh.point.push_back(point);
    mesh.triangle = Growing(mesh.point).triangles(2 * h);
    return mesh;
}

}  // namespace kasane::bench
