#include <kasane/sparse/distributed/box_part.hpp>

#include <kasane/core/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kasane::sparse {

std::vector<std::int32_t> slabs_of(index_t planes, int workers) {
    KS_VALIDATE(planes >= 2 * workers,
                fmt::format("{} planes of cells across z cannot be divided among {} workers with two or more each: take at most {} workers",
                            planes, workers, std::max<index_t>(planes / 2, 1)),
                {"", 0, 0, "cells[2]"});
    constexpr double most_above_mean = 1.05;
    std::vector<std::int32_t> best;
    for (index_t unit = 2; unit * workers <= planes; unit *= 2) {
        std::vector<std::int32_t> begin;
        for (int w = 0; w < workers; ++w)
            begin.push_back(
                static_cast<std::int32_t>(unit * std::llround(static_cast<double>(planes * w) / static_cast<double>(unit * workers))));
        begin.push_back(static_cast<std::int32_t>(planes));
        std::int32_t most = 0;
        for (std::size_t w = 0; w < begin.size() - 1; ++w) most = std::max(most, begin[w + 1] - begin[w]);
        if (!best.empty() && most * workers > most_above_mean * static_cast<double>(planes)) break;
        best = std::move(begin);
    }
    return best;
}

BoxCells BoxPart::whole_box() const {
    BoxCells box;
    for (std::size_t d = 0; d < 3; ++d) {
        box.n[d] = cells[d];
        if (periodic[d] != 0) box.around[d] = cells[d] - 1;
    }
    return box;
}

BoxCells slab_of(BoxCells box, Planes own, Planes there) {
    box.first = there.begin;
    if (box.periodic(2) && own.count() < box.n[2]) box.around[2] = -1;  // the last plane comes before the first one
    return box;
}

BoxCells box_of(BoxCells slab) {
    slab.first = 0;
    if (slab.periodic(2)) slab.around[2] = slab.n[2] - 1;
    return slab;
}

std::vector<BoxPart> divide_box(const PoissonProblem& problem, const std::vector<std::int32_t>& begin) {
    std::vector<BoxPart> parts(begin.size() - 1);
    double largest = 0;
    for (auto& part : parts) {
        for (const auto n : problem.cells) part.cells.push_back(static_cast<std::int32_t>(n));
        for (std::size_t d = 0; d < 3; ++d) part.periodic.push_back(problem.periodic(d) ? 1 : 0);
        part.begin = begin;
    }
    for (int d = 0; d < 3; ++d) {
        const auto faces = face_conductances(problem, d);
        largest = std::max(largest, *std::ranges::max_element(faces));
        const index_t planes = problem.cells[2], more = d == 2 ? 1 : 0, plane = static_cast<index_t>(faces.size()) / (planes + more);
        for (std::size_t w = 0; w < parts.size(); ++w) {
            const auto there = parts[w].there(static_cast<int>(w));
            for (index_t k = there.begin; k < there.end + more; ++k) {
                const index_t at = k < 0 ? k + planes : k >= planes + more ? k - planes : k;
                parts[w].face[d].insert(parts[w].face[d].end(), faces.begin() + plane * at, faces.begin() + plane * (at + 1));
            }
        }
    }
    for (auto& part : parts) part.largest = {largest};
    return parts;
}

}  // namespace kasane::sparse
