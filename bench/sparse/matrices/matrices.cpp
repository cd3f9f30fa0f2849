#include <bench/sparse/matrices/assembly.hpp>
#include <bench/sparse/matrices/matrices.hpp>
#include <bench/sparse/matrices/triangulation.hpp>
#include <kasane/core/math/random.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <utility>

namespace kasane::bench {

using namespace sparse;

namespace {

constexpr std::uint64_t seed = 20250131;

index_t root(index_t size, double power) { return std::max<index_t>(4, std::llround(std::pow(static_cast<double>(size), power))); }

// ---- boxes of side^3 unit cells

struct Cell {
    index_t at[3], number;
};

template <class Visit>
void for_each_cell(index_t side, const Visit& visit) {
    for (index_t k = 0; k < side; ++k)
        for (index_t j = 0; j < side; ++j)
            for (index_t i = 0; i < side; ++i) visit(Cell{{i, j, k}, i + side * (j + side * k)});
}

/// Finite volumes, a value of zero half a cell outside. @param conductivity  (cell, axis)
template <class Conductivity>
CsrMatrix box_diffusion(index_t side, const Conductivity& conductivity) {
    Assembly sum(side * side * side);
    for_each_cell(side, [&](const Cell& cell) {
        const index_t stride[3] = {1, side, side * side};
        for (int axis = 0; axis < 3; ++axis) {
            const double here = conductivity(cell.number, axis);
            if (cell.at[axis] == 0) sum.add(cell.number, cell.number, 2 * here);
            if (cell.at[axis] + 1 == side) {
                sum.add(cell.number, cell.number, 2 * here);
            } else {
                const index_t other = cell.number + stride[axis];
                const double there = conductivity(other, axis);
                sum.add_spring(cell.number, other, 2 * here * there / (here + there));
            }
        }
    });
    return sum.matrix();
}

CsrMatrix anisotropic_box(index_t size) {
    return box_diffusion(root(size, 1. / 3), [](index_t, int axis) { return axis == 0 ? 1. : axis == 1 ? 10. : 100.; });
}

CsrMatrix random_box(index_t size) {
    const index_t side = root(size, 1. / 3);
    std::vector<double> value;
    for (index_t cell = 0; cell < side * side * side; ++cell) {
        RandomStream random(seed, static_cast<std::uint64_t>(cell));
        const double u = random.uniform(), v = random.uniform();
        value.push_back(std::exp(3 * std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v)));
    }
    return box_diffusion(side, [&](index_t cell, int) { return value[static_cast<std::size_t>(cell)]; });
}

/// Upwind differences; the wind turns around an axis through the middle and blows along it.
CsrMatrix convection_box(index_t size) {
    const index_t side = root(size, 1. / 3);
    const double h = 1. / static_cast<double>(side), nu = 0.005;
    Assembly sum(side * side * side);
    for_each_cell(side, [&](const Cell& cell) {
        const index_t stride[3] = {1, side, side * side};
        const double x = h * (static_cast<double>(cell.at[0]) + 0.5) - 0.5, y = h * (static_cast<double>(cell.at[1]) + 0.5) - 0.5;
        const double wind[3] = {-y, x, 0.2};
        for (int axis = 0; axis < 3; ++axis) {
            const double low = nu + h * std::max(wind[axis], 0.), high = nu + h * std::max(-wind[axis], 0.);
            sum.add(cell.number, cell.number, low + high);
            if (cell.at[axis] > 0) sum.add(cell.number, cell.number - stride[axis], -low);
            if (cell.at[axis] + 1 < side) sum.add(cell.number, cell.number + stride[axis], -high);
        }
    });
    return sum.matrix();
}

// ---- elasticity of trilinear unit cubes, Young's modulus 1, Poisson's ratio 0.3

constexpr double lame = 0.3 / (1.3 * 0.4), shear = 1 / (2 * 1.3);

/// Integral of (lame div u div v + 2 shear e(u) : e(v)) for gradients a of u's and b of v's shape function, components p and q.
double elastic(const double* a, const double* b, int dimensions, int p, int q) {
    double dot = 0;
    for (int k = 0; k < dimensions; ++k) dot += a[k] * b[k];
    return lame * a[p] * b[q] + shear * (a[q] * b[p] + (p == q ? dot : 0.));
}

std::vector<double> cube_stiffness() {
    std::vector<double> K(24 * 24, 0.);
    const double gauss[2] = {0.5 - 0.5 / std::sqrt(3.), 0.5 + 0.5 / std::sqrt(3.)};
    for (int point = 0; point < 8; ++point) {
        const double at[3] = {gauss[point & 1], gauss[point >> 1 & 1], gauss[point >> 2 & 1]};
        double gradient[8][3];
        for (int corner = 0; corner < 8; ++corner)
            for (int a = 0; a < 3; ++a) {
                gradient[corner][a] = 1;
                for (int k = 0; k < 3; ++k) {
                    const bool high = corner >> k & 1;
                    gradient[corner][a] *= k == a ? (high ? 1 : -1) : (high ? at[k] : 1 - at[k]);
                }
            }
        for (int i = 0; i < 24; ++i)
            for (int j = 0; j < 24; ++j)
                K[static_cast<std::size_t>(24 * i + j)] += elastic(gradient[i / 3], gradient[j / 3], 3, i % 3, j % 3) / 8;
    }
    return K;
}

/// A beam of side x side x 2 side cubes, clamped at one end.
CsrMatrix elastic_box(index_t size) {
    const index_t side = std::max<index_t>(2, root(size / 6, 1. / 3) - 1), points = side + 1;
    const auto K = cube_stiffness();
    Assembly sum(3 * points * points * 2 * side);
    for (index_t k = 0; k < 2 * side; ++k)
        for (index_t j = 0; j < side; ++j)
            for (index_t i = 0; i < side; ++i) {
                index_t row[24];  // the layer k = 0 is clamped: its rows are negative
                for (int m = 0; m < 24; ++m) {
                    const int corner = m / 3;
                    row[m] = 3 * ((i + (corner & 1)) + points * ((j + (corner >> 1 & 1)) + points * (k + (corner >> 2) - 1))) + m % 3;
                }
                for (int a = 0; a < 24; ++a)
                    for (int b = 0; b < 24; ++b)
                        if (row[a] >= 0 && row[b] >= 0) {
                            // Of both halves of the element matrix one, so that the sum is symmetric to the last bit.
                            const int low = std::min(a, b), high = std::max(a, b);
                            sum.add(row[a], row[b], K[static_cast<std::size_t>(24 * low + high)]);
                        }
            }
    return sum.matrix();
}

// ---- linear finite elements on a triangulation of random points

/// A triangulation without the points that have a given value: those of the border at the left.
struct Mesh {
    Triangulation all;
    std::vector<index_t> free;  ///< [points] number among the free ones; negative: given, or in no triangle
    index_t count = 0;

