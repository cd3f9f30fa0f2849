// Direct solver of the finite-volume Poisson problem on a box of equal cells with zero flux through its sides: cosine transforms along
// x and y (plain sums) leave a tridiagonal system along z for each mode. Shares no code with the sparse module. O(n^4) on n^3 cells.
// Also exact values of the box of unit cells with phi = 0 on top.
#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

namespace kasane::reference {

struct PoissonBox {
    std::size_t nx = 1, ny = 1, nz = 1;
    double hx = 1, hy = 1, hz = 1;  ///< cell widths
    double coefficient = 1;
    bool fixed_bottom = false, fixed_top = true;  ///< phi = 0 at half a cell's distance; otherwise zero flux

    std::size_t cells() const { return nx * ny * nz; }
    std::size_t at(std::size_t i, std::size_t j, std::size_t k) const { return i + nx * (j + ny * k); }
};

namespace detail {

/// Along lines of n values that lie `stride` apart: to the coefficients of cos(pi p (i + 1/2) / n), or back from them.
inline void cosine_transform(std::vector<double>& v, std::size_t n, std::size_t stride, bool back) {
    std::vector<double> basis(n * n), line(n);
    for (std::size_t p = 0; p < n; ++p)
        for (std::size_t i = 0; i < n; ++i)  // the angle is reduced in whole numbers: large arguments would lose digits
            basis[p * n + i] = std::cos(std::numbers::pi * static_cast<double>(p * (2 * i + 1) % (4 * n)) / (2. * static_cast<double>(n)));
    for (std::size_t block = 0; block < v.size(); block += n * stride)
        for (std::size_t s = 0; s < stride; ++s) {
            double* first = v.data() + block + s;
            for (std::size_t i = 0; i < n; ++i) line[i] = first[i * stride];
            for (std::size_t a = 0; a < n; ++a) {
                double sum = 0;
                for (std::size_t c = 0; c < n; ++c) sum += (back ? basis[c * n + a] : basis[a * n + c]) * line[c];
                first[a * stride] = back ? sum : sum * (a == 0 ? 1. : 2.) / static_cast<double>(n);
            }
        }
}

}  // namespace detail

/// x with A x = b, A the matrix of fluxes of that box. Where no face is fixed the mean of b must be zero, and that of x is.
inline std::vector<double> solve(const PoissonBox& box, std::vector<double> b) {
    const double gx = box.coefficient * box.hy * box.hz / box.hx, gy = box.coefficient * box.hx * box.hz / box.hy;
    const double gz = box.coefficient * box.hx * box.hy / box.hz;
    detail::cosine_transform(b, box.nx, 1, false);
    detail::cosine_transform(b, box.ny, box.nx, false);
    const auto eigenvalue = [](std::size_t p, std::size_t n) {
        const double s = std::sin(std::numbers::pi * static_cast<double>(p) / (2. * static_cast<double>(n)));
        return 4 * s * s;
    };
    const std::size_t n = box.nz;
    std::vector<double> diagonal(n), right(n);
    for (std::size_t q = 0; q < box.ny; ++q)
        for (std::size_t p = 0; p < box.nx; ++p) {
            const double sides = gx * eigenvalue(p, box.nx) + gy * eigenvalue(q, box.ny);
            const bool constant = p == 0 && q == 0 && !box.fixed_bottom && !box.fixed_top;  // no z system: the first cell is held at 0
            for (std::size_t k = 0; k < n; ++k) {
                diagonal[k] = sides + gz * ((k > 0 ? 1. : box.fixed_bottom ? 2. : 0.) + (k + 1 < n ? 1. : box.fixed_top ? 2. : 0.));
                right[k] = b[box.at(p, q, k)];
            }
            if (constant) diagonal[0] += gz > 0 ? gz : 1;
            for (std::size_t k = 1; k < n; ++k) {
                const double factor = -gz / diagonal[k - 1];
                diagonal[k] -= factor * -gz;
                right[k] -= factor * right[k - 1];
            }
            for (std::size_t k = n; k-- > 0;) {
                if (k + 1 < n) right[k] += gz * right[k + 1];
                right[k] /= diagonal[k];
            }
            double mean = 0;
            for (const double each : right) mean += each / static_cast<double>(n);
            for (std::size_t k = 0; k < n; ++k) b[box.at(p, q, k)] = constant ? right[k] - mean : right[k];
        }
    detail::cosine_transform(b, box.ny, box.nx, true);
    detail::cosine_transform(b, box.nx, 1, true);
    return b;
}

/// phi in layer k (0-based) of n layers of unit cells, source 1, phi = 0 on top: the face below layer m
/// carries the flux m of all layers under it.
inline double uniform_source(std::size_t k, std::size_t n) {
    double phi = 0.5 * static_cast<double>(n);
    for (std::size_t m = k + 1; m < n; ++m) phi += static_cast<double>(m);
    return phi;
}

/// phi of the first and the last cell for the source i + j + k (1-based) on n^3 unit cells, phi = 0 on top; seven digits.
struct CornerValues {
    std::size_t n;
    double first, last;
};
inline constexpr CornerValues linear_source[] = {{32, 2.012056e4, 9.297409e2}, {64, 1.578581e5, 3.672989e3}, {128, 1.250508e6, 1.459831e4}};

}  // namespace kasane::reference
