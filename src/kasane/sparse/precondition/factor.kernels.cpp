// Incomplete Cholesky without fill and its plainer relatives, once per Space.
#include <kasane/core/device/kernels.hpp>
#include <kasane/sparse/precondition/factor.hpp>

#include <atomic>
#include <cmath>
#include <utility>

namespace kasane::sparse {
namespace {

/// Raised by any thread, read by the host.
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
        if (A.column(middle) < column) low = middle + 1;
        else high = middle;
    }
    return low < A.end(row) && A.column(low) == column;
}

/// Of an edge (i, j): does a neighbour of the one with fewer neighbours touch the other?
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

KS_FN double diagonal_entry(const CsrView& A, index_t row) {
    double sum = 0;
    for (index_t e = A.begin(row); e < A.end(row); ++e)
        if (A.column(e) == row) sum += A.value[e];
    return sum;
}

/// D of none (1), Jacobi (a_ii), SSOR (a_ii / omega).
struct PlainPivot {
    CsrView A;
    View<const std::int32_t> old_row;
    double one, omega;  ///< one: 1 leaves A's diagonal out
    View<double> pivot;
    KS_FN void operator()(index_t row) const {
        const std::int32_t old = old_row[row];
        pivot[row] = old < 0 || one != 0 ? 1 : diagonal_entry(A, old) / omega;
    }
};

/// Rows of one colour: lane l does rows l + j chunk of its group for j = 0 .. steps - 1.
struct Lanes {
    index_t begin;
    int chunk, steps;
    KS_FN index_t row(index_t lane, int step) const { return begin + lane / chunk * chunk * steps + static_cast<index_t>(step) * chunk + lane % chunk; }
};

KS_FN bool bad_pivot(double pivot, double diagonal) { return !(pivot > 1e-10 * diagonal) || !(pivot - pivot == 0); }

/// d_i = a_ii - sum a_ij^2 / d_j over the neighbours that are eliminated before: nobody else's pivot is looked at.
struct DiagonalPivots {
    CsrView A;
    Lanes lanes;
    View<const std::int32_t> old_row, new_row, rank;
    double raise;  ///< 1 + shift
    View<double> pivot;
    Flag bad;
    KS_FN bool before(index_t a, index_t b) const {
        if (rank.empty()) return a < b;
        return rank[a] != rank[b] ? rank[a] < rank[b] : a < b;
    }
    KS_FN void operator()(index_t lane) const {
        for (int step = 0; step < lanes.steps; ++step) {
            const index_t row = lanes.row(lane, step);
            const std::int32_t old = old_row[row];
            double d = 1;
            if (old >= 0) {
                double diagonal = 0, sum = 0;
                for (index_t e = A.begin(old); e < A.end(old); ++e) {
                    const index_t other = A.column(e);
                    const double a = A.value[e];
                    if (other == old) {
                        diagonal += a;
                        continue;
                    }
                    const index_t column = new_row[other];
                    if (before(column, row)) sum += a * a / pivot[column];
                }
                d = diagonal * raise - sum;
                if (bad_pivot(d, diagonal)) {
                    bad.raise();
                    d = diagonal;
                }
            }
            pivot[row] = d;
        }
    }
};

/// The order of entries in a row of C: by elimination. Padding (the row's own number) comes last.
struct Earlier {
    View<const std::int32_t> rank;
    KS_FN bool operator()(index_t a, index_t b) const {
        if (rank.empty()) return a < b;
        return rank[a] != rank[b] ? rank[a] < rank[b] : a < b;
    }
};

/// Sorts a row of C in place: a heap, because a row may have thousands of entries and there is no room beside it.
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
template <class Shape>
struct Eliminate {
    CsrView A;
    Lanes lanes;
    Shape shape;
    View<const std::int32_t> old_row;
    Earlier earlier;
    std::int32_t* column;
    double* value;
    double raise;
    View<double> pivot;
    Flag bad;

