#include <kasane/core/device/parallel.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/poisson/tensor_scheme.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace kasane::sparse {
namespace {

using Triple = std::array<index_t, 3>;

/// Place of K_de in PoissonProblem::tensor.
constexpr std::size_t component(int d, int e) {
    constexpr std::size_t place[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    return place[d][e];
}

double tensor_value(const PoissonProblem& problem, std::size_t c, index_t row) {
    const auto& values = problem.tensor[c];
    return values.empty() ? 0 : values.size() == 1 ? values[0] : values[static_cast<std::size_t>(row)];
}

/// Number of cells with a tensor of their own.
index_t own_tensors(const PoissonProblem& problem) {
    const bool same = std::ranges::all_of(problem.tensor, [](const auto& values) { return values.size() <= 1; });
    return same ? 1 : problem.rows();
}

/// The smallest pivot of K scaled to a unit diagonal, which is above 0 for a positive definite K; NaN where the diagonal is not positive.
double scaled_pivot(const PoissonProblem& problem, index_t row) {
    std::array<double, 6> K;
    for (std::size_t c = 0; c < 6; ++c) K[c] = tensor_value(problem, c, row);
    if (!(K[0] > 0 && K[3] > 0 && K[5] > 0)) return std::numeric_limits<double>::quiet_NaN();
    const double xy = K[1] / std::sqrt(K[0]) / std::sqrt(K[3]), xz = K[2] / std::sqrt(K[0]) / std::sqrt(K[5]),
                 yz = K[4] / std::sqrt(K[3]) / std::sqrt(K[5]);
    const double second = (1 - xy) * (1 + xy), below = yz - xy * xz;
    if (!(second > 0)) return second;
    return std::min(second, (1 - xz) * (1 + xz) - below * below / second);
}

constexpr double least_pivot = 1e-12;  ///< below it rounding of the components decides the sign

struct Largest {
    double value;
    Largest& operator+=(const Largest& other) {
        value = std::max(value, other.value);
        return *this;
    }
};

/// The largest eigenvalue over the least one of a symmetric positive definite matrix of trace 1; infinite where rounding hides the latter.
double eigenvalue_ratio(double (&K)[3][3]) {
    double square = 0;
    for (int d = 0; d < 3; ++d) {
        K[d][d] -= 1. / 3;
        for (int e = 0; e < 3; ++e) square += K[d][e] * K[d][e];
    }
    const double p = std::sqrt(square / 6);
    if (!(p > 0)) return 1;
    // The roots of the characteristic polynomial: 1/3 + 2 p cos(angle + 2 pi k / 3).
    const double determinant = K[0][0] * (K[1][1] * K[2][2] - K[1][2] * K[2][1]) - K[0][1] * (K[1][0] * K[2][2] - K[1][2] * K[2][0]) +
                               K[0][2] * (K[1][0] * K[2][1] - K[1][1] * K[2][0]);
    const double angle = std::acos(std::clamp(determinant / (2 * p * p * p), -1., 1.)) / 3;
    const double least = 1. / 3 + 2 * p * std::cos(angle + 2 * std::numbers::pi / 3);
    return (1. / 3 + 2 * p * std::cos(angle)) / std::max(least, 0.);
}

/// Which pairs of directions the tensor couples.
struct Couplings {
    bool xy, xz, yz;
    explicit Couplings(const PoissonProblem& problem)
        : xy(!problem.tensor[1].empty()), xz(!problem.tensor[2].empty()), yz(!problem.tensor[4].empty()) {}
    int count() const { return xy + xz + yz; }
    /// Whether cells at these offsets along x, y, z are coupled. Two couplings reach all cells around a corner.
    bool join(bool x, bool y, bool z) const {
        if (x + y + z <= 1 || count() >= 2) return true;
        return (xy && !z) || (xz && !y) || (yz && !x);
    }
};

/// The octants around one corner, numbered by bits: bit d is set where the octant is above the corner along d.
struct CornerSystem {
    std::array<double, 28> coupling{};  ///< entries of A between two octants
    std::array<double, 8> outer{};      ///< sum of an octant's row: what it conducts to potentials that faces hold
    std::array<double, 8> load{};       ///< contribution to b

    static std::size_t pair(int a, int b) {
        const int low = std::min(a, b), high = std::max(a, b);
        return static_cast<std::size_t>(low * (15 - low) / 2 + high - low - 1);
    }
};

/// The part of a face across direction d that an octant touches: 12 around a corner.
constexpr int face_part(int octant, int d) {
    const int first = d == 0 ? 1 : 0, second = d == 2 ? 1 : 2;
    return 4 * d + (octant >> first & 1) + 2 * (octant >> second & 1);
}

/// Sets up and eliminates corners.
class Corners {
   public:
    /// @param values  of the faces; null: loads are not needed
    Corners(const PoissonProblem& problem, const FaceValues* values) : problem_(problem), box_(problem), values_(values) {}

    const Box& box() const { return box_; }
    /// Corners along a direction.
    index_t count(int d) const { return problem_.cells[static_cast<std::size_t>(d)] + (box_.periodic(d) ? 0 : 1); }
    /// The corner below or above a cell along a direction.
    index_t of_cell(int d, index_t at, bool upper) const { return upper && at + 1 == count(d) ? 0 : at + upper; }
    bool at_boundary(const Triple& corner) const {
        for (const int d : {0, 1, 2})
            if (!box_.periodic(d) && (at(corner, d) == 0 || at(corner, d) == at(problem_.cells, d))) return true;
        return false;
    }

    CornerSystem operator()(const Triple& corner) const {
        Local local;
        std::array<Triple, 8> cell;
        std::array<bool, 8> inside;
        for (int o = 0; o < 8; ++o) inside[static_cast<std::size_t>(o)] = place(corner, o, cell[static_cast<std::size_t>(o)]);
        for (int o = 0; o < 8; ++o)
            for (int d = 0; d < 3; ++d)
                if (inside[static_cast<std::size_t>(o)])
                    add_face(local, o, d, cell[static_cast<std::size_t>(o)], inside[static_cast<std::size_t>(o ^ (1 << d))]);
        for (int o = 0; o < 8; ++o)
            if (inside[static_cast<std::size_t>(o)]) add_octant(local, o, cell[static_cast<std::size_t>(o)]);
        return eliminated(local);
    }

   private:
    static constexpr int ones = 8, given = 9, columns = 10;  ///< columns 0 to 7 are octants

    /// The quadratic form of a corner. Faces of Dirichlet conditions are not unknowns: they are in the last two columns.
    struct Local {
        double faces[12][12] = {};        ///< between unknown parts of faces
        double others[12][columns] = {};  ///< to octants; to potentials outside, all 1; to potentials outside as they are, with fluxes
        double outside[8][2] = {};        ///< from octants to potentials outside, all 1 and as they are
        double held[12] = {};             ///< potential of a face that is not unknown
        bool unknown[12] = {};
    };

    static index_t at(const Triple& triple, int d) { return triple[static_cast<std::size_t>(d)]; }

    /// The cell of an octant. @returns whether it is in the box
    bool place(const Triple& corner, int octant, Triple& cell) const {
        bool inside = true;
        for (int d = 0; d < 3; ++d) {
            const index_t n = at(problem_.cells, d), raw = at(corner, d) - 1 + (octant >> d & 1);
            const index_t here = !box_.periodic(d) ? raw : raw < 0 ? n - 1 : raw == n ? 0 : raw;
            cell[static_cast<std::size_t>(d)] = here;
            inside = inside && here >= 0 && here < n;
        }
        return inside;
    }

    /// Declares the part of a face between an octant in the box and the next octant, or its condition.
    void add_face(Local& local, int octant, int d, const Triple& cell, bool has_other) const {
        const int f = face_part(octant, d);
        local.unknown[f] = true;
        if (has_other) return;
        const bool upper = !(octant >> d & 1);
        const auto& condition = box_.face(d, upper);
        const double value = values_ ? values_->at(d, upper, cell) : 0, area = box_.area(d, cell) / 4;
        if (condition.kind == BoundaryKind::dirichlet) {
            local.unknown[f] = false;
            local.held[f] = value;
        } else if (condition.kind == BoundaryKind::robin) {
            const double g = condition.transfer * area;
            local.faces[f][f] += g;
            local.others[f][ones] -= g;
            local.others[f][given] -= g * value;
        } else {
            local.others[f][given] += area * value;
        }
    }

    /// Adds 1/2 V g.K g of an octant, where g_d = (face - centre) / (+-h_d / 2).
    void add_octant(Local& local, int octant, const Triple& cell) const {
        const index_t row = box_.row(cell[0], cell[1], cell[2]);
        const double volume = box_.volume(cell[0], cell[1], cell[2]) / 8;
        double to_face[3];  // 1 / (+-h_d / 2)
        for (int d = 0; d < 3; ++d) to_face[d] = (octant >> d & 1 ? -2 : 2) / box_.width(d, at(cell, d));
        for (int d = 0; d < 3; ++d) {
            const int f = face_part(octant, d);
            double to_centre = 0;
            for (int e = 0; e < 3; ++e) {
                const double entry = volume * to_face[d] * to_face[e] * tensor_value(problem_, component(d, e), row);
                to_centre -= entry;
                if (!local.unknown[f]) continue;
                const int g = face_part(octant, e);
                if (local.unknown[g])
                    local.faces[f][g] += entry;
                else
                    local.others[f][ones] += entry, local.others[f][given] += entry * local.held[g];
            }
            if (local.unknown[f])
                local.others[f][octant] += to_centre;
            else
                local.outside[octant][0] += to_centre, local.outside[octant][1] += to_centre * local.held[f];
        }
    }

    /// Eliminates the parts of faces by a Cholesky factorisation. Diagonal entries of A are not computed here but from sums of rows, where
    /// nothing cancels.
    static CornerSystem eliminated(Local& local) {
        auto& L = local.faces;
        auto& W = local.others;  // becomes L^-1 of itself
        for (int f = 0; f < 12; ++f) {
            if (!local.unknown[f]) continue;
            for (int g = 0; g < f; ++g) {
                if (!local.unknown[g] || L[f][g] == 0) continue;
                for (int c = 0; c < columns; ++c) W[f][c] -= L[f][g] * W[g][c];
            }
            const double pivot = std::sqrt(L[f][f]);
            for (int c = 0; c < columns; ++c) W[f][c] /= pivot;
            for (int below = f + 1; below < 12; ++below) L[below][f] /= pivot;
            for (int below = f + 1; below < 12; ++below)
                for (int g = f + 1; g <= below; ++g) L[below][g] -= L[below][f] * L[g][f];
        }
        CornerSystem system;
        const auto product = [&](int a, int b) {
            double sum = 0;
            for (int f = 0; f < 12; ++f) sum += W[f][a] * W[f][b];
            return sum;
        };
        for (int a = 0; a < 8; ++a) {
            for (int b = a + 1; b < 8; ++b) system.coupling[CornerSystem::pair(a, b)] = -product(a, b);
            system.outer[static_cast<std::size_t>(a)] = product(a, ones) - local.outside[a][0];
            system.load[static_cast<std::size_t>(a)] = product(a, given) - local.outside[a][1];
        }
        return system;
    }

    const PoissonProblem& problem_;
    Box box_;
    const FaceValues* values_;
};

/// Cells at -1, 0 and 1 along a direction that exist.
int around(const Box& box, int d, index_t at, index_t n) { return box.periodic(d) ? 3 : 1 + (at > 0) + (at < n - 1); }

index_t row_entries(const Couplings& couplings, int x, int y, int z) {
    if (couplings.count() >= 2) return x * y * z;
    if (couplings.xy) return x * y + z - 1;
    if (couplings.xz) return x * z + y - 1;
    return couplings.yz ? y * z + x - 1 : x + y + z - 2;
}

/// The corners of one plane across z.
using CornerPlane = std::vector<CornerSystem>;

void compute_plane(const Corners& corners, index_t k, CornerPlane& plane) {
    const index_t nx = corners.count(0), ny = corners.count(1);
    plane.resize(static_cast<std::size_t>(nx * ny));
    parallel_for(Cpu{}, ny, [&](index_t j) {
        for (index_t i = 0; i < nx; ++i) plane[static_cast<std::size_t>(i + nx * j)] = corners({i, j, k});
    });
}

}  // namespace

void check_tensor(const PoissonProblem& problem, const std::function<void(std::string, std::string)>& bad) {
    const index_t rows = problem.rows();
    bool fits = true;
    for (std::size_t c = 0; c < 6; ++c) {
        const index_t n = std::ssize(problem.tensor[c]);
        const bool may_be_empty = c == 1 || c == 2 || c == 4;
        if (n == 1 || n == rows || (n == 0 && may_be_empty)) continue;
        fits = false;
        bad(n == 0 ? fmt::format("has no values of {}: give xx, yy and zz, and xy, xz and yz where they are not zero", tensor_names[c])
                   : fmt::format("has {} values of {} for {} cells: give one for each cell, or one for all", n, tensor_names[c], rows),
            "tensor");
    }
    if (!problem.coefficient.empty()) bad("is given beside a tensor: take one of the two", "coefficient");
    if (!fits) return;
    const index_t all = own_tensors(problem);
    for (index_t row = 0; row < all; ++row) {
        if (scaled_pivot(problem, row) > least_pivot && tensor_value(problem, 0, row) < std::numeric_limits<double>::infinity() &&
            tensor_value(problem, 3, row) < std::numeric_limits<double>::infinity() &&
            tensor_value(problem, 5, row) < std::numeric_limits<double>::infinity())
            continue;
        std::string values;
        for (std::size_t c = 0; c < 6; ++c)
            values += fmt::format("{}{} = {}", c == 0 ? "" : ", ", tensor_names[c], tensor_value(problem, c, row));
        const auto [nx, ny, nz] = problem.cells;
        bad(fmt::format("is not positive definite and finite in cell ({}, {}, {}): {}. Every eigenvalue must be above 0", row % nx + 1,
                        row / nx % ny + 1, row / (nx * ny) + 1, values),
            "tensor");
        return;
    }
}

TensorRange tensor_range(const PoissonProblem& problem) {
    TensorRange range{std::numeric_limits<double>::infinity(), 0};
    const index_t all = own_tensors(problem);
    for (index_t row = 0; row < all; ++row) {
        const auto [low, high] = std::minmax({tensor_value(problem, 0, row), tensor_value(problem, 3, row), tensor_value(problem, 5, row)});
        // The eigenvalues of the tensor scaled to a unit diagonal add up to 3, so that the least is at least 4/9 of the determinant, which
        // is the product of two pivots.
        const double pivot = scaled_pivot(problem, row);
        range.least = std::min(range.least, low * pivot * pivot / 3);
        range.most = std::max(range.most, high);
    }
    return range;
}

double tensor_anisotropy(const PoissonProblem& problem) {
    const index_t all = own_tensors(problem);
    double root[3];  // of the mean diagonal, up to a factor
    for (int d = 0; d < 3; ++d) {
        double sum = 0;
        for (index_t row = 0; row < all; ++row) sum += tensor_value(problem, component(d, d), row);
        root[d] = std::sqrt(sum);
    }
    const auto ratio = [&](index_t row) {
        double K[3][3], trace = 0;
        for (int d = 0; d < 3; ++d) {
            for (int e = 0; e < 3; ++e) K[d][e] = tensor_value(problem, component(d, e), row) / root[d] / root[e];
            trace += K[d][d];
        }
        for (auto& line : K)
            for (double& entry : line) entry /= trace;
        return Largest{eigenvalue_ratio(K)};
    };
    return reduce<Largest>(Cpu{}, all, ratio).value;
}

index_t tensor_nonzeros(const PoissonProblem& problem) {
    const Couplings couplings(problem);
    std::array<index_t, 3> n = problem.cells, near;  // cells along a direction, and pairs of a cell and a neighbour or itself
    for (std::size_t d = 0; d < 3; ++d) near[d] = problem.periodic(d) ? 3 * n[d] : 3 * n[d] - 2;
    const auto plane = [&](std::size_t a, std::size_t b, std::size_t across) {
        return near[a] * near[b] * n[across] + n[a] * n[b] * (near[across] - n[across]);
    };
    if (couplings.count() >= 2) return near[0] * near[1] * near[2];
    if (couplings.xy) return plane(0, 1, 2);
    if (couplings.xz) return plane(0, 2, 1);
    if (couplings.yz) return plane(1, 2, 0);
    return near[0] * n[1] * n[2] + n[0] * (near[1] - n[1]) * n[2] + n[0] * n[1] * (near[2] - n[2]);
}

CsrMatrix tensor_matrix(const PoissonProblem& problem) { return tensor_rows(problem, 0, problem.cells[2]); }

CsrMatrix tensor_rows(const PoissonProblem& problem, index_t first_plane, index_t end_plane) {
    const Corners corners(problem, nullptr);
    const Box& box = corners.box();
    const Couplings couplings(problem);
    const auto [nx, ny, nz] = problem.cells;
    CsrMatrix A;
    const index_t first_row = nx * ny * first_plane;
    A.begin.reserve(static_cast<std::size_t>(nx * ny * (end_plane - first_plane) + 1));
    A.begin.push_back(0);
    for (index_t k = first_plane; k < end_plane; ++k)
        for (index_t j = 0; j < ny; ++j)
            for (index_t i = 0; i < nx; ++i)
                A.begin.push_back(A.begin.back() +
                                  row_entries(couplings, around(box, 0, i, nx), around(box, 1, j, ny), around(box, 2, k, nz)));
    A.column.resize(static_cast<std::size_t>(A.begin.back()));
    A.value.resize(A.column.size());

    std::array<CornerPlane, 2> plane;  // below and above the cells
    const index_t corners_x = corners.count(0);
    const auto write_row = [&](const Triple& cell) {
        std::array<double, 27> value{};  // at the offset (dx, dy, dz): (dx + 1) + 3 (dy + 1) + 9 (dz + 1)
        double diagonal = 0;
        for (int b = 0; b < 8; ++b) {  // bit d: the corner above the cell along d
            const index_t i = corners.of_cell(0, cell[0], b & 1), j = corners.of_cell(1, cell[1], b >> 1 & 1);
            const auto& system = plane[static_cast<std::size_t>(b >> 2)][static_cast<std::size_t>(i + corners_x * j)];
            const int own = 7 ^ b;
            diagonal += system.outer[static_cast<std::size_t>(own)];
            for (int flip = 1; flip < 8; ++flip) {
                int to = 13;
                for (int d = 0, stride = 1; d < 3; ++d, stride *= 3)
                    if (flip >> d & 1) to += b >> d & 1 ? stride : -stride;
                value[static_cast<std::size_t>(to)] += system.coupling[CornerSystem::pair(own, own ^ flip)];
            }
        }
        for (std::size_t to = 0; to < 27; ++to) diagonal -= to == 13 ? 0 : value[to];
        value[13] = diagonal;
        const index_t row = box.row(cell[0], cell[1], cell[2]) - first_row;
        const auto first = static_cast<std::size_t>(A.begin[static_cast<std::size_t>(row)]);
        auto end = first;
        for (int to = 0; to < 27; ++to) {
            const std::array<int, 3> offset{to % 3 - 1, to / 3 % 3 - 1, to / 9 - 1};
            if (!couplings.join(offset[0] != 0, offset[1] != 0, offset[2] != 0)) continue;
            Triple other = cell;
            bool inside = true;
            for (int d = 0; d < 3; ++d) {
                auto& at = other[static_cast<std::size_t>(d)];
                if (const int step = offset[static_cast<std::size_t>(d)]; step != 0) at = box.neighbour(d, at, step > 0);
                inside = inside && at >= 0 && at < problem.cells[static_cast<std::size_t>(d)];
            }
            if (!inside) continue;
            const auto column = static_cast<std::int32_t>(box.row(other[0], other[1], other[2]));
            auto place = end++;  // columns ascend by themselves but in periodic boxes
            for (; place > first && A.column[place - 1] > column; --place)
                A.column[place] = A.column[place - 1], A.value[place] = A.value[place - 1];
            A.column[place] = column;
            A.value[place] = value[static_cast<std::size_t>(to)];
        }
    };
    compute_plane(corners, first_plane, plane[1]);
    for (index_t k = first_plane; k < end_plane; ++k) {
        std::swap(plane[0], plane[1]);
        compute_plane(corners, corners.of_cell(2, k, true), plane[1]);
        parallel_for(Cpu{}, ny, [&, nx = nx](index_t j) {
            for (index_t i = 0; i < nx; ++i) write_row({i, j, k});
        });
    }
    return A;
}

void add_tensor_inflow(const PoissonProblem& problem, const FaceValues& values, std::vector<double>& b) {
    const Corners corners(problem, &values);
    const auto [nx, ny, nz] = problem.cells;
    parallel_for(Cpu{}, ny * nz, [&, nx = nx, ny = ny](index_t line) {
        for (index_t i = 0; i < nx; ++i) {
            const Triple cell{i, line % ny, line / ny};
            double sum = 0;
            for (int octant = 0; octant < 8; ++octant) {
                Triple corner;
                for (int d = 0; d < 3; ++d)
                    corner[static_cast<std::size_t>(d)] = corners.of_cell(d, cell[static_cast<std::size_t>(d)], !(octant >> d & 1));
                if (corners.at_boundary(corner)) sum += corners(corner).load[static_cast<std::size_t>(octant)];
            }
            b[static_cast<std::size_t>(i + nx * line)] += sum;
        }
    });
}

}  // namespace kasane::sparse
