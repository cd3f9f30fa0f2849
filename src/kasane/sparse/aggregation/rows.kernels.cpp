// Products and transposes of sparse matrices, once per Space. A row of a product is accumulated in the order of the entries of A and B, so
// that its bits do not depend on threads.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/aggregation/rows.hpp>
#include <kasane/sparse/aggregation/smoothers.hpp>

#include <algorithm>
#include <atomic>
#include <limits>

namespace kasane::sparse {
namespace {

struct EntriesOfRow {
    const std::uint32_t* count;
    index_t rows;
    KS_FN Terms<1> operator()(index_t row) const { return {row < rows ? static_cast<double>(count[row]) : 0}; }
};

struct Largest {
    index_t n = 0;
    KS_FN Largest& operator+=(const Largest& other) {
        if (other.n > n) n = other.n;
        return *this;
    }
};

/// The left side of a product.
template <class Left>
KS_FN index_t rows_of(const Left& A) {
    return A.rows();
}
template <class V>
KS_FN index_t rows_of(const RowsView<V>& A) {
    return A.rows;
}

/// Number of products of two entries in a row of A B, or of columns of B where these are fewer.
template <class Left, class V>
struct ProductsOfRow {
    Left A;
    RowsView<V> B;
    KS_FN index_t count(index_t row) const {
        index_t sum = 0;
        A.each(row, [&](std::int32_t column, V) { sum += B.begin[column + 1] - B.begin[column]; });
        return sum < B.columns ? sum : B.columns;
    }
    KS_FN Largest operator()(index_t row) const { return {count(row)}; }
};

/// Slots of a table that holds at most that many columns: a power of two, at most half full.
KS_FN index_t slots_for(index_t columns) {
    index_t slots = 8;
    while (slots < 2 * columns) slots *= 2;
    return slots;
}

/// The columns of one row by open addressing, each with its place among the entries of the row.
struct ColumnTable {
    std::int32_t *column, *place;
    std::uint32_t mask;

    KS_FN ColumnTable(std::int32_t* words, index_t slots)
        : column(words), place(words + slots), mask(static_cast<std::uint32_t>(slots - 1)) {
        for (index_t i = 0; i < slots; ++i) column[i] = -1;
    }
    /// The slot that has the column, or an empty one for it.
    KS_FN std::uint32_t find(std::int32_t wanted) const {
        std::uint32_t at = (static_cast<std::uint32_t>(wanted) * 0x9E3779B1u >> 7) & mask;
        while (column[at] != wanted && column[at] >= 0) at = (at + 1) & mask;
        return at;
    }
};

template <class Left, class V>
struct CountColumns {
    ProductsOfRow<Left, V> products;
    std::uint32_t* count;
    KS_FN void operator()(index_t row, std::int32_t* words) const {
        const RowsView<V>& B = products.B;
        const ColumnTable table(words, slots_for(products.count(row)));
        std::uint32_t found = 0;
        products.A.each(row, [&](std::int32_t middle, V) {
            B.each(middle, [&](std::int32_t column, V) {
                const std::uint32_t at = table.find(column);
                if (table.column[at] >= 0) return;
                table.column[at] = column;
                ++found;
            });
        });
        count[row] = found;
    }
};

template <class Left, class V>
struct FillRow {
    ProductsOfRow<Left, V> products;
    const std::uint32_t* begin;
    std::int32_t* column;
    V* value;
    KS_FN void operator()(index_t row, std::int32_t* words) const {
        const RowsView<V>& B = products.B;
        const ColumnTable table(words, slots_for(products.count(row)));
        std::int32_t* const columns = column + begin[row];
        V* const values = value + begin[row];
        std::int32_t found = 0;
        products.A.each(row, [&](std::int32_t middle, V left) {
            B.each(middle, [&](std::int32_t right_column, V right) {
                const std::uint32_t at = table.find(right_column);
                if (table.column[at] >= 0) {
                    values[table.place[at]] += left * right;
                } else {
                    table.column[at] = columns[found] = right_column;
                    table.place[at] = found;
                    values[found++] = left * right;
                }
            });
        });
    }
};

/// Calls body(row, words) for every row, with memory for that many words that no other row uses at the time.
template <class Body>
void for_each_row(Cpu on, index_t rows, index_t words, const Body& body) {
    constexpr index_t least = 64;  // rows of a part
    const int threads = rows > least ? thread_count(on) : 1;
    const index_t parts = std::clamp<index_t>(rows / least, 1, index_t{64} * threads);
    Buffer<std::int32_t, Cpu> memory(on, words * threads);
    for_each_part(threads, parts, [&](index_t part, int thread) {
        for (index_t row = rows * part / parts; row < rows * (part + 1) / parts; ++row) body(row, memory.data() + words * thread);
    });
}

#if defined(__CUDACC__)
template <class Body>
struct RowsOfLane {
    index_t rows, lanes, words;
    std::int32_t* memory;
    Body body;
    KS_FN void operator()(index_t lane) const {
        for (index_t row = lane; row < rows; row += lanes) body(row, memory + words * lane);
    }
};

template <class Body>
void for_each_row(Cuda on, index_t rows, index_t words, const Body& body) {
    constexpr index_t most_lanes = 1 << 18, most_words = index_t{1} << 30;  // what fills a device; 4 GiB
    const index_t lanes = std::clamp<index_t>(most_words / words, 1, std::min(rows, most_lanes));
    Buffer<std::int32_t, Cuda> memory(on, words * lanes);
    parallel_for(on, lanes, RowsOfLane<Body>{rows, lanes, words, memory.data(), body});
    synchronize(on);  // the memory is in use until then
}
#endif

/// Adds 1 and returns the value before, whatever other threads add.
KS_FN std::uint32_t next_of(std::uint32_t* counter) {
#if defined(__CUDA_ARCH__)
    return atomicAdd(counter, 1u);
#else
    return std::atomic_ref<std::uint32_t>(*counter).fetch_add(1, std::memory_order_relaxed);
#endif
}

struct SetCounter {
    std::uint32_t* to;
    KS_FN void operator()(index_t i) const { to[i] = 0; }
};

template <class V>
struct CountInColumns {
    RowsView<V> A;
    std::uint32_t* count;
    KS_FN void operator()(index_t row) const {
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e) next_of(count + A.column[e]);
    }
};

template <class V>
struct ScatterRow {
    RowsView<V> A;
    const std::uint32_t* begin;
    std::uint32_t* taken;
    std::int32_t* column;
    V* value;
    KS_FN void operator()(index_t row) const {
        for (std::uint32_t e = A.begin[row]; e < A.begin[row + 1]; ++e) {
            const std::uint32_t at = begin[A.column[e]] + next_of(taken + A.column[e]);
            column[at] = static_cast<std::int32_t>(row);
            value[at] = A.value[e];
        }
    }
};

/// Sorts the entries of a row by column, by a heap, so that rows of any length take n log n steps.
template <class V>
struct SortRow {
    const std::uint32_t* begin;
    std::int32_t* column;
    V* value;

