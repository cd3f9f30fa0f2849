// Delaunay triangulation of scattered points in the unit square: an unstructured mesh.
// Invariants: the circumscribed circle of a triangle contains no other point (up to rounding); triangles are counterclockwise; those
// with a circumscribed radius above two mean distances, which only occur along the border, are left out; points are numbered along a
// Morton curve, so that the mesh depends on `side` and `seed` alone.
#pragma once

#include <kasane/core/base/types.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace kasane::bench {

struct Triangulation {
    std::vector<std::array<double, 2>> point;
    std::vector<std::array<std::int32_t, 3>> triangle;
};

/// side^2 random points, one in each cell of a square grid. @param side  at least 3   @param seed  of the points
Triangulation random_triangulation(index_t side, std::uint64_t seed);

}  // namespace kasane::bench
