// A potential between the cells of a CylinderGrid: bicubic, once continuously differentiable, even about the axis and the plane;
// outside the grid it is that of the source's multipoles, which are computed here too.
#pragma once

#include <kasane/gravity/galaxy/disk/cylinder_grid.hpp>

#include <vector>

namespace kasane::gravity {

/// psi = sum over even l of q_l P_l(z/r) / r^(l+1), for points outside the source; axisymmetric, mirror-symmetric about the plane.
class Multipoles {
   public:
    static constexpr int order = 40;  // the source ends at half the box, so that the next term is below 2^-42
    Multipoles() = default;
    /// @param mass of the cells, of the half space z > 0 [mass]
    Multipoles(const CylinderGrid& grid, const std::vector<double>& mass);

    struct At {
        double psi = 0, d_R = 0, d_z = 0;
    };
    double psi(double R, double z) const;
    At at(double R, double z) const;

   private:
    double radius_ = 1;                                           // unit of length of the moments
    std::vector<double> q_ = std::vector<double>(order / 2 + 1);  // moments for l = 0, 2, ..., order
};

class PlaneField {
   public:
    using At = Multipoles::At;
    PlaneField() = default;
    /// @param psi at the centres of the cells
    PlaneField(const CylinderGrid& grid, const std::vector<double>& psi, Multipoles outside);

    double psi(double R, double z) const;
    At at(double R, double z) const;
    const CylinderGrid& grid() const { return grid_; }
    const Multipoles& outside() const { return outside_; }

   private:
    struct Node {
        double f, u, v, uv;  // value and derivatives with respect to the indices
    };
    struct Corner {
        const Node* node;  // lower left node of the cell
        double s, t;       // position in the cell, 0 to 1
        bool inside;
    };
    Corner locate(double R, double z) const;

    CylinderGrid grid_;
    std::vector<Node> node_;  // (R.cells + 1) x (z.cells + 1): the first row and column mirror the second
    Multipoles outside_;
};

}  // namespace kasane::gravity
