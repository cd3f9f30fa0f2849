#include <kasane/core/base/error.hpp>
#include <kasane/gravity/galaxy/speed_envelope.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::gravity {
namespace {

/// Divides [q.front(), q.back()] from left to right into bins whose width times largest bound is at most `area`.
/// @return the number of bins; `edges`, if given, receives their edges
std::size_t cut(const std::vector<double>& q, const std::vector<double>& bound, double area, std::size_t most, double* edges) {
    std::size_t bins = 0;
    double start = q.front(), height = 0;
    if (edges) edges[0] = start;
    for (std::size_t i = 0; i < bound.size(); ++i) {
        double from = q[i];
        for (;;) {
            const double higher = std::max(height, bound[i]);
            if (higher * (q[i + 1] - start) <= area) {
                height = higher;
                break;
            }
            from = std::min(std::max(from, start + area / higher), q[i + 1]);
            start = from;
            height = 0;
            if (++bins > most) return bins;
            if (edges) edges[bins] = start;
            if (start >= q[i + 1]) break;
        }
    }
    if (start < q.back()) {
        ++bins;
        if (edges && bins <= most) edges[bins] = q.back();
    }
    return bins;
}

}  // namespace

SpeedEnvelope::SpeedEnvelope(double first, double last, double step) : first_(first) {
    const auto cells = static_cast<std::size_t>(std::max(std::ceil((last - first) / step), 1.));
    step_ = (last - first) / static_cast<double>(cells);
    area_.assign(cells, 0);
    edge_.assign(cells * (bins + 1), 0);
}

void SpeedEnvelope::set(std::size_t cell, const std::vector<double>& q, const std::vector<double>& bound) {
    KS_EXPECT(q.size() == bound.size() + 1);
    double* edges = &edge_[cell * (bins + 1)];
    double whole = 0;
    for (std::size_t i = 0; i < bound.size(); ++i) whole += bound[i] * (q[i + 1] - q[i]);
    if (!(whole > 0)) return;  // no particle has a speed above 0 here
    std::fill(edges, edges + bins + 1, q.back());
    // Finds the smallest area of a bin for which the number of bins suffices.
    double low = whole / bins, high = 2 * low;
    while (cut(q, bound, high, bins, nullptr) > bins) low = high, high *= 2;
    for (int i = 0; i < 10; ++i) {
        const double middle = (low + high) / 2;
        (cut(q, bound, middle, bins, nullptr) > bins ? low : high) = middle;
    }
    cut(q, bound, high, bins, edges);
    area_[cell] = high;
}

}  // namespace kasane::gravity
