// Poisson's equation on a CylinderGrid by finite volumes: no flux through the axis and the plane; the outer faces have the potential of
// the source's multipoles. The operator is a symmetric M-matrix with five entries per row.
#pragma once

#include <kasane/gravity/galaxy/disk/plane_field.hpp>
#include <kasane/krylov/cg.hpp>
#include <kasane/krylov/host_algebra.hpp>

#include <vector>

namespace kasane::gravity {

/// Couplings of every cell to its outer neighbours, and on the diagonal the sum of all its couplings.
struct FivePoint {
    std::vector<double> diagonal, to_R, to_z;  // to the next cell along R, along z; 0 at the outer faces
    std::size_t z_cells = 0;

    template <class Algebra>
    void apply(Algebra&, const std::vector<double>& in, std::vector<double>& out) const {
        const std::size_t n = diagonal.size(), row = z_cells;
        for (std::size_t k = 0; k < n; ++k) {
            double sum = diagonal[k] * in[k];
            if (k >= 1) sum -= to_z[k - 1] * in[k - 1];
            if (k + 1 < n) sum -= to_z[k] * in[k + 1];
            if (k >= row) sum -= to_R[k - row] * in[k - row];
            if (k + row < n) sum -= to_R[k] * in[k + row];
            out[k] = sum;
        }
    }
};

/// Modified incomplete Cholesky without fill-in: M = (D + L) D^-1 (D + L^T), dropped fill-in moved to the diagonal.
///                                                                                    [Gustafsson 1978, BIT 18, 142]
class ModifiedCholesky {
   public:
    /// @param a  must outlive this
    explicit ModifiedCholesky(const FivePoint& a);
    template <class Algebra>
    void apply(Algebra&, const std::vector<double>& r, std::vector<double>& z) const {
        solve(r, z);
    }

   private:
    void solve(const std::vector<double>& r, std::vector<double>& z) const;
    const FivePoint* a_;
    std::vector<double> inverse_;  // inverse of D
};

class CylinderPoisson {
   public:
    explicit CylinderPoisson(const CylinderGrid& grid);
    CylinderPoisson(const CylinderPoisson&) = delete;
    CylinderPoisson& operator=(const CylinderPoisson&) = delete;

    /// Solves for Psi = -Phi with G = 1 at the centres of the cells.
    /// @param mass  of every cell in the half space z > 0 [mass]   @param psi  start of the iteration; overwritten by the solution
    krylov::SolveLog solve(const std::vector<double>& mass, const Multipoles& outside, std::vector<double>& psi);

   private:
    CylinderGrid grid_;
    FivePoint operator_;
    ModifiedCholesky preconditioner_;
    std::vector<double> at_R_face_, at_z_face_;  // couplings of the outermost cells to the outer faces
    std::vector<double> right_;
    krylov::HostAlgebra algebra_;
    krylov::CgWorkspace<std::vector<double>> work_;
};

}  // namespace kasane::gravity
