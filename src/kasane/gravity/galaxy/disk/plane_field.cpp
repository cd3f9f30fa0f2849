#include <kasane/gravity/galaxy/disk/plane_field.hpp>

#include <algorithm>

namespace kasane::gravity {
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

PlaneField::At PlaneField::at(double R, double z) const {
    const auto field = table();
    const auto c = field.locate(R, z);
    if (!c.inside) return outside_.at(R, z);
    const auto slopes = [](double s) {
        return FieldTable::Basis{-6 * s * (1 - s), 6 * s * (1 - s), (1 - s) * (1 - 3 * s), s * (3 * s - 2)};
    };
    const Node* upper = c.node + grid_.z.cells + 1;
    const auto a = FieldTable::basis(c.s), b = FieldTable::basis(c.t);
    const double height = std::abs(z), d_z = FieldTable::combine(c.node, upper, a, slopes(c.t)) / grid_.z.slope(height);
    return {FieldTable::combine(c.node, upper, a, b), FieldTable::combine(c.node, upper, slopes(c.s), b) / grid_.R.slope(R),
            z < 0 ? -d_z : d_z};
}

}  // namespace kasane::gravity