    explicit Mesh(index_t size, bool fixed = true) : all(random_triangulation(root(size, 0.5), seed)), free(all.point.size(), -1) {
        std::map<std::pair<std::int32_t, std::int32_t>, int> sides;
        for (const auto& corner : all.triangle)
            for (std::size_t k = 0; k < 3; ++k) {
                ++sides[std::minmax(corner[k], corner[(k + 1) % 3])];
                free[static_cast<std::size_t>(corner[k])] = 0;
            }
        if (fixed)
            for (const auto& [ends, triangles] : sides)
                if (triangles == 1 && all.point[static_cast<std::size_t>(ends.first)][0] < 0.05)
                    free[static_cast<std::size_t>(ends.first)] = free[static_cast<std::size_t>(ends.second)] = -1;
        for (auto& number : free)
            if (number == 0) number = count++;
    }
    index_t number(std::int32_t point) const { return free[static_cast<std::size_t>(point)]; }
};

struct Element {
    double area, gradient[3][2], middle[2];
    Element(const Triangulation& mesh, const std::array<std::int32_t, 3>& corner) {
        const auto& [a, b, c] = corner;
        const std::array<double, 2> p[3] = {mesh.point[static_cast<std::size_t>(a)], mesh.point[static_cast<std::size_t>(b)],
                                            mesh.point[static_cast<std::size_t>(c)]};
        const double twice = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
        area = std::fabs(twice) / 2;
        for (int k = 0; k < 3; ++k) {
            const auto &q = p[(k + 1) % 3], &r = p[(k + 2) % 3];
            gradient[k][0] = (q[1] - r[1]) / twice, gradient[k][1] = (r[0] - q[0]) / twice;
        }
        for (int a2 = 0; a2 < 2; ++a2) middle[a2] = (p[0][a2] + p[1][a2] + p[2][a2]) / 3;
    }
    /// Integral of grad phi_i . grad phi_j.
    double stiffness(int i, int j) const { return area * (gradient[i][0] * gradient[j][0] + gradient[i][1] * gradient[j][1]); }
};

/// Sixty disks that conduct a thousand times better or worse than the rest.
CsrMatrix diffusion_mesh(index_t size) {
    const Mesh mesh(size);
    struct Disk {
        double x, y, radius, conductivity;
    };
    std::vector<Disk> disks;
    RandomStream random(seed, 1);
    for (int k = 0; k < 60; ++k) {
        const double x = random.uniform(), y = random.uniform(), radius = 0.02 + 0.04 * random.uniform();
        disks.push_back({x, y, radius, k % 2 == 0 ? 1e3 : 1e-3});
    }
    Assembly sum(mesh.count);
    for (const auto& corner : mesh.all.triangle) {
        const Element element(mesh.all, corner);
        double conductivity = 1;
        for (const auto& disk : disks)
            if (std::hypot(element.middle[0] - disk.x, element.middle[1] - disk.y) < disk.radius) conductivity = disk.conductivity;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j)
                if (const index_t row = mesh.number(corner[static_cast<std::size_t>(i)]),
                    column = mesh.number(corner[static_cast<std::size_t>(j)]);
                    row >= 0 && column >= 0)
                    sum.add(row, column, conductivity * element.stiffness(i, j));
    }
    return sum.matrix();
}

