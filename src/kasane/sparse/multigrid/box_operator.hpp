// The matrix of the finite-volume Poisson problem as an operator that keeps the conductances of the faces alone: 24 bytes a cell where a
// matrix in compressed rows has 92.                                                                                [HOHNI17, eq. 3]
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/sparse/multigrid/box_cells.hpp>
#include <kasane/sparse/multigrid/box_of_matrix.hpp>
#include <kasane/sparse/multigrid/resident_cg.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

namespace kasane::sparse {

template <Space S>
class BoxOperator {
   public:
    /// Makes the operator of a problem; for a tensor, of its diagonal part. @throws InputError as validate()
    BoxOperator(S on, const PoissonProblem& problem);
    /// Takes the conductances of the faces.
    BoxOperator(S on, ConductingFaces<S> faces);

    /// out = A in, in the form of krylov.
    void apply(VectorAlgebra<S>&, const Buffer<double, S>& in, Buffer<double, S>& out) const;

#if defined(KASANE_CUDA)
    /// The launches of out = A in and of pAp (ResidentAlgebra).
    void submit(ResidentCg& cg, S on, const Buffer<double, S>& in, Buffer<double, S>& out) const
        requires std::same_as<S, Cuda>;
    /// r = unit b - A x; returns r.r
    double residual(CgAlgebra<S>& algebra, double unit, const Buffer<double, S>& b, const Buffer<double, S>& x, Buffer<double, S>& r) const
        requires std::same_as<S, Cuda>;
#endif

    const BoxCells& cells() const { return cells_; }
    BoxFaces<double> faces() const { return {cells_, {face_[0].data(), face_[1].data(), face_[2].data()}}; }
    /// The largest conductance.
    double largest() const { return largest_; }
    std::uint64_t bytes() const;

   private:
    S on_;
    BoxCells cells_;
    Buffer<double, S> face_[3];
    double largest_ = 0;
};

}  // namespace kasane::sparse