    KS_FN static void exchange(std::int32_t* c, V* v, index_t i, index_t j) {
        const std::int32_t column_i = c[i];
        const V value_i = v[i];
        c[i] = c[j], v[i] = v[j];
        c[j] = column_i, v[j] = value_i;
    }
    /// Moves entry `at` down until no child in [0, n) is larger.
    KS_FN static void sink(std::int32_t* c, V* v, index_t at, index_t n) {
        for (index_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
            if (child + 1 < n && c[child + 1] > c[child]) ++child;
            if (c[at] >= c[child]) return;
            exchange(c, v, at, child);
        }
    }
    KS_FN void operator()(index_t row) const {
        const index_t n = begin[row + 1] - begin[row];
        std::int32_t* const c = column + begin[row];
        V* const v = value + begin[row];
        for (index_t at = n / 2 - 1; at >= 0; --at) sink(c, v, at, n);
        for (index_t last = n - 1; last > 0; --last) {
            exchange(c, v, 0, last);
            sink(c, v, 0, last);
        }
    }
};

struct CopyOffsetOf {
    CsrView A;
    std::uint32_t* to;
    KS_FN void operator()(index_t row) const { to[row] = static_cast<std::uint32_t>(A.begin(row)); }
};

struct CopyColumnOf {
    CsrView A;
    std::int32_t* to;
    KS_FN void operator()(index_t entry) const { to[entry] = static_cast<std::int32_t>(A.column(entry)); }
};

struct CopyValueOf {
    const double* from;
    double* to;
    KS_FN void operator()(index_t entry) const { to[entry] = from[entry]; }
};

struct RowTimes {
    RowsView<double> A;
    const double* x;
    double* y;
    KS_FN void operator()(index_t row) const { y[row] = A.times(row, x); }
};

struct EntryTimes {
    const double *a, *x;
    double* y;
    KS_FN void operator()(index_t i) const { y[i] = a[i] * x[i]; }
};

}  // namespace

template <Space S>
void multiply_entries(S on, View<const double> a, View<const double> x, View<double> y) {
    parallel_for(on, y.n, EntryTimes{a.ptr, x.ptr, y.ptr});
}