/// Consistent mass matrix on points that crowd towards the left: x^3 in place of x.
CsrMatrix mass_mesh(index_t size) {
    Mesh mesh(size, false);
    for (auto& point : mesh.all.point) point[0] = point[0] * point[0] * point[0];
    Assembly sum(mesh.count);
    for (const auto& corner : mesh.all.triangle) {
        const double area = Element(mesh.all, corner).area;
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t j = 0; j < 3; ++j) sum.add(mesh.number(corner[i]), mesh.number(corner[j]), area / (i == j ? 6 : 12));
    }
    return sum.matrix();
}

/// Plane strain, clamped at the left.
CsrMatrix elastic_mesh(index_t size) {
    const Mesh mesh(size / 2);
    Assembly sum(2 * mesh.count);
    for (const auto& corner : mesh.all.triangle) {
        const Element element(mesh.all, corner);
        for (int a = 0; a < 6; ++a)
            for (int b = 0; b < 6; ++b) {
                const index_t row = mesh.number(corner[static_cast<std::size_t>(a / 2)]),
                              column = mesh.number(corner[static_cast<std::size_t>(b / 2)]);
                if (row < 0 || column < 0) continue;
                const int low = std::min(a, b), high = std::max(a, b);
                sum.add(2 * row + a % 2, 2 * column + b % 2,
                        element.area * elastic(element.gradient[low / 2], element.gradient[high / 2], 2, low % 2, high % 2));
            }
    }
    return sum.matrix();
}

/// Edge-averaged finite elements for -nu laplacian u + div (w u), w a rotation around the middle. [Xu & Zikatanov, Math. Comp. 68 (1999)]
CsrMatrix convection_mesh(index_t size) {
    const Mesh mesh(size);
    constexpr double nu = 1e-3;
    const auto bernoulli = [](double s) { return std::fabs(s) < 1e-6 ? 1 - s / 2 : s / std::expm1(s); };
    Assembly sum(mesh.count);
    for (const auto& corner : mesh.all.triangle) {
        const Element element(mesh.all, corner);
        for (int k = 0; k < 3; ++k) {
            const auto i = corner[static_cast<std::size_t>(k)], j = corner[static_cast<std::size_t>((k + 1) % 3)];
            const auto &p = mesh.all.point[static_cast<std::size_t>(i)], &q = mesh.all.point[static_cast<std::size_t>(j)];
            const double x = (p[0] + q[0]) / 2 - 0.5, y = (p[1] + q[1]) / 2 - 0.5;
            const double s = (-y * (q[0] - p[0]) + x * (q[1] - p[1])) / nu;
            const double weight = -nu * element.stiffness(k, (k + 1) % 3), out = weight * bernoulli(-s), in = weight * bernoulli(s);
            const index_t a = mesh.number(i), b = mesh.number(j);
            // The flow from i to j is out u_i - in u_j.
            if (a >= 0) sum.add(a, a, out);
            if (b >= 0) sum.add(b, b, in);
            if (a >= 0 && b >= 0) sum.add(a, b, -in), sum.add(b, a, -out);
        }
    }
    return sum.matrix();
}

