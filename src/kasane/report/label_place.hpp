// Finds the place of a label in a plot: a box that no curve meets. Coordinates are those of the drawing, y downward.
#pragma once

#include <optional>
#include <vector>

namespace kasane::report {

struct Point {
    double x = 0, y = 0;
};

struct Box {
    double left = 0, top = 0, right = 0, bottom = 0;
};

using Polyline = std::vector<Point>;

/// Whether the segment from a to b has a point in the box, its border included.
bool meets(const Box& box, const Point& a, const Point& b);

/// The first candidate that no polyline meets; a polyline of one point is that point.
std::optional<Box> free_place(const std::vector<Box>& candidates, const std::vector<Polyline>& curves);

}  // namespace kasane::report