template <Space S>
Rows<double, S> copied_rows(S on, const CsrView& A, index_t entries) {
    KS_VALIDATE(entries < index_t{1} << 32, "algebraic multigrid takes matrices of fewer than 2^32 entries: take ic0.");
    Rows<double, S> own;
    own.rows = own.columns = A.n;
    own.begin = Buffer<std::uint32_t, S>(on, A.n + 1);
    own.column = Buffer<std::int32_t, S>(on, entries);
    own.value = Buffer<double, S>(on, entries);
    parallel_for(on, A.n + 1, CopyOffsetOf{A, own.begin.data()});
    parallel_for(on, entries, CopyColumnOf{A, own.column.data()});
    copy_values(on, A, own);
    return own;
}

template <Space S>
void copy_values(S on, const CsrView& A, Rows<double, S>& to) {
    parallel_for(on, to.entries(), CopyValueOf{A.value, to.value.data()});
}

template <Space S>
void multiply(S on, const RowsView<double>& A, View<const double> x, View<double> y) {
    parallel_for(on, A.rows, RowTimes{A, x.ptr, y.ptr});
}

template <Space S>
index_t offsets_of_counts(S on, Buffer<std::uint32_t, S>& begin) {
    const index_t rows = begin.size() - 1;
    const double total = sum<1>(on, rows + 1, EntriesOfRow{begin.data(), rows})[0];
    KS_VALIDATE(total < 0x1p32, "algebraic multigrid needs a matrix of 2^32 entries or more on one of its levels: take ic0.");
    parallel_for(on, 1, SetCounter{begin.data() + rows});
    Workspace<S> work(on);
    exclusive_scan(on, work, View<const std::uint32_t>(begin.view()), begin.view());
    synchronize(on);
    return static_cast<index_t>(total);
}

template <class Left, class V, Space S>
Rows<V, S> product(S on, const Left& A, const RowsView<V>& B) {
    Rows<V, S> C;
    C.rows = rows_of(A), C.columns = B.columns;
    const ProductsOfRow<Left, V> products{A, B};
    const index_t words = 2 * slots_for(reduce<Largest>(on, C.rows, products).n);
    C.begin = Buffer<std::uint32_t, S>(on, C.rows + 1);
    for_each_row(on, C.rows, words, CountColumns<Left, V>{products, C.begin.data()});
    const index_t entries = offsets_of_counts(on, C.begin);
    C.column = Buffer<std::int32_t, S>(on, entries);
    C.value = Buffer<V, S>(on, entries);
    for_each_row(on, C.rows, words, FillRow<Left, V>{products, C.begin.data(), C.column.data(), C.value.data()});
    return C;
}

template <class V, Space S>
Rows<V, S> transposed(S on, const RowsView<V>& A) {
    Rows<V, S> T;
    T.rows = A.columns, T.columns = A.rows;
    T.begin = Buffer<std::uint32_t, S>(on, T.rows + 1);
    parallel_for(on, T.rows, SetCounter{T.begin.data()});
    parallel_for(on, A.rows, CountInColumns<V>{A, T.begin.data()});
    const index_t entries = offsets_of_counts(on, T.begin);
    T.column = Buffer<std::int32_t, S>(on, entries);
    T.value = Buffer<V, S>(on, entries);
    Buffer<std::uint32_t, S> taken(on, T.rows);
    parallel_for(on, T.rows, SetCounter{taken.data()});
    parallel_for(on, A.rows, ScatterRow<V>{A, T.begin.data(), taken.data(), T.column.data(), T.value.data()});
    parallel_for(on, T.rows, SortRow<V>{T.begin.data(), T.column.data(), T.value.data()});
    synchronize(on);
    return T;
}

template Rows<double, KS_SPACE> copied_rows(KS_SPACE, const CsrView&, index_t);
template void copy_values(KS_SPACE, const CsrView&, Rows<double, KS_SPACE>&);
template void multiply_entries(KS_SPACE, View<const double>, View<const double>, View<double>);
template void multiply(KS_SPACE, const RowsView<double>&, View<const double>, View<double>);
template index_t offsets_of_counts(KS_SPACE, Buffer<std::uint32_t, KS_SPACE>&);
template Rows<float, KS_SPACE> product(KS_SPACE, const RowsView<float>&, const RowsView<float>&);
template Rows<float, KS_SPACE> product(KS_SPACE, const FilteredSmoother<float>&, const RowsView<float>&);
template Rows<float, KS_SPACE> product(KS_SPACE, const UnfilteredSmoother<float>&, const RowsView<float>&);
template Rows<double, KS_SPACE> product(KS_SPACE, const RowsView<double>&, const RowsView<double>&);
template Rows<double, KS_SPACE> product(KS_SPACE, const FilteredSmoother<double>&, const RowsView<double>&);
template Rows<double, KS_SPACE> product(KS_SPACE, const UnfilteredSmoother<double>&, const RowsView<double>&);
template Rows<float, KS_SPACE> transposed(KS_SPACE, const RowsView<float>&);
template Rows<double, KS_SPACE> transposed(KS_SPACE, const RowsView<double>&);

}  // namespace kasane::sparse
