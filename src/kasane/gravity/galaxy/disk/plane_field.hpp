// A potential between the cells of a CylinderGrid: bicubic, once continuously differentiable, even about the axis and the plane;
// outside the grid it is that of the source's multipoles, which are computed here too.
#pragma once

#include <kasane/core/device/table_memory.hpp>
#include <kasane/gravity/galaxy/disk/cylinder_grid.hpp>

#include <cmath>
#include <vector>

namespace kasane::gravity {

/// Calls f(l, P_l(x), P_l'(x)) for l = 0, 2, ..., order.                             [Abramowitz & Stegun 8.5.3; DLMF 14.10.5]
template <class F>
KS_FN void each_even_legendre(double x, int order, F f) {
    double even = 1, odd = x, slope = 0;
    f(0, even, slope);
    for (int l = 2; l <= order; l += 2) {
        even = ((2 * l - 1) * x * odd - (l - 1) * even) / l;
        slope += (2 * l - 1) * odd;
        f(l, even, slope);
        odd = ((2 * l + 1) * x * even - l * odd) / (l + 1);
    }
}

/// Multipoles in the memory of any space.
struct MultipoleMoments {
    static constexpr int order = 40;  // the source ends at half the box, so that the next term is below 2^-42
    double radius = 1;                // unit of length of the moments
    View<const double> q;             // for l = 0, 2, ..., order

    struct At {
        double psi = 0, d_R = 0, d_z = 0;
    };
    KS_FN At at(double R, double z) const {
        const double r2 = R * R + z * z, r = std::sqrt(r2), ratio = radius * radius / r2;
        double inverse = 1 / r;
        At a;
        each_even_legendre(z / r, order, [&](int l, double p, double slope) {
            const double moment = q[l / 2] * inverse;
            a.psi += moment * p;
            a.d_R -= moment * R / r2 * ((l + 1) * p + slope * z / r);
            a.d_z -= moment / r2 * ((l + 1) * p * z - slope * R * R / r);
            inverse *= ratio;
        });
        return a;
    }
};

/// psi = sum over even l of q_l P_l(z/r) / r^(l+1), for points outside the source; axisymmetric, mirror-symmetric about the plane.
class Multipoles {
   public:
    static constexpr int order = MultipoleMoments::order;
    Multipoles() = default;
    /// @param mass of the cells, of the half space z > 0 [mass]
    Multipoles(const CylinderGrid& grid, const std::vector<double>& mass);

    using At = MultipoleMoments::At;
    double psi(double R, double z) const { return at(R, z).psi; }
    At at(double R, double z) const { return MultipoleMoments{radius_, view(q_)}.at(R, z); }

    /// @param memory  a TableMemory
    template <class Memory>
    MultipoleMoments moments(Memory& memory) const {
        return {radius_, memory(q_)};
    }

   private:
    double radius_ = 1;
    std::vector<double> q_ = std::vector<double>(order / 2 + 1);
};

/// A PlaneField in the memory of any space.
struct FieldTable {
    struct Node {
        double f, u, v, uv;  // value and derivatives with respect to the indices
    };
    struct Corner {
        const Node* node;  // lower left node of the cell
        double s, t;       // position in the cell, 0 to 1
        bool inside;
    };
    CylinderGrid grid;
    View<const Node> node;  // (R.cells + 1) x (z.cells + 1): the first row and column mirror the second
    MultipoleMoments outside;

    KS_FN Corner locate(double R, double z) const {
        // Node k of an axis lies at u = k - 1/2.
        const double u = grid.R.index(R) + 0.5, v = grid.z.index(std::abs(z)) + 0.5;
        if (!(u < static_cast<double>(grid.R.cells) && v < static_cast<double>(grid.z.cells))) return {nullptr, 0, 0, false};
        const auto i = static_cast<std::size_t>(u), j = static_cast<std::size_t>(v);
        return {node.ptr + (i * (grid.z.cells + 1) + j), u - static_cast<double>(i), v - static_cast<double>(j), true};
    }

    /// Cubic Hermite basis functions of the values and slopes at 0 and 1.
    struct Basis {
        double f0, f1, d0, d1;
    };
    KS_FN static Basis basis(double s) {
        return {(1 + 2 * s) * (1 - s) * (1 - s), s * s * (3 - 2 * s), s * (1 - s) * (1 - s), -s * s * (1 - s)};
    }
    KS_FN static double combine(const Node* lower, const Node* upper, const Basis& a, const Basis& b) {
        const auto value = [&](const Node* n) { return b.f0 * n[0].f + b.f1 * n[1].f + b.d0 * n[0].v + b.d1 * n[1].v; };
        const auto slope = [&](const Node* n) { return b.f0 * n[0].u + b.f1 * n[1].u + b.d0 * n[0].uv + b.d1 * n[1].uv; };
        return a.f0 * value(lower) + a.f1 * value(upper) + a.d0 * slope(lower) + a.d1 * slope(upper);
    }

    KS_FN double psi(double R, double z) const {
        const auto c = locate(R, z);
        if (!c.inside) return outside.at(R, z).psi;
        return combine(c.node, c.node + grid.z.cells + 1, basis(c.s), basis(c.t));
    }
};

class PlaneField {
   public:
    using At = Multipoles::At;
    PlaneField() = default;
    /// @param psi at the centres of the cells
    PlaneField(const CylinderGrid& grid, const std::vector<double>& psi, Multipoles outside);

    double psi(double R, double z) const { return table().psi(R, z); }
    At at(double R, double z) const;

    /// @param memory  a TableMemory
    template <class Memory>
    FieldTable table(Memory& memory) const {
        return {grid_, memory(node_), outside_.moments(memory)};
    }
    const CylinderGrid& grid() const { return grid_; }
    const Multipoles& outside() const { return outside_; }

   private:
    using Node = FieldTable::Node;
    FieldTable table() const {
        TableMemory here(Cpu{});
        return table(here);
    }

    CylinderGrid grid_;
    std::vector<Node> node_;
    Multipoles outside_;
};

}  // namespace kasane::gravity
