#include <kasane/report/label_place.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::report {

bool meets(const Box& box, const Point& a, const Point& b) {
    // Liang & Barsky (1984): the part of the segment inside each of the four half planes.
    const double dx = b.x - a.x, dy = b.y - a.y;
    const double slope[] = {-dx, dx, -dy, dy};
    const double margin[] = {a.x - box.left, box.right - a.x, a.y - box.top, box.bottom - a.y};
    double first = 0, last = 1;
    for (int side = 0; side < 4; ++side) {
        if (slope[side] == 0) {
            if (margin[side] < 0) return false;
            continue;
        }
        const double at = margin[side] / slope[side];
        if (slope[side] < 0)
            first = std::max(first, at);
        else
            last = std::min(last, at);
    }
    return first <= last;
}

std::optional<Box> free_place(const std::vector<Box>& candidates, const std::vector<Polyline>& curves) {
    const auto is_free = [&](const Box& box) {
        return std::none_of(curves.begin(), curves.end(), [&](const Polyline& curve) {
            if (curve.size() == 1) return meets(box, curve[0], curve[0]);
            for (std::size_t i = 1; i < curve.size(); ++i)
                if (meets(box, curve[i - 1], curve[i])) return true;
            return false;
        });
    };
    const auto found = std::find_if(candidates.begin(), candidates.end(), is_free);
    return found == candidates.end() ? std::nullopt : std::optional(*found);
}

}  // namespace kasane::report