    KS_FN int length(index_t row, const Entries& at) const {
        int n = at.count;
        while (n > 0 && column[at.first + (n - 1) * at.stride] == row) --n;  // padding
        return n;
    }
    KS_FN void operator()(index_t lane) const {
        for (int step = 0; step < lanes.steps; ++step) eliminate(lanes.row(lane, step));
    }
    KS_FN void eliminate(index_t i) const {
        if (old_row[i] < 0) {
            pivot[i] = 1;
            return;
        }
        const Entries row = shape.entries(i);
        const int n = length(i, row);
        RowSorter{row, column, value, earlier}.sort(n);
        const double diagonal = diagonal_entry(A, old_row[i]);
        double d = diagonal * raise;
        for (int e = 0; e < n; ++e) {
            const index_t at = row.first + e * row.stride, j = column[at];
            const Entries other = shape.entries(j);
            const int m = length(j, other);
            double c = value[at];
            // Both rows ascend by elimination: one walk along both finds the common columns.
            for (int a = 0, b = 0; a < e && b < m;) {
                const index_t in_a = row.first + a * row.stride, in_b = other.first + b * other.stride;
                const index_t ka = column[in_a], kb = column[in_b];
                if (ka == kb) c -= value[in_a] * value[in_b] / pivot[ka], ++a, ++b;
                else if (earlier(ka, kb)) ++a;
                else ++b;
            }
            value[at] = c;
            d -= c * c / pivot[j];
        }
        if (bad_pivot(d, diagonal)) {
            bad.raise();
            d = diagonal;
        }
        pivot[i] = d;
    }
};

template <Space S, class Body>
void each_color(S on, const Layout<S>& layout, Body body) {
    for (int c = 0; c < layout.colors; ++c)
        for (int p = 0; p < layout.shape.parts; ++p) {
            Segment s = layout.at(c, p);
            if (layout.shape.numbering != Numbering::sequential) {
                if (p > 0) break;
                s = layout.color(c);
            }
            body(static_cast<std::size_t>(c) * layout.shape.parts + p, Lanes{s.begin, layout.shape.chunk, layout.steps},
                 (s.end - s.begin) / layout.steps);
        }
    static_cast<void>(on);
}

template <Space S>
void eliminate_all(S on, const CsrView& A, const Layout<S>& layout, Factor<S>& factor, double raise, Flag bad) {
    const Earlier earlier{layout.rank.view()};
    auto& C = factor.lower;
    each_color(on, layout, [&](std::size_t segment, const Lanes& lanes, index_t n) {
        const auto run = [&](auto shape) {
            parallel_for(on, n, Eliminate<decltype(shape)>{A, lanes, shape, layout.old_row.view(), earlier, C.column.data(), C.value.data(),
                                                           raise, factor.pivot.view(), bad});
        };
        static_cast<void>(segment);
        if (C.kind == FormatKind::csr) run(C.csr());
        else run(C.sell());
    });
}

struct Scales {
    View<const std::int32_t> old_row;
    CsrView A;
    View<const double> pivot;
    View<double> scale, diagonal;
    KS_FN void operator()(index_t row) const {
        const std::int32_t old = old_row[row];
        scale[row] = 1 / std::sqrt(pivot[row]);
        diagonal[row] = old < 0 ? 1 : diagonal_entry(A, old) / pivot[row];
    }
};

/// Values of a scaled triangle of A's pattern replaced by C's: the lower triangle takes c_ij, the upper one c_ji.
template <class From, class To, class T>
struct TakeOwnValues {
    From from;
    const std::int32_t* from_column;
    const double* from_value;
    To to;
    const std::int32_t* to_column;
    T* to_value;
    View<const double> scale;
    bool transposed;
    index_t first_row;
    KS_FN double find(index_t row, index_t column) const {
        const Entries at = from.entries(row);
        for (int e = 0; e < at.count; ++e)
            if (from_column[at.first + e * at.stride] == column) return from_value[at.first + e * at.stride];
        return 0;
    }
    KS_FN void operator()(index_t i) const {
        const index_t row = first_row + i;
        const Entries at = to.entries(row);
        for (int e = 0; e < at.count; ++e) {
            const index_t slot = at.first + e * at.stride, column = to_column[slot];
            if (column == row) break;  // padding
            const double c = transposed ? find(column, row) : find(row, column);
            to_value[slot] = static_cast<T>(scale[row] * c * scale[column]);
        }
    }
};

