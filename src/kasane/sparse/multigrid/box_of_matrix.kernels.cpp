// Two passes over the rows: faces between cells, with a check of every entry; then symmetry and what is left for the border. Offsets are
// checked before use as positions.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/multigrid/box_of_matrix.hpp>

#include <cmath>
#include <string>

namespace kasane::sparse {
namespace {

constexpr double rounding = 1e-12;  ///< of the diagonal: what sums and products of the user's assembly may have left

enum class BoxFault { none, offsets, foreign, not_finite, positive, asymmetric, dominated, inside };

/// The first row with a fault, and the largest conductance; all zero: nothing. It lies in shared memory, where members have no
/// initialisers.
struct BoxFindings {
    index_t row;
    BoxFault fault;
    double largest;
    bool border;     ///< a face on the border conducts
    bool around[3];  ///< an entry couples the first and the last cell of a line
    KS_FN BoxFindings& operator+=(const BoxFindings& other) {
        if (other.fault != BoxFault::none && (fault == BoxFault::none || other.row < row)) row = other.row, fault = other.fault;
        if (other.largest > largest) largest = other.largest;
        border = border || other.border;
        for (int d = 0; d < 3; ++d) around[d] = around[d] || other.around[d];
        return *this;
    }
};

struct Place {
    int at[3];
    KS_FN Place(const BoxCells& cells, index_t row) {
        const auto c = static_cast<std::uint32_t>(row), nx = static_cast<std::uint32_t>(cells.n[0]),
                   ny = static_cast<std::uint32_t>(cells.n[1]);
        at[0] = static_cast<int>(c % nx), at[1] = static_cast<int>(c / nx % ny), at[2] = static_cast<int>(c / nx / ny);
    }
    KS_FN bool on_border(const BoxCells& cells, int d, bool upper) const { return at[d] == (upper ? cells.n[d] - 1 : 0); }
    KS_FN index_t face(const BoxCells& cells, int d, bool upper) const {
        return cells.lower_face(d, at[0], at[1], at[2]) + (upper ? cells.face_step(d) : 0);
    }
    /// Sides without a neighbour.
    KS_FN int sides_on_border(const BoxCells& cells) const {
        int sides = 0;
        for (int d = 0; d < 3; ++d)
            if (!cells.periodic(d)) sides += on_border(cells, d, false) + on_border(cells, d, true);
        return sides;
    }
};

/// The entries of a row by direction: [d][upper].
struct RowOfBox {
    double diagonal = 0, other[3][2] = {};
    BoxFault fault = BoxFault::none;

    /// @param nonzeros  of the matrix
    KS_FN RowOfBox(const CsrView& A, index_t nonzeros, const BoxCells& cells, index_t row, const Place& place) {
        const index_t begin = A.begin(row), end = A.end(row);
        if (begin < 0 || end < begin || end > nonzeros || (row == 0 && begin != 0)) {
            fault = BoxFault::offsets;
            return;
        }
        bool seen = false;
        for (index_t e = begin; e < end; ++e) {
            const index_t column = A.column(e);
            const double value = A.value[e];
            if (!(value - value == 0)) fault = BoxFault::not_finite;
            if (column == row) {
                if (seen) fault = BoxFault::foreign;
                seen = true, diagonal = value;
                continue;
            }
            double* const to = neighbour(cells, column - row, place);
            if (!to || *to != 0) {
                fault = BoxFault::foreign;
                return;
            }
            if (value > 0) fault = BoxFault::positive;
            *to = -value;
        }
    }
    KS_FN double sum() const {
        double sum = 0;
        for (int d = 0; d < 3; ++d) sum += other[d][0] + other[d][1];
        return sum;
    }

