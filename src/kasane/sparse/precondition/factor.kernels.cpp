// Incomplete Cholesky factorisation without fill, Jacobi and SSOR, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/format/first_touch.hpp>
#include <kasane/sparse/precondition/factor.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <type_traits>
#include <utility>

namespace kasane::sparse {
namespace {

/// A flag that any thread may set and the host reads.
struct Flag {
    int* raised = nullptr;
    explicit Flag(int* place) : raised(place) {}
    KS_FN void raise() const {
#if defined(__CUDA_ARCH__)
        *raised = 1;
#else
        std::atomic_ref<int>(*raised).store(1, std::memory_order_relaxed);
#endif
    }
};

template <Space S>
class FlagOn {
   public:
    explicit FlagOn(S on) : on_(on), raised_(on, 1) { lower(); }
    void lower() {
        const int none = 0;
        copy_from_host(on_, raised_.view(), View<const int>(&none, 1));
    }
    Flag flag() { return Flag(raised_.data()); }
    bool raised() const { return to_host(raised_)[0] != 0; }

   private:
    S on_;
    Buffer<int, S> raised_;
};

KS_FN bool has_entry(const CsrView& A, index_t row, index_t column) {
    index_t low = A.begin(row), high = A.end(row);
    while (low < high) {
        const index_t middle = (low + high) / 2;
        if (A.column(middle) < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < A.end(row) && A.column(low) == column;
}

/// For an edge (i, j): whether a neighbour of the row with fewer neighbours is coupled to the other row.
struct FindTriangle {
    CsrView A;
    Flag found;
    KS_FN void operator()(index_t i) const {
        for (index_t e = A.begin(i); e < A.end(i); ++e) {
            const index_t j = A.column(e);
            if (j >= i) break;
            const bool i_shorter = A.end(i) - A.begin(i) < A.end(j) - A.begin(j);
            const index_t shorter = i_shorter ? i : j, longer = i_shorter ? j : i;
            for (index_t s = A.begin(shorter); s < A.end(shorter); ++s) {
                const index_t k = A.column(s);
                if (k != i && k != j && has_entry(A, longer, k)) return found.raise();
            }
        }
    }
};

/// Copies a_ii to its new place.
struct TakeDiagonal {
    CsrView A;
    View<const std::int32_t> new_row;
    View<double> diagonal;
    KS_FN void operator()(index_t row) const {
        double sum = 0;
        for (index_t e = A.begin(row); e < A.end(row); ++e)
            if (A.column(e) == row) sum += A.value[e];
        diagonal[new_row[row]] = sum;
    }
};

struct Fill {
    double value;
    View<double> to;
    KS_FN void operator()(index_t i) const { to[i] = value; }
};

/// D of Jacobi (a_ii) and SSOR (a_ii / omega); 1 in padding.
struct PlainPivot {
    View<const std::int32_t> old_row;
    View<const double> diagonal;
    double omega;
    View<double> pivot;
    KS_FN void operator()(index_t row) const { pivot[row] = old_row[row] < 0 ? 1 : diagonal[row] / omega; }
};

/// Rows of one colour: lane l processes rows l + j chunk of its group for j = 0 .. steps - 1.
struct Lanes {
    index_t begin;
    int chunk, steps;
    KS_FN index_t row(index_t lane, int step) const {
        return begin + lane / chunk * chunk * steps + static_cast<index_t>(step) * chunk + lane % chunk;
    }
};

KS_FN bool bad_pivot(double pivot, double diagonal) { return !(pivot > 1e-10 * diagonal) || !(pivot - pivot == 0); }

/// d_i = a_ii - sum a_ij^2 / d_j over the lower triangle.
template <class Shape>
struct DiagonalPivots {
    Lanes lanes;
    Shape shape;
    const std::int32_t* column;
    const double* value;
    View<const double> diagonal;
    double raise;  ///< 1 + shift
    View<double> pivot;
    Flag bad;
    KS_FN void operator()(index_t lane) const {
        for (int step = 0; step < lanes.steps; ++step) {
            const index_t row = lanes.row(lane, step);
            const Entries at = shape.entries(row);
            double sum = 0;
            for (int k = 0; k < at.count; ++k) {
                const index_t slot = at.first + k * at.stride, other = column[slot];
                if (other != row) sum += value[slot] * value[slot] / pivot[other];  // the row's own number: padding
            }
            double d = diagonal[row] * raise - sum;
            if (bad_pivot(d, diagonal[row])) {
                bad.raise();
                d = diagonal[row];
            }
            pivot[row] = d;
        }
    }
};

/// The order of entries in a row of C: by elimination.
struct Earlier {
    View<const std::int32_t> rank;
    KS_FN bool operator()(index_t a, index_t b) const {
        if (rank.empty()) return a < b;
        return rank[a] != rank[b] ? rank[a] < rank[b] : a < b;
    }
};

/// Sorts a row of C in place by a heap, because a row may have thousands of entries and there is no further memory.
struct RowSorter {
    Entries at;
    std::int32_t* column;
    double* value;
    Earlier earlier;
    KS_FN index_t slot(int i) const { return at.first + i * at.stride; }
    KS_FN void swap(int a, int b) const {
        const std::int32_t c = column[slot(a)];
        const double v = value[slot(a)];
        column[slot(a)] = column[slot(b)], value[slot(a)] = value[slot(b)];
        column[slot(b)] = c, value[slot(b)] = v;
    }
    KS_FN void sink(int root, int end) const {
        for (int child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && earlier(column[slot(child)], column[slot(child + 1)])) ++child;
            if (!earlier(column[slot(root)], column[slot(child)])) return;
            swap(root, child);
        }
    }
    KS_FN void sort(int n) const {
        for (int root = n / 2 - 1; root >= 0; --root) sink(root, n);
        for (int end = n - 1; end > 0; --end) swap(0, end), sink(0, end);
    }
};

/// Rows of C = A's strict lower triangle on entry, eliminated in place.
struct Eliminate {
    Lanes lanes;
    CsrRows<double> shape;
    Earlier earlier;
    std::int32_t* column;
    double* value;
    View<const double> diagonal;
    double raise;
    View<double> pivot;
    Flag bad;

    KS_FN void operator()(index_t lane) const {
        for (int step = 0; step < lanes.steps; ++step) eliminate(lanes.row(lane, step));
    }
    KS_FN void eliminate(index_t i) const {
        const Entries row = shape.entries(i);
        const int n = row.count;
        RowSorter{row, column, value, earlier}.sort(n);
        double d = diagonal[i] * raise;
        for (int e = 0; e < n; ++e) {
            const index_t at = row.first + e * row.stride, j = column[at];
            const Entries other = shape.entries(j);
            const int m = other.count;
            double c = value[at];
            // Both rows ascend by elimination: one pass along both finds the common columns.
            for (int a = 0, b = 0; a < e && b < m;) {
                const index_t in_a = row.first + a * row.stride, in_b = other.first + b * other.stride;
                const index_t ka = column[in_a], kb = column[in_b];
                if (ka == kb)
                    c -= value[in_a] * value[in_b] / pivot[ka], ++a, ++b;
                else if (earlier(ka, kb))
                    ++a;
                else
                    ++b;
            }
            value[at] = c;
            d -= c * c / pivot[j];
        }
        if (bad_pivot(d, diagonal[i])) {
            bad.raise();
            d = diagonal[i];
        }
        pivot[i] = d;
    }
};

/// Calls body(lanes, number of lanes, shape of t) for each colour in the order of elimination (sequential numbers: for each part of it).
template <Space S, class Body>
void each_color(const Layout<S>& layout, const Triangle<S, double>& t, Body body) {
    const bool whole = layout.shape.numbering != Numbering::sequential;
    for (int c = 0; c < layout.colors; ++c)
        for (int p = 0; p < (whole ? 1 : layout.shape.parts); ++p) {
            const Segment s = whole ? layout.color(c) : layout.at(c, p);
            const Lanes lanes{s.begin, layout.shape.chunk, layout.steps};
            const index_t n = (s.end - s.begin) / layout.steps;
            if (t.kind == FormatKind::csr)
                body(lanes, n, t.csr());
            else if (t.kind == FormatKind::sell)
                body(lanes, n, t.sell());
            else
                body(lanes, n, t.slices(static_cast<std::size_t>(c) * layout.shape.parts + p));
        }
}

struct Scales {
    View<const double> pivot;
    View<double> scale, diagonal;
    KS_FN void operator()(index_t row) const {
        scale[row] = 1 / std::sqrt(pivot[row]);
        diagonal[row] /= pivot[row];
    }
};

/// Values of a triangle of A's pattern replaced by C's: entry (i, j) takes c_ij, or c_ji (transposed).
template <class Shape>
struct TakeOwnValues {
    Shape shape;
    const std::int32_t* column;
    double* value;
    CsrRows<double> C;
    bool transposed;
    index_t first;
    KS_FN double find(index_t row, index_t wanted) const {
        const Entries at = C.entries(row);
        for (int e = 0; e < at.count; ++e)
            if (C.column[at.first + e] == wanted) return C.value[at.first + e];
        return 0;
    }
    KS_FN void operator()(index_t i) const {
        const index_t row = first + i;
        const Entries at = shape.entries(row);
        for (int e = 0; e < at.count; ++e) {
            const index_t slot = at.first + e * at.stride, other = column[slot];
            if (other != row) value[slot] = transposed ? find(other, row) : find(row, other);  // the row's own number: padding
        }
    }
};

template <Space S>
Triangle<S, double> with_own_values(S on, const Layout<S>& layout, const Triangle<S, double>& C, const Triangle<S, double>& pattern,
                                    Side side) {
    auto to = copy_of<double>(on, layout, pattern);
    each_shape(layout, to, [&](const Segment& run, auto shape) {
        parallel_for(on, run.end - run.begin,
                     TakeOwnValues<decltype(shape)>{shape, to.column.data(), to.value.data(), C.csr(), side == Side::upper, run.begin});
    });
    synchronize(on);
    return to;
}

}  // namespace

template <Space S>
bool has_triangles(S on, const CsrView& A) {
    FlagOn<S> found(on);
    parallel_for(on, A.n, FindTriangle{A, found.flag()});
    return found.raised();
}

template <Space S>
SplitMatrix<S> split(S on, const CsrView& A, const Layout<S>& layout, const Format& format, bool triangles) {
    SplitMatrix<S> parts;
    parts.diagonal = Buffer<double, S>(on, layout.padded);
    place_rows(on, layout, {row_array(parts.diagonal)});
    parallel_for(on, layout.padded, Fill{1, parts.diagonal.view()});
    parallel_for(on, layout.rows, TakeDiagonal{A, layout.new_row.view(), parts.diagonal.view()});
    parts.lower = make_triangle(on, A, layout, Side::lower, format);
    parts.upper = make_triangle(on, A, layout, Side::upper, format);
    if (triangles) parts.lower_rows = make_triangle(on, A, layout, Side::lower, {FormatKind::csr, 1, 1});
    return parts;
}

template <Space S>
Factor<S> factorise(S on, const SplitMatrix<S>& A, const Layout<S>& layout, const FactorOptions& options) {
    Factor<S> factor;
    factor.pivot = Buffer<double, S>(on, layout.padded);
    const auto pivot = factor.pivot.view();
    const View<const double> diagonal = A.diagonal.view();
    if (options.kind == Precondition::none) {
        parallel_for(on, layout.padded, Fill{1, pivot});
    } else if (options.kind != Precondition::ic0) {
        const bool ssor = options.kind == Precondition::ssor;
        if (ssor) factor.kind = FactorKind::own_triangles_of_A;
        parallel_for(on, layout.padded, PlainPivot{layout.old_row.view(), diagonal, ssor ? options.omega : 1., pivot});
    }
    if (options.kind != Precondition::ic0) {
        synchronize(on);
        return factor;
    }
    const bool triangles = A.lower_rows.offset.size() > 0;
    factor.kind = triangles ? FactorKind::own_values : FactorKind::own_triangles_of_A;
    FlagOn<S> bad(on);
    for (double shift = 0; shift <= 2; shift = shift == 0 ? 0.001 : 2 * shift) {
        bad.lower();
        if (triangles) {
            factor.lower = copy_of<double>(on, layout, A.lower_rows);
            auto& C = factor.lower;
            const Earlier earlier{layout.rank.view()};
            each_color(layout, C, [&](const Lanes& lanes, index_t n, auto shape) {
                if constexpr (std::is_same_v<decltype(shape), CsrRows<double>>)
                    parallel_for(on, n,
                                 Eliminate{lanes, shape, earlier, C.column.data(), C.value.data(), diagonal, 1 + shift, pivot, bad.flag()});
            });
        } else {
            each_color(layout, A.lower, [&](const Lanes& lanes, index_t n, auto shape) {
                parallel_for(on, n,
                             DiagonalPivots<decltype(shape)>{lanes, shape, A.lower.column.data(), A.lower.value.data(), diagonal, 1 + shift,
                                                             pivot, bad.flag()});
            });
        }
        if (!bad.raised()) {
            factor.shift = shift;
            return factor;
        }
    }
    const auto entries = to_host(A.diagonal);
    const double largest = *std::max_element(entries.begin(), entries.end());
    if (largest > 1e150)  // the squares of entries are not finite
        throw PreconditionError("the incomplete Cholesky factorisation squares the entries, which reach 2^" +
                                std::to_string(std::ilogb(largest)) +
                                ": the squares are beyond double precision. Divide matrix and right-hand side by the largest entry, or "
                                "take the preconditioner jacobi");
    throw PreconditionError(
        "the incomplete Cholesky factorisation finds pivots that are not positive, even with three times the diagonal: the matrix is far "
        "from positive definite. Check its signs and entries, or take the preconditioner jacobi");
}

template <Space S>
System<S> make_system(S on, SplitMatrix<S> A, Layout<S> layout, Factor<S> factor, bool single_factor) {
    System<S> system;
    system.on = on;
    system.factor = factor.kind;
    system.single_factor = single_factor && factor.kind != FactorKind::identity;
    system.scale = Buffer<double, S>(on, layout.padded);
    place_rows(on, layout, {row_array(system.scale)});
    system.diagonal = std::move(A.diagonal);
    parallel_for(on, layout.padded, Scales{factor.pivot.view(), system.scale.view(), system.diagonal.view()});
    synchronize(on);
    factor.pivot = {};
    const View<const double> scale = system.scale.view();
    const auto store = [&](Triangle<S, double> exact, Triangle<S, double>& in_double, Triangle<S, float>& in_float) {
        if (system.single_factor)
            in_float = copy_of<float>(on, layout, exact);
        else
            in_double = std::move(exact);
    };
    if (factor.kind == FactorKind::own_values) {
        auto lower = with_own_values(on, layout, factor.lower, A.lower, Side::lower);
        auto upper = with_own_values(on, layout, factor.lower, A.upper, Side::upper);
        factor.lower = {};
        A.lower_rows = {};
        scale_triangle(on, layout, lower, scale);
        scale_triangle(on, layout, upper, scale);
        store(std::move(lower), system.factor_lower, system.factor_lower_f);
        store(std::move(upper), system.factor_upper, system.factor_upper_f);
    }
    scale_triangle(on, layout, A.lower, scale);
    scale_triangle(on, layout, A.upper, scale);
    if (system.single_factor && factor.kind == FactorKind::own_triangles_of_A) {
        system.factor_lower_f = copy_of<float>(on, layout, A.lower);
        system.factor_upper_f = copy_of<float>(on, layout, A.upper);
    }
    system.lower = std::move(A.lower);
    system.upper = std::move(A.upper);
    system.layout = std::move(layout);
    return system;
}

template bool has_triangles(KS_SPACE, const CsrView&);
template SplitMatrix<KS_SPACE> split(KS_SPACE, const CsrView&, const Layout<KS_SPACE>&, const Format&, bool);
template Factor<KS_SPACE> factorise(KS_SPACE, const SplitMatrix<KS_SPACE>&, const Layout<KS_SPACE>&, const FactorOptions&);
template System<KS_SPACE> make_system(KS_SPACE, SplitMatrix<KS_SPACE>, Layout<KS_SPACE>, Factor<KS_SPACE>, bool);

}  // namespace kasane::sparse
