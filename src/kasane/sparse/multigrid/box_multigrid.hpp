// Geometric multigrid for the finite-volume Poisson problem on a box, as a preconditioner of conjugate gradients: one V cycle in single
// precision, with red-black Gauss-Seidel before and its reverse after the coarse grid.   [Trottenberg, Oosterlee & Schueller
// 2001, 2.4, 5.1] A coarse cell is two cells along every direction that is strongly coupled (mean conductance at least a third of the
// largest), so that flat cells are joined across their short side first. Between centres of coarse cells lie half a face's resistance, a
// face, and half a face's, in series; the lines between two coarse cells are parallel. Interpolation along a direction divides a cell
// between the two nearest coarse cells by the same resistances, so that it follows jumps of the coefficient; restriction is its transpose.
// Invariants: the cycle is a fixed symmetric positive operator up to rounding; results do not depend on threads.
#pragma once

#include <kasane/sparse/multigrid/box_operator.hpp>

#include <vector>

namespace kasane::sparse {

template <Space S>
class BoxMultigrid {
   public:
    /// @param A         must outlive it   @param singular  constants are the null space: results have no mean
    BoxMultigrid(S on, const BoxOperator<S>& A, bool singular);

    /// out = M^-1 in, in the form of krylov.
    void apply(VectorAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const;

    /// The grids, the finest first.
    std::vector<BoxCells> grids() const;
    std::uint64_t bytes() const;

   private:
    struct Grid {
        BoxCells cells;
        bool joins[3] = {};         ///< two cells along d are one on the next grid
        Buffer<float, S> face[3];   ///< conductances, in units of the largest one of the finest grid
        Buffer<float, S> share[3];  ///< [cells] part of a cell that belongs to the nearest coarse cell but its own
        Buffer<float, S> x, b, r;   ///< [cells]
        BoxFaces<float> faces() const { return {cells, {face[0].data(), face[1].data(), face[2].data()}}; }
    };

    bool add_coarse();
    void smooth(Grid& grid, int colour, bool from_zero) const;
    void cycle(std::size_t level) const;

    S on_;
    bool singular_;
    double unit_;  ///< a power of two near the largest conductance
    mutable std::vector<Grid> grids_;
};

}  // namespace kasane::sparse
