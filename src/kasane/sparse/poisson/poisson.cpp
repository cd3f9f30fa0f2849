// Assembly: rows are written in parallel, line by line along x, straight to their places, which have a closed form.
// Invariant: the two rows that share a face compute its conductance by the same expression, so that the matrix is symmetric bit by bit.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/poisson/box.hpp>
#include <kasane/sparse/poisson/poisson.hpp>
#include <kasane/sparse/poisson/tensor_scheme.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace kasane::sparse {
namespace {

bool positive(double value) { return value > 0 && std::isfinite(value); }

std::string cell_text(const PoissonProblem& problem, index_t row) {
    const auto [nx, ny, nz] = problem.cells;
    return fmt::format("({}, {}, {})", row % nx + 1, row / nx % ny + 1, row / (nx * ny) + 1);
}

/// Limits of conductances, so that squares and quotients stay in the range of doubles, and of the terms of a cell's balance.
constexpr double least_conductance = 1e-150, most_conductance = 1e150, most_flow = 1e300;

/// Checks conductances, volume and flows. @param bad  bad(message, key), for sizes and values that are valid by themselves
template <class Bad>
void check_magnitudes(const PoissonProblem& problem, const Bad& bad) {
    std::array<std::ranges::minmax_result<double>, 3> h;
    double volume = 1, least = std::numeric_limits<double>::infinity(), most = 0, area = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        h[d] = std::ranges::minmax(problem.spacing[d]);
        volume *= h[d].max * static_cast<double>(problem.cells[d]);
    }
    const auto& coefficient = problem.coefficient;
    auto c = coefficient.empty() ? std::ranges::minmax_result<double>{1, 1} : std::ranges::minmax(coefficient);
    if (problem.has_tensor()) {
        const auto range = tensor_range(problem);
        c = {range.least, range.most};
    }
    for (std::size_t d = 0; d < 3; ++d) {
        const auto &u = h[(d + 1) % 3], &v = h[(d + 2) % 3];
        area = std::max(area, u.max * v.max);
        least = std::min(least, u.min * v.min * c.min / h[d].max);
        most = std::max(most, 2 * u.max * v.max * c.max / h[d].min);  // to a face, half a cell away
    }
    if (!(volume <= most_flow) || !(least >= least_conductance) || !(most <= most_conductance))
        return bad(
            fmt::format(
                "is too extreme: conductances c S / h lie between {:.1e} and {:.1e}, in a box of volume {:.1e}; they must lie between "
                "{:.0e} and {:.0e}, and the volume below {:.0e}. Choose other units",
                least, most, volume, least_conductance, most_conductance, most_flow),
            problem.has_tensor()  ? "tensor"
            : coefficient.empty() ? "spacing"
                                  : "coefficient");
    for (std::size_t f = 0; f < 6; ++f) {
        const auto& face = problem.boundary[f];
        const double flow = std::abs(face.value) * (face.kind == BoundaryKind::neumann ? area : most);
        if (!(flow <= most_flow))
            bad(fmt::format("is too extreme: its value is {}, and up to {:.1e} flow through it into one cell; at most {:.0e} can. "
                            "Choose other units",
                            face.value, flow, most_flow),
                face_names[f]);
    }
}

}  // namespace

bool PoissonProblem::singular() const {
    return std::ranges::none_of(
        boundary, [](const Boundary& face) { return face.kind == BoundaryKind::dirichlet || face.kind == BoundaryKind::robin; });
}

bool PoissonProblem::has_tensor() const {
    return std::ranges::any_of(tensor, [](const auto& values) { return !values.empty(); });
}

bool PoissonProblem::couples_directions() const { return !tensor[1].empty() || !tensor[2].empty() || !tensor[4].empty(); }

bool PoissonProblem::periodic(std::size_t direction) const {
    return boundary[2 * direction].kind == BoundaryKind::periodic && boundary[2 * direction + 1].kind == BoundaryKind::periodic;
}

namespace {

/// Refuses conditions of faces that cannot be. @param bad  as in check_magnitudes()
template <class Bad>
void check_faces(const PoissonProblem& problem, const Bad& bad) {
    for (std::size_t f = 0; f < 6; ++f) {
        const auto& face = problem.boundary[f];
        if (!std::isfinite(face.value)) bad(fmt::format("has the value {}, which is not finite", face.value), face_names[f]);
        if (face.kind == BoundaryKind::robin && !(face.transfer >= 1e-100 && face.transfer <= 1e100))
            bad(fmt::format("has the transfer {}: it must lie between 1e-100 and 1e100. A face without transfer is {{ neumann = 0 }}, one "
                            "without resistance {{ dirichlet = VALUE }}",
                            face.transfer),
                face_names[f]);
        if (!face.formula.empty()) {
            try {
                check_formula(face.formula);
            } catch (const InputError& error) {
                bad(error.problems()[0].message, face_names[f]);
            }
        }
        if (face.kind != BoundaryKind::periodic) continue;
        const auto opposite = f ^ 1;
        if (problem.boundary[opposite].kind != BoundaryKind::periodic)
            bad(fmt::format("is periodic, and {} is not: a direction is periodic by both of its faces", face_names[opposite]),
                face_names[f]);
        else if (const auto n = problem.cells[f / 2]; n < 3 && f % 2 == 0)
            bad(fmt::format("is periodic with {} cell{} along {}: at least 3 are needed. With one cell, closed faces are the same", n,
                            n == 1 ? "" : "s", "xyz"[f / 2]),
                face_names[f]);
    }
}

}  // namespace