template <Space S, class T>
Triangle<S, T> own_triangle(S on, const CsrView& A, const Layout<S>& layout, const Factor<S>& factor, View<const double> scale, Side side,
                            const Format& format) {
    auto to = make_triangle<S, T>(on, A, layout, scale, side, format);
    const auto& C = factor.lower;
    const auto take = [&](auto from, auto shape, index_t first, index_t n) {
        parallel_for(on, n, TakeOwnValues<decltype(from), decltype(shape), T>{from, C.column.data(), C.value.data(), shape, to.column.data(),
                                                                               to.value.data(), scale, side == Side::upper, first});
    };
    const auto into = [&](auto from) {
        if (to.kind == FormatKind::csr) return take(from, to.csr(), 0, layout.padded);
        if (to.kind == FormatKind::sell) return take(from, to.sell(), 0, layout.padded);
        each_color(on, layout, [&](std::size_t segment, const Lanes& lanes, index_t n) {
            take(from, to.slices(segment), lanes.begin, n * layout.steps);
        });
    };
    if (C.kind == FormatKind::csr) into(C.csr());
    else into(C.sell());
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
Factor<S> factorise(S on, const CsrView& A, const Layout<S>& layout, const Format& format, const FactorOptions& options) {
    Factor<S> factor;
    factor.pivot = Buffer<double, S>(on, layout.padded);
    if (options.kind != Precondition::ic0) {
        const bool ssor = options.kind == Precondition::ssor;
        factor.kind = ssor ? FactorKind::own_triangles_of_A : FactorKind::identity;
        parallel_for(on, layout.padded, PlainPivot{A, layout.old_row.view(), options.kind == Precondition::none ? 1. : 0.,
                                                   ssor ? options.omega : 1., factor.pivot.view()});
        synchronize(on);
        return factor;
    }
    // Two colours of independent rows: the graph is bipartite, and no look for triangles is needed.
    const bool bipartite = layout.colors <= 2 && layout.steps == 1;
    factor.kind = !bipartite && has_triangles(on, A) ? FactorKind::own_values : FactorKind::own_triangles_of_A;
    FlagOn<S> bad(on);
    for (double shift = 0; shift <= 2; shift = shift == 0 ? 0.001 : 2 * shift) {
        bad.lower();
        if (factor.kind == FactorKind::own_values) {
            // In rows or chunks, whatever A is stored in: slices would make every row as long as its colour's longest.
            Buffer<double, S> ones(on, layout.padded);
            parallel_for(on, layout.padded, PlainPivot{A, layout.old_row.view(), 1., 1., ones.view()});
            const Format rows{format.kind == FormatKind::sell ? FormatKind::sell : FormatKind::csr, format.chunk, format.sigma};
            factor.lower = make_triangle<S, double>(on, A, layout, ones.view(), Side::lower, rows);
            eliminate_all(on, A, layout, factor, 1 + shift, bad.flag());
        } else {
            each_color(on, layout, [&](std::size_t, const Lanes& lanes, index_t n) {
                parallel_for(on, n, DiagonalPivots{A, lanes, layout.old_row.view(), layout.new_row.view(), layout.rank.view(), 1 + shift,
                                                   factor.pivot.view(), bad.flag()});
            });
        }
        if (!bad.raised()) {
            factor.shift = shift;
            return factor;
        }
    }
    throw ComputationError(
        "incomplete Cholesky found no positive pivots, even with three times the diagonal: the matrix is far from positive definite. Take "
        "precondition = \"jacobi\", or look at the matrix.");
}

template <Space S>
System<S> make_system(S on, const CsrView& A, Layout<S> layout, Factor<S> factor, const Format& format, bool single_factor) {
    System<S> system;
    system.on = on;
    system.factor = factor.kind;
    system.single_factor = single_factor && factor.kind != FactorKind::identity;
    system.scale = Buffer<double, S>(on, layout.padded);
    system.diagonal = Buffer<double, S>(on, layout.padded);
    parallel_for(on, layout.padded, Scales{layout.old_row.view(), A, factor.pivot.view(), system.scale.view(), system.diagonal.view()});
    synchronize(on);
    factor.pivot = {};
    const View<const double> scale = system.scale.view();
    if (factor.kind == FactorKind::own_values) {
        if (system.single_factor) {
            system.factor_lower_f = own_triangle<S, float>(on, A, layout, factor, scale, Side::lower, format);
            system.factor_upper_f = own_triangle<S, float>(on, A, layout, factor, scale, Side::upper, format);
        } else {
            system.factor_lower = own_triangle<S, double>(on, A, layout, factor, scale, Side::lower, format);
            system.factor_upper = own_triangle<S, double>(on, A, layout, factor, scale, Side::upper, format);
        }
        factor.lower = {};
    } else if (system.single_factor) {
        system.factor_lower_f = make_triangle<S, float>(on, A, layout, scale, Side::lower, format);
        system.factor_upper_f = make_triangle<S, float>(on, A, layout, scale, Side::upper, format);
    }
    system.lower = make_triangle<S, double>(on, A, layout, scale, Side::lower, format);
    system.upper = make_triangle<S, double>(on, A, layout, scale, Side::upper, format);
    layout.rank = {};
    system.layout = std::move(layout);
    return system;
}

template bool has_triangles(KS_SPACE, const CsrView&);
template Factor<KS_SPACE> factorise(KS_SPACE, const CsrView&, const Layout<KS_SPACE>&, const Format&, const FactorOptions&);
template System<KS_SPACE> make_system(KS_SPACE, const CsrView&, Layout<KS_SPACE>, Factor<KS_SPACE>, const Format&, bool);

}  // namespace kasane::sparse
