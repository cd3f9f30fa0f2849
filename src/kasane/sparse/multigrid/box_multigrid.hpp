// Geometric multigrid for the finite-volume Poisson problem on a box, as a preconditioner of conjugate gradients: one V cycle in single
// precision, with red-black Gauss-Seidel before and its reverse after the coarse grid.   [Trottenberg, Oosterlee & Schueller
// 2001, 2.4, 5.1] A coarse cell is two cells along every direction that is strongly coupled (mean conductance at least a third of the
// largest), so that flat cells are joined across their short side first. Between centres of coarse cells lie half a face's resistance, a
// face, and half a face's, in series; the lines between two coarse cells are parallel. Interpolation along a direction divides a cell
// between the two nearest coarse cells by the same resistances, so that it follows jumps of the coefficient; restriction is its transpose.
// Invariants: the cycle is a fixed symmetric positive operator up to rounding; results do not depend on threads.
#pragma once

#include <kasane/sparse/multigrid/box_operator.hpp>
#include <kasane/sparse/multigrid/joined_cells.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kasane::sparse {

namespace box {
struct Transfer;
}

/// Largest number of bytes of the grids of a BoxCycle, or of a slab's: their arrays, all of floats, take 30 bytes of a cell: 12 for the
/// conductances of three faces, 8 for x and b, and 10 for r, three shares and the inverse of the diagonal of every second cell. All grids
/// together take 8/7 of the finest one's where all directions are joined, up to twice where one is, and up to 2.5 times where that one is
/// periodic, since its numbers of cells are even (10, 6, 4, 2, 1).
/// @param cells  of the finest grid   @param periodic  along any direction
constexpr std::uint64_t grids_memory(index_t cells, bool periodic) { return static_cast<std::uint64_t>(cells) * (periodic ? 75 : 60); }

/// The V cycle in single precision on the grids of given conductances.
template <Space S>
class BoxCycle {
   public:
    /// @param faces  conductances across x, y, z of all faces
    BoxCycle(S on, const BoxCells& cells, std::array<Buffer<float, S>, 3> faces);

    /// Right-hand side and result on the finest grid.
    View<float> b() const { return grids_.front().b.view(); }
    View<float> x() const { return grids_.front().x.view(); }
    /// x = M^-1 b
    void apply() const { apply(on_); }
    /// Does the same on another stream.
    void apply(S on) const { cycle(on, 0); }

    /// The grids, the finest first.
    std::vector<BoxCells> grids() const;
    std::uint64_t bytes() const;

   private:
    struct Grid {
        BoxCells cells;
        JoinedLine line[3] = {};    ///< to the next grid, along each direction
        Buffer<float, S> face[3];   ///< conductances
        Buffer<float, S> share[3];  ///< [places of a colour] part of a cell that belongs to the nearest coarse cell but its own
        Buffer<float, S> inverse;   ///< [places of a colour] 1 over the diagonal
        Buffer<float, S> x, b;      ///< [cells]
        Buffer<float, S> r;         ///< [places of a colour]
        BoxFaces<float> faces() const { return {cells, {face[0].data(), face[1].data(), face[2].data()}}; }
    };

    bool add_coarse();
    void sweep_from_zero(S on, Grid& grid) const;
    void smooth(S on, Grid& grid, int colour) const;
    box::Transfer transfer(std::size_t level) const;
    void cycle(S on, std::size_t level) const;
#if defined(KASANE_CUDA)
    bool cycle_of_few_cells(S on, std::size_t level) const;
#endif

    S on_;
    mutable std::vector<Grid> grids_;
};

/// The unit of conductances: a power of two near the largest one.
inline double unit_of_conductances(double largest) { return std::ldexp(1., std::ilogb(largest)); }

template <Space S>
class BoxMultigrid {
   public:
    /// @param A         its faces are copied   @param singular  constants are the null space: results have no mean
    BoxMultigrid(S on, const BoxOperator<S>& A, bool singular);

    /// out = M^-1 in, in the form of krylov.
    void apply(VectorAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const;

#if defined(KASANE_CUDA)
    /// The interface of ResidentAlgebra: r in the unit of the scalars as the right-hand side of the next cycle.
    void begin(ResidentCg& cg, const Buffer<double, S>& r) const
        requires std::same_as<S, Cuda>;
    float* single_residual() const { return cycle_.b().ptr; }
    /// The launches of p = M^-1 r + rz / rz_before p and of rz.
    void submit_direction(ResidentCg& cg, S on, const Buffer<double, S>& r, Buffer<double, S>& z, Buffer<double, S>& p) const
        requires std::same_as<S, Cuda>;
#endif

    std::vector<BoxCells> grids() const { return cycle_.grids(); }
    std::uint64_t bytes() const { return cycle_.bytes(); }

   private:
    S on_;
    bool singular_;
    double unit_;
    BoxCycle<S> cycle_;
};

}  // namespace kasane::sparse
