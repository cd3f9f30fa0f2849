// Linear elasticity on a grid of unit squares or cubes with bilinear or trilinear elements, the nodes with first coordinate 0 held fixed,
// and its rigid motions. Invariants: unknown d of node v is row v * dimension + d; Young's modulus 1, Poisson's ratio 0.3 (plane strain).
#pragma once

#include <kasane/sparse/matrix/csr.hpp>

#include <array>
#include <cmath>
#include <map>
#include <vector>

namespace kasane::sparse {

struct Elasticity {
    CsrMatrix A;
    std::vector<double> rigid;  ///< [rows][modes]
    int modes = 0;
};

/// Stiffness matrix of one element by 2-point Gauss quadrature in each direction: [corners * dim][corners * dim]
inline std::vector<double> element_stiffness(int dim) {
    const int corners = 1 << dim, n = corners * dim;
    const double nu = 0.3, lame = nu / ((1 + nu) * (1 - 2 * nu)), shear = 0.5 / (1 + nu), point = 0.5 / std::sqrt(3.);
    std::vector<double> K(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), 0.);
    for (int q = 0; q < corners; ++q) {
        std::vector<std::array<double, 3>> gradient(static_cast<std::size_t>(corners));
        for (int c = 0; c < corners; ++c)
            for (int d = 0; d < dim; ++d) {
                double value = (c >> d & 1) ? 1 : -1;
                for (int e = 0; e < dim; ++e) {
                    if (e == d) continue;
                    const double x = 0.5 + ((q >> e & 1) ? point : -point);
                    value *= (c >> e & 1) ? x : 1 - x;
                }
                gradient[static_cast<std::size_t>(c)][static_cast<std::size_t>(d)] = value;
            }
        for (int a = 0; a < n; ++a)
            for (int b = 0; b < n; ++b) {
                const auto& ga = gradient[static_cast<std::size_t>(a / dim)];
                const auto& gb = gradient[static_cast<std::size_t>(b / dim)];
                const auto i = static_cast<std::size_t>(a % dim), j = static_cast<std::size_t>(b % dim);
                double sum = lame * ga[i] * gb[j] + shear * ga[j] * gb[i];
                if (i == j)
                    for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) sum += shear * ga[d] * gb[d];
                K[static_cast<std::size_t>(a * n + b)] += sum / corners;
            }
    }
    return K;
}

/// @param elements  along each direction
inline Elasticity elasticity(int dim, std::array<int, 3> elements) {
    const auto K = element_stiffness(dim);
    const int corners = 1 << dim, n = corners * dim;
    if (dim == 2) elements[2] = 0;
    const std::array<int, 3> nodes = {elements[0] + 1, elements[1] + 1, elements[2] + 1};
    const auto number = [&](int i, int j, int k) { return (i - 1) + elements[0] * (j + nodes[1] * k); };  // without the fixed nodes
    const int rows = dim * elements[0] * nodes[1] * nodes[2];
    std::vector<std::map<int, double>> row(static_cast<std::size_t>(rows));
    for (int k = 0; k < std::max(1, elements[2]); ++k)
        for (int j = 0; j < elements[1]; ++j)
            for (int i = 0; i < elements[0]; ++i)
                for (int a = 0; a < n; ++a)
                    for (int b = 0; b < n; ++b) {
                        const auto place = [&](int unknown) {
                            const int c = unknown / dim, x = i + (c & 1), y = j + (c >> 1 & 1), z = k + (c >> 2 & 1);
                            return x == 0 ? -1 : dim * number(x, y, z) + unknown % dim;
                        };
                        if (place(a) >= 0 && place(b) >= 0)
                            row[static_cast<std::size_t>(place(a))][place(b)] += K[static_cast<std::size_t>(a * n + b)];
                    }
    Elasticity problem;
    problem.A.begin.push_back(0);
    for (const auto& entries : row) {
        for (const auto& [column, value] : entries) problem.A.column.push_back(column), problem.A.value.push_back(value);
        problem.A.begin.push_back(static_cast<index_t>(problem.A.column.size()));
    }
    problem.modes = dim == 2 ? 3 : 6;
    for (int k = 0; k < nodes[2]; ++k)
        for (int j = 0; j < nodes[1]; ++j)
            for (int i = 1; i < nodes[0]; ++i) {
                const std::array<double, 3> x = {double(i), double(j), double(k)};
                for (int d = 0; d < dim; ++d) {
                    std::vector<double> modes(static_cast<std::size_t>(problem.modes), 0.);
                    modes[static_cast<std::size_t>(d)] = 1;
                    int mode = dim;
                    for (int e = 0; e < dim; ++e)
                        for (int f = e + 1; f < dim; ++f, ++mode)
                            modes[static_cast<std::size_t>(mode)] = d == e   ? -x[static_cast<std::size_t>(f)]
                                                                    : d == f ? x[static_cast<std::size_t>(e)]
                                                                             : 0;
                    problem.rigid.insert(problem.rigid.end(), modes.begin(), modes.end());
                }
            }
    return problem;
}

}  // namespace kasane::sparse