void validate(const PoissonProblem& problem) {
    std::vector<InputProblem> problems;
    const auto bad = [&](std::string message, std::string key) { problems.push_back({std::move(message), {"", 0, 0, std::move(key)}}); };
    index_t rows = 1;
    for (std::size_t d = 0; d < 3; ++d) {
        const auto n = problem.cells[d];
        if (n < 1) {
            bad(fmt::format("is {} along {}: there must be at least one cell", n, "xyz"[d]), "cells");
            rows = 0;
        } else if (rows > 0)
            rows = n > most_rows / rows ? most_rows + 1 : rows * n;
        const auto& widths = problem.spacing[d];
        const auto count = static_cast<index_t>(widths.size());
        if (count != 1 && count != n)
            bad(fmt::format("along {} has {} numbers: give one, or as many as there are cells ({})", "xyz"[d], count, n), "spacing");
        for (std::size_t i = 0; i < widths.size(); ++i)
            if (!positive(widths[i])) {
                bad(fmt::format("along {} is {} in cell {}: a width must be positive and finite", "xyz"[d], widths[i], i + 1), "spacing");
                break;
            }
    }
    if (rows > most_rows) bad(fmt::format("multiply to more than {} cells: columns are stored in 32 bits. Take fewer", most_rows), "cells");
    check_faces(problem, bad);
    if (rows >= 1 && rows <= most_rows) {
        if (rows == 1 && problem.singular())
            bad("leave a single cell without a Dirichlet face: its equation is empty. Give one face a Dirichlet value", "cells");
        const auto& c = problem.coefficient;
        if (!c.empty() && std::ssize(c) != rows) bad(fmt::format("has {} values for {} cells", c.size(), rows), "coefficient");
        for (std::size_t i = 0; i < c.size(); ++i)
            if (!positive(c[i])) {
                bad(fmt::format("is {} in cell {}: it must be positive and finite", c[i], cell_text(problem, static_cast<index_t>(i))),
                    "coefficient");
                break;
            }
        if (problem.has_tensor()) check_tensor(problem, bad);
    }
    if (problems.empty()) check_magnitudes(problem, bad);
    if (!problems.empty()) throw InputError(std::move(problems));
}

index_t poisson_nonzeros(const PoissonProblem& problem) {
    if (problem.has_tensor()) return tensor_nonzeros(problem);
    const auto rows = problem.rows();
    index_t entries = 7 * rows;
    for (std::size_t d = 0; d < 3; ++d)
        if (!problem.periodic(d)) entries -= 2 * (rows / problem.cells[d]);
    return entries;
}

CsrMatrix poisson_matrix(const PoissonProblem& problem) {
    validate(problem);
    if (problem.has_tensor()) return tensor_matrix(problem);
    const Box box(problem);
    const auto [nx, ny, nz] = problem.cells;
    CsrMatrix A;
    A.begin.resize(static_cast<std::size_t>(problem.rows() + 1));
    A.column.resize(static_cast<std::size_t>(poisson_nonzeros(problem)));
    A.value.resize(A.column.size());
    const std::array<index_t, 3> stride{1, nx, nx * ny};
    const bool around = box.periodic(0) || box.periodic(1) || box.periodic(2);  // columns do not ascend by themselves
    parallel_for(Cpu{}, ny * nz, [&, nx = nx, ny = ny](index_t line) {
        const index_t j = line % ny, k = line / ny;
        auto at = static_cast<std::size_t>(box.entries_before(j, k));
        for (index_t i = 0; i < nx; ++i) {
            const std::array<index_t, 3> cell{i, j, k};
            const index_t row = box.row(i, j, k);
            A.begin[static_cast<std::size_t>(row)] = static_cast<index_t>(at);
            std::array<std::pair<std::int32_t, double>, 7> entries;
            std::size_t count = 0;
            double diagonal = 0;
            // Adds the flow to one neighbour, or through the face where there is none.
            const auto flow = [&](int d, bool upper) {
                const auto here = cell[static_cast<std::size_t>(d)], other = box.neighbour(d, here, upper);
                const bool inside = other >= 0 && other < problem.cells[static_cast<std::size_t>(d)];
                if (!inside && box.face(d, upper).kind == BoundaryKind::neumann) return;
                const double g = box.conductance(d, cell, other);
                diagonal += g;
                if (!inside) return;
                entries[count++] = {static_cast<std::int32_t>(row + (other - here) * stride[static_cast<std::size_t>(d)]), -g};
            };
            for (const int d : {2, 1, 0}) flow(d, false);
            const auto middle = count++;
            for (const int d : {0, 1, 2}) flow(d, true);
            entries[middle] = {static_cast<std::int32_t>(row), diagonal};
            for (std::size_t last = 1; around && last < count; ++last)
                for (auto e = last; e > 0 && entries[e] < entries[e - 1]; --e) std::swap(entries[e], entries[e - 1]);
            for (std::size_t e = 0; e < count; ++e, ++at) std::tie(A.column[at], A.value[at]) = entries[e];
        }
    });
    A.begin.back() = static_cast<index_t>(A.value.size());
    return A;
}

