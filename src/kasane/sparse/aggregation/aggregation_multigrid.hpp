// Multigrid by smoothed aggregation for any symmetric positive definite matrix, as a preconditioner of conjugate gradients: one cycle in
// single precision, with a smoother before and after the coarse level.                                    [Vanek, Mandel & Brezina 1996]
// Each level is scaled on both sides so that its diagonal is 1. A coarse matrix is P^T A P; P is the tentative prolongator, smoothed by one
// step of damped Jacobi with the strong entries. The coarsest level is solved by its inverse, which the host computes; everything else is
// set up on the space.
// Invariants: the cycle is a fixed symmetric positive operator up to rounding (except a K cycle); set-up and results do not depend on
// threads.
#pragma once

#include <kasane/sparse/aggregation/strength.hpp>
#include <kasane/sparse/aggregation/aggregates.hpp>
#include <kasane/sparse/aggregation/row_colors.hpp>
#include <kasane/sparse/multigrid/resident_cg.hpp>
#include <kasane/sparse/options/multigrid_options.hpp>

#include <concepts>
#include <vector>

namespace kasane::sparse {

/// Vectors that the matrix maps to almost nothing, such as constants for a Laplacian and rigid motions for elasticity.
template <Space S>
struct NearNull {
    Buffer<double, S> vectors;  ///< [rows][count]
    int count = 1;
    int rows_per_node = 1;  ///< neighbouring rows that stay together in an aggregate
};

template <Space S>
class AggregationMultigrid {
   public:
    struct LevelSize {
        index_t rows, entries;
    };

    /// @param A         its pattern must outlive this   @param singular  constants are the null space: results have no mean
    AggregationMultigrid(S on, const RowsView<double>& A, NearNull<S> null, bool singular, const MultigridOptions& options = {});

    /// New values on the same pattern; the aggregates stay.
    void update(const RowsView<double>& A, NearNull<S> null);

    /// out = M^-1 in, in the form of krylov.
    void apply(VectorAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const;
    /// Does the same; returns in.out.
    double apply_dot(VectorAlgebra<S>& algebra, const Buffer<double, S>& in, Buffer<double, S>& out) const
        requires std::same_as<S, Cpu>;

#if defined(KASANE_CUDA)
    /// The launches of out = M^-1 in and of rz (ResidentAlgebra); not of a K cycle, whose scalars the host reads.
    void submit(ResidentCg& cg, S on, const Buffer<double, S>& in, Buffer<double, S>& out) const
        requires std::same_as<S, Cuda>;
#endif

    /// The matrix of a level, 0 being the finest, and the prolongator to it from the next level.
    RowsView<float> matrix(std::size_t level) const { return levels_[level].A; }
    RowsView<float> prolongator(std::size_t level) const { return levels_[level].P.view(); }
    /// The finest first.
    std::vector<LevelSize> levels() const;
    std::uint64_t bytes() const;
    /// Bytes that a cycle must move: every array once in each pass.
    double bytes_per_cycle() const;

   private:
    struct Level {
        RowsView<float> A;
        Rows<float, S> own;       ///< the matrix, but for the finest level, which has the pattern of the user's matrix
        Buffer<float, S> values;  ///< of the finest level
        Rows<float, S> P, R;      ///< to and from the next level
        Aggregates<S> aggregates;
        RowColors<S> colors;  ///< of Gauss-Seidel
        index_t entries = 0;
        double largest = 0;                   ///< estimate of the largest eigenvalue
        mutable Buffer<float, S> x, y, b, d;  ///< [rows]
        mutable Buffer<float, S> c, Ac;       ///< [rows] of a K cycle: the first correction, and A times it
    };

    void build(const RowsView<double>& A, NearNull<S> null, bool keep_aggregates);
    bool add_coarse(std::size_t number, Buffer<double, S>& null, int vectors, int rows_per_node, bool keep_aggregates);
    bool twice(std::size_t number) const;
    double begin_cycle(VectorAlgebra<S>& algebra, const Buffer<double, S>& in) const;
    enum class Sweep { before, after };
    void smooth(S on, const Level& level, bool from_zero, Sweep sweep) const;
    void chebyshev(S on, const Level& level, bool from_zero, int degree) const;
    void jacobi(S on, const Level& level, bool from_zero) const;
    void gauss_seidel(S on, const Level& level, bool from_zero, Sweep sweep) const;
    void cycle(S on, std::size_t number, bool from_zero) const;
    void krylov_cycle(S on, std::size_t number) const;

    S on_;
    bool singular_;
    MultigridOptions options_;
    double unit_ = 1;          ///< a power of two near the largest entry of the diagonal
    Buffer<double, S> scale_;  ///< [rows] roots of unit_ over the diagonal
    std::vector<Level> levels_;
    Buffer<float, S> inverse_;  ///< of the coarsest level; empty where it is too large
};

}  // namespace kasane::sparse
