// Widths, neighbours and conductances of the cells of a valid PoissonProblem.
// Invariant: the two cells of a face compute its conductance by the same expression.
#pragma once

#include <kasane/sparse/poisson/poisson.hpp>

#include <array>

namespace kasane::sparse {

/// Neighbours below and above along one direction of all cells with an index below m, one line of n cells.
inline index_t neighbours_before(index_t m, index_t n, bool periodic) {
    return periodic ? 2 * m : m == 0 ? 0 : m == n ? 2 * n - 2 : 2 * m - 1;
}
inline index_t neighbours_at(index_t m, index_t n, bool periodic) { return periodic ? 2 : (m > 0) + (m < n - 1); }

/// Widths, coefficients and conductances of a valid box.
class Box {
   public:
    explicit Box(const PoissonProblem& problem) : problem_(problem), n_(problem.cells) {
        const auto& K = problem.tensor;
        for (int d = 0; d < 3; ++d)
            coefficient_[d] = !problem.has_tensor() ? &problem.coefficient : d == 0 ? &K[0] : d == 1 ? &K[3] : &K[5];
    }

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
    /// Resistance, per area, of the half cell between its centre and a face across `direction`. Of a tensor, its diagonal part.
    double half_resistance(int direction, index_t at, index_t row) const {
        const auto& values = *coefficient_[direction];
        const double c = values.empty() ? 1 : values[values.size() == 1 ? 0 : static_cast<std::size_t>(row)];
        return width(direction, at) / (2 * c);
    }
    bool periodic(int direction) const { return problem_.periodic(static_cast<std::size_t>(direction)); }
    /// The cell below or above along a direction, round the box where that is periodic; -1 or the number of cells outside.
    index_t neighbour(int direction, index_t here, bool upper) const {
        const index_t n = n_[static_cast<std::size_t>(direction)], other = upper ? here + 1 : here - 1;
        return !periodic(direction) ? other : other < 0 ? n - 1 : other == n ? 0 : other;
    }
    /// Conductance between two neighbours, or from a centre to the boundary face where `other` is outside.
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
    const std::vector<double>* coefficient_[3];  ///< along each direction; empty: 1; one number: in all cells
};

/// Conductances of the faces across a direction, of a valid problem: as face_conductances(); of a tensor, those of its diagonal part.
std::vector<double> conductances_across(const PoissonProblem& problem, int direction);

/// Values of the conditions of all faces in their cells.
class FaceValues {
   public:
    /// @throws InputError as face_values()
    explicit FaceValues(const PoissonProblem& problem) : problem_(problem) {
        for (std::size_t f = 0; f < 6; ++f)
            if (!problem.boundary[f].formula.empty()) given_[f] = face_values(problem, f);
    }
    /// Value on the face of a cell across a direction.
    double at(int direction, bool upper, const std::array<index_t, 3>& cell) const {
        const auto f = static_cast<std::size_t>(2 * direction + upper);
        if (given_[f].empty()) return problem_.boundary[f].value;
        const auto first = static_cast<std::size_t>(direction == 0 ? 1 : 0), second = static_cast<std::size_t>(direction == 2 ? 1 : 2);
        return given_[f][static_cast<std::size_t>(cell[first] + problem_.cells[first] * cell[second])];
    }

   private:
    const PoissonProblem& problem_;
    std::array<std::vector<double>, 6> given_;
};

}  // namespace kasane::sparse