std::vector<double> face_conductances(const PoissonProblem& problem, int direction) {
    validate(problem);
    KS_VALIDATE(!problem.couples_directions(),
                "has xy, xz or yz: the flux through a face depends on more than two cells, and has no conductance", {"", 0, 0, "tensor"});
    return conductances_across(problem, direction);
}

std::vector<double> conductances_across(const PoissonProblem& problem, int direction) {
    const Box box(problem);
    auto faces = problem.cells;
    const auto d = static_cast<std::size_t>(direction);
    ++faces[d];
    const auto [nx, ny, nz] = faces;
    std::vector<double> g(static_cast<std::size_t>(nx * ny * nz));
    parallel_for(Cpu{}, ny * nz, [&, nx = nx, ny = ny](index_t line) {
        for (index_t i = 0; i < nx; ++i) {
            std::array<index_t, 3> cell{i, line % ny, line / ny};  // above the face
            const bool last = cell[d] == problem.cells[d], edge = last || cell[d] == 0;
            if (edge && box.face(direction, last).kind == BoundaryKind::neumann) continue;
            if (last) --cell[d];
            const index_t other = box.neighbour(direction, cell[d], last);
            g[static_cast<std::size_t>(nx * line + i)] = box.conductance(direction, cell, other);
        }
    });
    return g;
}

std::vector<double> poisson_rhs(const PoissonProblem& problem) {
    validate(problem);
    const auto rows = problem.rows();
    KS_VALIDATE(std::ssize(problem.source) == rows, fmt::format("the source has {} values for {} cells", problem.source.size(), rows));
    const Box box(problem);
    const auto [nx, ny, nz] = problem.cells;
    const FaceValues values(problem);
    std::vector<double> b(static_cast<std::size_t>(rows));
    parallel_for(Cpu{}, ny * nz, [&, nx = nx, ny = ny](index_t line) {
        const index_t j = line % ny, k = line / ny;
        for (index_t i = 0; i < nx; ++i) {
            const std::array<index_t, 3> cell{i, j, k};
            const auto row = static_cast<std::size_t>(box.row(i, j, k));
            double sum = box.volume(i, j, k) * problem.source[row];
            for (int d = problem.has_tensor() ? 3 : 0; d < 3; ++d)
                for (const bool upper : {false, true}) {
                    const auto other = box.neighbour(d, cell[static_cast<std::size_t>(d)], upper);
                    if (other >= 0 && other < problem.cells[static_cast<std::size_t>(d)]) continue;
                    const double value = values.at(d, upper, cell);
                    sum += box.face(d, upper).kind == BoundaryKind::neumann ? -box.area(d, cell) * value
                                                                            : box.conductance(d, cell, other) * value;
                }
            b[row] = sum;
        }
    });
    if (problem.has_tensor()) add_tensor_inflow(problem, values, b);
    for (index_t row = 0; row < rows; ++row)
        KS_VALIDATE(std::isfinite(b[static_cast<std::size_t>(row)]),
                    fmt::format("the source is {} in cell {}, and what flows into it {}: both must be finite",
                                problem.source[static_cast<std::size_t>(row)], cell_text(problem, row), b[static_cast<std::size_t>(row)]));
    return b;
}

std::vector<double> cell_faces(const PoissonProblem& problem, int direction) {
    const auto d = static_cast<std::size_t>(direction);
    const auto& widths = problem.spacing[d];
    std::vector<double> faces(static_cast<std::size_t>(problem.cells[d]) + 1);
    for (std::size_t i = 1; i < faces.size(); ++i)  // equal widths are multiplied, so that rounding does not accumulate
        faces[i] = widths.size() == 1 ? static_cast<double>(i) * widths[0] : faces[i - 1] + widths[i - 1];
    return faces;
}

std::vector<double> cell_centres(const PoissonProblem& problem, int direction) {
    const auto faces = cell_faces(problem, direction);
    std::vector<double> centres(faces.size() - 1);
    for (std::size_t i = 0; i < centres.size(); ++i) centres[i] = 0.5 * (faces[i] + faces[i + 1]);
    return centres;
}

}  // namespace kasane::sparse
