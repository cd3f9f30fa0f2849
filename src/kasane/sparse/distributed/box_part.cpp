#include <kasane/sparse/distributed/box_part.hpp>

#include <kasane/core/base/error.hpp>
#include <kasane/sparse/poisson/box.hpp>
#include <kasane/sparse/poisson/tensor_scheme.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace kasane::sparse {

std::vector<std::int32_t> slabs_of(index_t planes, int workers) {
    KS_VALIDATE(planes >= 2 * workers,
                fmt::format("{} planes of cells across z cannot be divided among {} workers with two or more each: take at most {}", planes,
                            workers, std::max<index_t>(planes / 2, 1)),
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

index_t most_whole_cells(index_t cells, const std::vector<std::int32_t>& begin) {
    if (begin.size() <= 2) return 0;
    int joins = 30;  // of planes without a slab of an odd number of them
    for (std::size_t w = 1; w + 1 < begin.size(); ++w) joins = std::min(joins, std::countr_zero(static_cast<std::uint32_t>(begin[w])));
    return std::max(cells >> joins, std::min(cells / 2, divided_from));
}

BoxCells box_of(BoxCells slab) {
    slab.first = 0;
    if (slab.periodic(2)) slab.around[2] = slab.n[2] - 1;
    return slab;
}

namespace {

/// The rows of a worker's cells.
void set_rows(BoxPart& part, const PoissonProblem& problem, int worker) {
    const Planes own = part.own(worker), there = part.there(worker);
    const auto A = tensor_rows(problem, own.begin, own.end);
    KS_VALIDATE(A.nonzeros() < index_t{1} << 32,
                fmt::format("gives one worker a matrix of {} entries: at most 2^32 - 1 are possible. Take more workers or fewer cells",
                            A.nonzeros()),
                {"", 0, 0, "tensor"});
    const index_t planes = problem.cells[2], plane = problem.cells[0] * problem.cells[1];
    const index_t first = plane * own.begin, end = plane * own.end;
    const bool has_below = there.begin < own.begin;
    const index_t below = plane * ((own.begin - 1 + planes) % planes), above = plane * (own.end % planes);
    const auto add = [](CsrMatrix& to, index_t column, double value) {
        to.column.push_back(static_cast<std::int32_t>(column));
        to.value.push_back(value);
    };
    auto &inner = part.inner, &outer = part.outer;
    inner.begin = outer.begin = {0};
    inner.begin.reserve(A.begin.size());
    inner.column.reserve(A.column.size());
    inner.value.reserve(A.value.size());
    for (index_t row = 0; row < A.rows(); ++row) {
        for (auto e = static_cast<std::size_t>(A.begin[static_cast<std::size_t>(row)]);
             e < static_cast<std::size_t>(A.begin[static_cast<std::size_t>(row) + 1]); ++e) {
            const index_t column = A.column[e];
            if (column >= first && column < end)
                add(inner, column - first, A.value[e]);
            else if (has_below && column >= below && column < below + plane)
                add(outer, column - below, A.value[e]);
            else
                add(outer, column - above + (has_below ? plane : 0), A.value[e]);
        }
        inner.begin.push_back(std::ssize(inner.column));
        if (std::ssize(outer.column) == outer.begin.back()) continue;
        outer.begin.push_back(std::ssize(outer.column));
        part.outer_row.push_back(static_cast<std::int32_t>(row));
    }
}

}  // namespace

std::vector<BoxPart> divide_box(const PoissonProblem& problem, const std::vector<std::int32_t>& begin) {
    std::vector<BoxPart> parts(begin.size() - 1);
    double largest = 0;
    for (auto& part : parts) {
        for (const auto n : problem.cells) part.cells.push_back(static_cast<std::int32_t>(n));
        for (std::size_t d = 0; d < 3; ++d) part.periodic.push_back(problem.periodic(d) ? 1 : 0);
        part.begin = begin;
    }
    for (int d = 0; d < 3; ++d) {
        const auto faces = conductances_across(problem, d);
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
    if (problem.couples_directions())
        for (int w = 0; w < static_cast<int>(parts.size()); ++w) set_rows(parts[static_cast<std::size_t>(w)], problem, w);
    return parts;
}

}  // namespace kasane::sparse