   private:
    /// Round the box to the last cell of a line, as the upper neighbour of cell -1; 0 where that is the first or the second one.
    static KS_FN index_t round(const BoxCells& cells, int d) { return cells.n[d] > 2 ? -(cells.n[d] - 1) * cells.step(d) : 0; }
    KS_FN double* neighbour(const BoxCells& cells, index_t step, const Place& place) {
        for (int d = 0; d < 3; ++d)
            for (int upper = 0; upper < 2; ++upper)
                if (const index_t to = place.on_border(cells, d, upper) ? round(cells, d) : cells.step(d);
                    to != 0 && step == (upper ? to : -to))
                    return &other[d][upper];
        return nullptr;
    }
};

/// Writes the upper faces of a cell; the last cell of a line writes the first face, too, which is the same one where the line is periodic,
/// and 0 as yet elsewhere.
struct InnerFaces {
    CsrView A;
    index_t nonzeros;
    BoxCells cells;
    double* face[3];
    KS_FN BoxFindings operator()(index_t row) const {
        const Place place(cells, row);
        const RowOfBox entries(A, nonzeros, cells, row, place);
        BoxFindings found{};
        if (entries.fault != BoxFault::none) found.row = row, found.fault = entries.fault;
        for (int d = 0; d < 3; ++d) {
            face[d][place.face(cells, d, true)] = entries.other[d][1];
            if (place.on_border(cells, d, true)) {
                face[d][place.face(cells, d, true) - cells.n[d] * cells.face_step(d)] = entries.other[d][1];
                found.around[d] = entries.other[d][1] != 0;
            }
            if (place.on_border(cells, d, false)) found.around[d] = found.around[d] || entries.other[d][0] != 0;
            if (entries.other[d][1] > found.largest) found.largest = entries.other[d][1];
        }
        return found;
    }
};

/// Compares lower entries with the faces that the lower cells wrote, and keeps what the diagonal exceeds the other entries by.
struct Excess {
    CsrView A;
    index_t nonzeros;
    BoxCells cells;
    const double* face[3];
    double* excess;
    KS_FN BoxFindings operator()(index_t row) const {
        const Place place(cells, row);
        const RowOfBox entries(A, nonzeros, cells, row, place);
        BoxFindings found{};
        const auto find = [&](BoxFault fault) { found.row = row, found.fault = fault; };
        double left = entries.diagonal - entries.sum();
        if (std::fabs(left) <= rounding * entries.diagonal) left = 0;
        excess[row] = left;
        if (!(left >= 0) || !(entries.diagonal > 0)) find(BoxFault::dominated);
        if (left > 0 && place.sides_on_border(cells) == 0) find(BoxFault::inside);
        for (int d = 0; d < 3; ++d) {
            const double mine = entries.other[d][0], theirs = face[d][place.face(cells, d, false)];
            const double larger = mine > theirs ? mine : theirs;
            if (!(std::fabs(mine - theirs) <= rounding * larger)) find(BoxFault::asymmetric);
        }
        found.border = left > 0;
        found.largest = left;
        return found;
    }
};

/// Divides the excess of a cell among its faces on the border.
struct BorderFaces {
    BoxCells cells;
    const double* excess;
    double* face[3];