// ---- graphs

/// Random points in a cube, coupled to all others within a radius that has fourteen of them on average; 1e-4 on the diagonal.
CsrMatrix geometric_graph(index_t size) {
    const double n = static_cast<double>(size), radius = std::cbrt(14 / (4. / 3 * std::numbers::pi * n));
    const auto bins = std::max<index_t>(1, static_cast<index_t>(1 / radius));
    std::vector<std::pair<index_t, std::array<double, 3>>> point;
    RandomStream random(seed, 2);
    for (index_t i = 0; i < size; ++i) {
        std::array<double, 3> at{};
        index_t bin = 0;
        for (auto& x : at) x = random.uniform(), bin = bins * bin + static_cast<index_t>(static_cast<double>(bins) * x);
        point.push_back({bin, at});
    }
    std::ranges::sort(point);
    std::vector<index_t> first(static_cast<std::size_t>(bins * bins * bins) + 1, 0);
    for (const auto& one : point) ++first[static_cast<std::size_t>(one.first) + 1];
    for (std::size_t b = 1; b < first.size(); ++b) first[b] += first[b - 1];
    Assembly sum(size);
    for (index_t i = 0; i < size; ++i) {
        const auto& [bin, p] = point[static_cast<std::size_t>(i)];
        sum.add(i, i, 1e-4);
        const index_t at[3] = {bin / (bins * bins), bin / bins % bins, bin % bins};
        for (index_t near = 0; near < 27; ++near) {
            const index_t x = at[0] + near / 9 - 1, y = at[1] + near / 3 % 3 - 1, z = at[2] + near % 3 - 1;
            if (std::min({x, y, z}) < 0 || std::max({x, y, z}) >= bins) continue;
            const auto other = static_cast<std::size_t>((x * bins + y) * bins + z);
            for (index_t j = std::max(first[other], i + 1); j < first[other + 1]; ++j) {
                const auto& q = point[static_cast<std::size_t>(j)].second;
                const double distance = std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
                if (distance < radius) sum.add_spring(i, j, 1 / (distance / radius + 0.01));
            }
        }
    }
    return sum.matrix();
}

/// Every new node is coupled to four older ones, chosen in proportion to their number of couplings; 1e-2 on the diagonal.
CsrMatrix attached_graph(index_t size) {  // [Barabasi & Albert, Science 286 (1999) 509]
    RandomStream random(seed, 3);
    std::vector<index_t> ends{0};
    Assembly sum(size);
    for (index_t i = 0; i < size; ++i) {
        sum.add(i, i, 1e-2);
        const auto there = static_cast<double>(ends.size());
        for (int k = 0; i > 0 && k < 4; ++k) {
            const index_t j = ends[static_cast<std::size_t>(random.uniform() * there)];
            sum.add_spring(i, j, 0.5 + random.uniform());
            ends.push_back(i);
            ends.push_back(j);
        }
    }
    return sum.matrix();
}

}  // namespace

std::vector<TestMatrix> test_matrices() {
    return {
        {"box, anisotropic", "7 points, conductivities 1, 10, 100 along the axes", true, false, anisotropic_box},
        {"box, random", "7 points, the logarithm of the conductivity normal with deviation 3 in each cell", true, false, random_box},
        {"box, convection", "7 points, upwind, a turning wind, 1/200 of diffusion", false, false, convection_box},
        {"box, elasticity", "trilinear cubes, a clamped beam", true, false, elastic_box},
        {"mesh, diffusion", "linear elements on a Delaunay triangulation, disks of 1000 and 1/1000", true, true, diffusion_mesh},
        {"mesh, mass", "linear elements on a graded triangulation, consistent mass matrix", true, true, mass_mesh},
        {"mesh, elasticity", "linear elements on a Delaunay triangulation, plane strain, clamped at one side", true, true, elastic_mesh},
        {"mesh, convection", "edge-averaged elements on a Delaunay triangulation, rotation, 1/1000 of diffusion", false, true,
         convection_mesh},
        {"graph, geometric", "Laplacian of random points in a cube, 14 neighbours on average, plus 1e-4", true, true, geometric_graph},
        {"graph, attached", "Laplacian of a graph by preferential attachment, plus 1e-2", true, true, attached_graph}};
}

}  // namespace kasane::bench
