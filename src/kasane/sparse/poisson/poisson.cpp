// Assembly: rows are written in parallel, line by line along x, straight to their places, which have a closed form.
// Invariant: the two rows that share a face compute its conductance by the same expression, so that the matrix is symmetric bit by bit.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace kasane::sparse {
namespace {

bool positive(double value) { return value > 0 && std::isfinite(value); }

/// Neighbours below and above along one direction of all cells with an index below m, one line of n cells.
index_t neighbours_before(index_t m, index_t n, bool periodic) { return periodic ? 2 * m : m == 0 ? 0 : m == n ? 2 * n - 2 : 2 * m - 1; }
index_t neighbours_at(index_t m, index_t n, bool periodic) { return periodic ? 2 : (m > 0) + (m < n - 1); }

/// Widths, coefficients and conductances of a valid box.
class Box {
   public:
    explicit Box(const PoissonProblem& problem) : problem_(problem), n_(problem.cells) {}

    index_t row(index_t i, index_t j, index_t k) const { return i + n_[0] * (j + n_[1] * k); }
    double width(int direction, index_t at) const {
        const auto& widths = problem_.spacing[static_cast<std::size_t>(direction)];
        return widths.size() == 1 ? widths[0] : widths[static_cast<std::size_t>(at)];
    }
    double volume(index_t i, index_t j, index_t k) const { return width(0, i) * width(1, j) * width(2, k); }
    double area(int direction, const std::array<index_t, 3>& cell) const {
        const int a = direction == 0 ? 1 : 0, b = direction == 2 ? 1 : 2;
        return width(a, cell[static_cast<std::size_t>(a)]) * width(b, cell[static_cast<std::size_t>(b)]);
    }
    /// Resistance, per area, of the half cell between its centre and a face across `direction`.
    double half_resistance(int direction, index_t at, index_t row) const {
        const double c = problem_.coefficient.empty() ? 1 : problem_.coefficient[static_cast<std::size_t>(row)];
        return width(direction, at) / (2 * c);
    }
    bool periodic(int direction) const { return problem_.periodic(static_cast<std::size_t>(direction)); }
    /// The cell below or above along a direction, round the box where that is periodic; -1 or the number of cells outside.
    index_t neighbour(int direction, index_t here, bool upper) const {
        const index_t n = n_[static_cast<std::size_t>(direction)], other = upper ? here + 1 : here - 1;
        return !periodic(direction) ? other : other < 0 ? n - 1 : other == n ? 0 : other;
    }
    /// Conductance between two neighbours, or from a centre to what the face holds where `other` is outside.
    double conductance(int direction, const std::array<index_t, 3>& cell, index_t other) const {
        const auto d = static_cast<std::size_t>(direction);
        double resistance = half_resistance(direction, cell[d], row(cell[0], cell[1], cell[2]));
        if (other >= 0 && other < n_[d]) {
            auto beyond = cell;
            beyond[d] = other;
            resistance += half_resistance(direction, other, row(beyond[0], beyond[1], beyond[2]));
        } else if (const auto& outside = face(direction, other >= 0); outside.kind == BoundaryKind::robin) {
            resistance += 1 / outside.transfer;
        }
        return area(direction, cell) / resistance;
    }
    const Boundary& face(int direction, bool upper) const { return problem_.boundary[static_cast<std::size_t>(2 * direction + upper)]; }

    /// Entries in all rows before the line (j, k).
    index_t entries_before(index_t j, index_t k) const {
        const auto [nx, ny, nz] = n_;
        const bool around_y = periodic(1), around_z = periodic(2);
        const index_t own = nx + neighbours_before(nx, nx, periodic(0));  // entries of a line: its diagonal and its neighbours along x
        return nx * ny * neighbours_before(k, nz, around_z) + nx * k * neighbours_before(ny, ny, around_y) + own * ny * k +
               nx * (neighbours_before(j, ny, around_y) + j * neighbours_at(k, nz, around_z)) + own * j;
    }

   private:
    const PoissonProblem& problem_;
    std::array<index_t, 3> n_;
};

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
    const auto c = coefficient.empty() ? std::ranges::minmax_result<double>{1, 1} : std::ranges::minmax(coefficient);
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
            coefficient.empty() ? "spacing" : "coefficient");
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
    }
    if (problems.empty()) check_magnitudes(problem, bad);
    if (!problems.empty()) throw InputError(std::move(problems));
}

index_t poisson_nonzeros(const PoissonProblem& problem) {
    const auto rows = problem.rows();
    index_t entries = 7 * rows;
    for (std::size_t d = 0; d < 3; ++d)
        if (!problem.periodic(d)) entries -= 2 * (rows / problem.cells[d]);
    return entries;
}

CsrMatrix poisson_matrix(const PoissonProblem& problem) {
    validate(problem);
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
    std::array<std::vector<double>, 6> given;
    for (std::size_t f = 0; f < 6; ++f)
        if (!problem.boundary[f].formula.empty()) given[f] = face_values(problem, f);
    const auto value_at = [&, nx = nx, ny = ny](int d, bool upper, const std::array<index_t, 3>& cell) {
        const auto& values = given[static_cast<std::size_t>(2 * d + upper)];
        if (values.empty()) return box.face(d, upper).value;
        const index_t place = d == 0 ? cell[1] + ny * cell[2] : d == 1 ? cell[0] + nx * cell[2] : cell[0] + nx * cell[1];
        return values[static_cast<std::size_t>(place)];
    };
    std::vector<double> b(static_cast<std::size_t>(rows));
    parallel_for(Cpu{}, ny * nz, [&, nx = nx, ny = ny](index_t line) {
        const index_t j = line % ny, k = line / ny;
        for (index_t i = 0; i < nx; ++i) {
            const std::array<index_t, 3> cell{i, j, k};
            const auto row = static_cast<std::size_t>(box.row(i, j, k));
            double sum = box.volume(i, j, k) * problem.source[row];
            for (const int d : {0, 1, 2})
                for (const bool upper : {false, true}) {
                    const auto other = box.neighbour(d, cell[static_cast<std::size_t>(d)], upper);
                    if (other >= 0 && other < problem.cells[static_cast<std::size_t>(d)]) continue;
                    const double value = value_at(d, upper, cell);
                    sum += box.face(d, upper).kind == BoundaryKind::neumann ? -box.area(d, cell) * value
                                                                            : box.conductance(d, cell, other) * value;
                }
            b[row] = sum;
        }
    });
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