    KS_FN bool at_border(const Place& place, int d, bool upper) const { return !cells.periodic(d) && place.on_border(cells, d, upper); }
    /// The excess of the nearest cell of which this side alone is on the border; 0 where there is none.
    KS_FN double share(const Place& place, int d, bool upper) const {
        Place near = place;
        for (int e = 0; e < 3; ++e) {
            if (e == d || cells.periodic(e)) continue;
            if (near.on_border(cells, e, false))
                ++near.at[e];
            else if (near.on_border(cells, e, true))
                --near.at[e];
            if (near.at[e] < 0 || near.at[e] >= cells.n[e]) return 0;
        }
        return near.on_border(cells, d, upper) && near.sides_on_border(cells) == 1 ? excess[cells.cell(near.at[0], near.at[1], near.at[2])]
                                                                                   : 0;
    }
    KS_FN void operator()(index_t row) const {
        const double own = excess[row];
        if (!(own > 0)) return;
        const Place place(cells, row);
        const int sides = place.sides_on_border(cells);
        double shares[3][2] = {}, sum = 0;
        for (int d = 0; d < 3; ++d)
            for (int upper = 0; upper < 2; ++upper)
                if (at_border(place, d, upper)) sum += shares[d][upper] = sides == 1 ? 1 : share(place, d, upper);
        for (int d = 0; d < 3; ++d)
            for (int upper = 0; upper < 2; ++upper)
                if (at_border(place, d, upper))
                    face[d][place.face(cells, d, upper)] = sum > 0 ? own * (shares[d][upper] / sum) : own / sides;
    }
};

template <Space S>
index_t nonzeros_of(S on, const CsrView& A) {
    std::int32_t narrow = 0;
    std::int64_t wide = 0;
    if (A.begin32)
        copy_to_host(on, View<std::int32_t>(&narrow, 1), View<const std::int32_t>(A.begin32 + A.n, 1));
    else
        copy_to_host(on, View<std::int64_t>(&wide, 1), View<const std::int64_t>(A.begin64 + A.n, 1));
    return A.begin32 ? narrow : wide;
}

std::string words(const BoxCells& cells) {
    return "a box of " + std::to_string(cells.n[0]) + " x " + std::to_string(cells.n[1]) + " x " + std::to_string(cells.n[2]) + " cells";
}

void require_none(const BoxFindings& found, const BoxCells& cells) {
    const auto why = [&]() -> std::string {
        switch (found.fault) {
            case BoxFault::offsets: return "has offsets that descend or exceed the number of entries";
            case BoxFault::foreign: return "has an entry twice, or one that couples cells that are not neighbours";
            case BoxFault::not_finite: return "has an entry that is not finite";
            case BoxFault::positive: return "has a positive entry beside the diagonal";
            case BoxFault::asymmetric: return "differs from its column: the matrix is not symmetric";
            case BoxFault::dominated: return "has a diagonal that is smaller than the sum of the other entries";
            case BoxFault::inside: return "belongs to a cell inside the box, and its entries do not sum to zero";
            case BoxFault::none: break;
        }
        return {};
    };
    KS_VALIDATE(found.fault == BoxFault::none, "row " + std::to_string(found.row + 1) + " of the matrix " + why() + ". The matrix of " +
                                                   words(cells) +
                                                   " has one negative entry for each neighbouring cell. Take Solver with "
                                                   "Precondition::multigrid for other matrices.");
}

void require_even(const BoxCells& cells, int d) {
    KS_VALIDATE(cells.n[d] % 2 == 0, "the matrix couples the first and the last cell along " + std::string(1, "xyz"[d]) + " of " +
                                         words(cells) +
                                         ": geometric multigrid needs an even number of them along a periodic direction. Take Solver with "
                                         "Precondition::multigrid.");
}

}  // namespace

template <Space S>
ConductingFaces<S> faces_of_matrix(S on, const CsrView& A, const BoxCells& cells) {
    KS_VALIDATE(A.n == cells.count(),
                "the matrix has " + std::to_string(A.n) + " rows: " + words(cells) + " has " + std::to_string(cells.count()) + ".");
    const index_t nonzeros = nonzeros_of(on, A);
    ConductingFaces<S> faces;
    double* face[3];
    for (int d = 0; d < 3; ++d) {
        auto& across = faces.across[static_cast<std::size_t>(d)];
        across = Buffer<double, S>(on, cells.faces(d));
        face[d] = across.data();
    }
    Buffer<double, S> excess(on, A.n);
    const auto inner = reduce<BoxFindings>(on, A.n, InnerFaces{A, nonzeros, cells, {face[0], face[1], face[2]}});
    require_none(inner, cells);
    faces.cells = cells;
    for (int d = 0; d < 3; ++d) {
        if (!inner.around[d]) continue;
        require_even(cells, d);
        faces.cells.around[d] = cells.n[d] - 1;
    }
    const auto border = reduce<BoxFindings>(on, A.n, Excess{A, nonzeros, faces.cells, {face[0], face[1], face[2]}, excess.data()});
    require_none(border, cells);
    parallel_for(on, A.n, BorderFaces{faces.cells, excess.data(), {face[0], face[1], face[2]}});
    synchronize(on);
    faces.largest = inner.largest > border.largest ? inner.largest : border.largest;
    faces.singular = !border.border;
    return faces;
}

template ConductingFaces<KS_SPACE> faces_of_matrix(KS_SPACE, const CsrView&, const BoxCells&);

}  // namespace kasane::sparse
