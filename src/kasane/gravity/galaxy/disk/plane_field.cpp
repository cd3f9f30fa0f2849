#include <kasane/gravity/galaxy/disk/plane_field.hpp>

#include <algorithm>

namespace kasane::gravity {
namespace {

/// Calls f(l, P_l(x), P_l'(x)) for l = 0, 2, ..., order.                             [Abramowitz & Stegun 8.5.3; DLMF 14.10.5]
template <class F>
void each_even_legendre(double x, int order, F f) {
    double even = 1, odd = x, slope = 0;
    f(0, even, slope);
    for (int l = 2; l <= order; l += 2) {
        even = ((2 * l - 1) * x * odd - (l - 1) * even) / l;
        slope += (2 * l - 1) * odd;
        f(l, even, slope);
        odd = ((2 * l + 1) * x * even - l * odd) / (l + 1);
    }
}

}  // namespace

Multipoles::Multipoles(const CylinderGrid& grid, const std::vector<double>& mass) : radius_(std::min(grid.R.end(), grid.z.end())) {
    for (std::size_t i = 0; i < grid.R.cells; ++i) {
        const double R = grid.R.centre(i);
        for (std::size_t j = 0; j < grid.z.cells; ++j) {
            double moment = 2 * mass[i * grid.z.cells + j];
            if (moment == 0) continue;
            const double z = grid.z.centre(j), r2 = R * R + z * z, ratio = r2 / (radius_ * radius_);
            each_even_legendre(z / std::sqrt(r2), order, [&](int l, double p, double) {
                q_[static_cast<std::size_t>(l / 2)] += moment * p;
                moment *= ratio;
            });
        }
    }
}

Multipoles::At Multipoles::at(double R, double z) const {
    const double r2 = R * R + z * z, r = std::sqrt(r2), ratio = radius_ * radius_ / r2;
    double inverse = 1 / r;
    At a;
    each_even_legendre(z / r, order, [&](int l, double p, double slope) {
        const double q = q_[static_cast<std::size_t>(l / 2)] * inverse;
        a.psi += q * p;
        a.d_R -= q * R / r2 * ((l + 1) * p + slope * z / r);
        a.d_z -= q / r2 * ((l + 1) * p * z - slope * R * R / r);
        inverse *= ratio;
    });
    return a;
}

double Multipoles::psi(double R, double z) const { return at(R, z).psi; }

PlaneField::PlaneField(const CylinderGrid& grid, const std::vector<double>& psi, Multipoles outside)
    : grid_(grid), node_((grid.R.cells + 1) * (grid.z.cells + 1)), outside_(std::move(outside)) {
    const std::size_t nR = grid.R.cells, nz = grid.z.cells;
    // Slopes of fourth order, of second order at the outer faces, where the potential is smooth. Cell -k mirrors cell k - 1.
    const auto slope = [](auto value, std::size_t i, std::size_t n) {
        const auto k = static_cast<std::ptrdiff_t>(i);
        const auto v = [&](std::ptrdiff_t m) { return value(static_cast<std::size_t>(m < 0 ? -m - 1 : m)); };
        if (i + 1 == n) return (3 * v(k) - 4 * v(k - 1) + v(k - 2)) / 2;
        if (i + 2 == n) return (v(k + 1) - v(k - 1)) / 2;
        return (8 * (v(k + 1) - v(k - 1)) - (v(k + 2) - v(k - 2))) / 12;
    };
    const auto at = [&](std::size_t i, std::size_t j) -> Node& { return node_[(i + 1) * (nz + 1) + j + 1]; };
    for (std::size_t i = 0; i < nR; ++i) {
        for (std::size_t j = 0; j < nz; ++j) {
            at(i, j) = {psi[i * nz + j], slope([&](std::size_t k) { return psi[k * nz + j]; }, i, nR),
                        slope([&](std::size_t k) { return psi[i * nz + k]; }, j, nz), 0};
        }
    }
    for (std::size_t i = 0; i < nR; ++i) {
        for (std::size_t j = 0; j < nz; ++j) at(i, j).uv = slope([&](std::size_t k) { return at(i, k).u; }, j, nz);
    }
    for (std::size_t j = 0; j < nz; ++j) {
        const Node& n = at(0, j);
        node_[j + 1] = {n.f, -n.u, n.v, -n.uv};
    }
    for (std::size_t i = 0; i <= nR; ++i) {
        const Node& n = node_[i * (nz + 1) + 1];
        node_[i * (nz + 1)] = {n.f, n.u, -n.v, -n.uv};
    }
}

PlaneField::Corner PlaneField::locate(double R, double z) const {
    // Node k of an axis lies at u = k - 1/2.
    const double u = grid_.R.index(R) + 0.5, v = grid_.z.index(std::abs(z)) + 0.5;
    if (!(u < static_cast<double>(grid_.R.cells) && v < static_cast<double>(grid_.z.cells))) return {nullptr, 0, 0, false};
    const auto i = static_cast<std::size_t>(u), j = static_cast<std::size_t>(v);
    return {&node_[i * (grid_.z.cells + 1) + j], u - static_cast<double>(i), v - static_cast<double>(j), true};
}

namespace {

/// Cubic Hermite basis functions of the values and slopes at 0 and 1, and their derivatives.
struct Basis {
    double f0, f1, d0, d1;
};
Basis basis(double s) { return {(1 + 2 * s) * (1 - s) * (1 - s), s * s * (3 - 2 * s), s * (1 - s) * (1 - s), -s * s * (1 - s)}; }
Basis basis_slope(double s) { return {-6 * s * (1 - s), 6 * s * (1 - s), (1 - s) * (1 - 3 * s), s * (3 * s - 2)}; }

template <class Node>
double combine(const Node* lower, const Node* upper, const Basis& a, const Basis& b) {
    const auto along_z = [&](const Node* n) {
        return std::pair{b.f0 * n[0].f + b.f1 * n[1].f + b.d0 * n[0].v + b.d1 * n[1].v,
                         b.f0 * n[0].u + b.f1 * n[1].u + b.d0 * n[0].uv + b.d1 * n[1].uv};
    };
    const auto [f0, u0] = along_z(lower);
    const auto [f1, u1] = along_z(upper);
    return a.f0 * f0 + a.f1 * f1 + a.d0 * u0 + a.d1 * u1;
}

}  // namespace

double PlaneField::psi(double R, double z) const {
    const auto c = locate(R, z);
    if (!c.inside) return outside_.psi(R, z);
    return combine(c.node, c.node + grid_.z.cells + 1, basis(c.s), basis(c.t));
}

PlaneField::At PlaneField::at(double R, double z) const {
    const auto c = locate(R, z);
    if (!c.inside) return outside_.at(R, z);
    const Node* upper = c.node + grid_.z.cells + 1;
    const Basis a = basis(c.s), b = basis(c.t);
    const double height = std::abs(z), d_z = combine(c.node, upper, a, basis_slope(c.t)) / grid_.z.slope(height);
    return {combine(c.node, upper, a, b), combine(c.node, upper, basis_slope(c.s), b) / grid_.R.slope(R), z < 0 ? -d_z : d_z};
}

}  // namespace kasane::gravity
