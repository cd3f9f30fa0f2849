// Products of sparse matrices, once per Space: on the CPU as product.cpu.hpp says, on a device by tables of columns. A row of a product is
// accumulated in the order of the entries of A and B, and its columns are in the order of their first terms.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/sparse/aggregation/rows.hpp>
#include <kasane/sparse/aggregation/smoothers.hpp>

#if defined(__CUDACC__)
#include <kasane/sparse/aggregation/product.cuda.hpp>
#else
#include <kasane/sparse/aggregation/product.cpu.hpp>
#endif

#include <algorithm>

namespace kasane::sparse {
namespace {

/// The matrix of the left side of a product, or of the one that its entries are computed from.
template <class Left>
const auto& rows_of(const Left& A) {
    return A.A;
}
template <class V>
const RowsView<V>& rows_of(const RowsView<V>& A) {
    return A;
}

#if defined(__CUDACC__)
struct Largest {
    index_t n = 0;
    KS_FN Largest& operator+=(const Largest& other) {
        if (other.n > n) n = other.n;
        return *this;
    }
};

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
struct FillProductRow {
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

/// Words of memory for the table of any row.
template <class Left, class V>
index_t words_of_table(Cuda on, const ProductsOfRow<Left, V>& products, index_t rows) {
    return 2 * slots_for(reduce<Largest>(on, rows, products).n);
}

/// The rows of one lane that body.has(row) selects, by tables in global memory.
template <class Body>
struct RowsOfLane {
    index_t rows, lanes, words;
    std::int32_t* memory;
    Body body;
    KS_FN void operator()(index_t lane) const {
        for (index_t row = lane; row < rows; row += lanes)
            if (body.has(row)) body.of(row, memory + words * lane);
    }
};

/// Calls body(row, words) for every row, with memory for that many words that no other row uses at the time.
template <class Body>
void for_each_row(Cuda on, index_t rows, index_t words, const Body& body) {
    constexpr index_t most_lanes = 1 << 18, most_words = index_t{1} << 30;  // what fills a device; 4 GiB
    const index_t lanes = std::clamp<index_t>(most_words / words, 1, std::min(rows, most_lanes));
    Buffer<std::int32_t, Cuda> memory(on, words * lanes);
    parallel_for(on, lanes, RowsOfLane<Body>{rows, lanes, words, memory.data(), body});
    synchronize(on);  // the memory is in use until then
}

template <class Left, class V>
struct CountUncounted {
    CountColumns<Left, V> of;
    KS_FN bool has(index_t row) const { return of.count[row] == device::uncounted; }
};
template <class Left, class V>
struct FillLongRows {
    std::uint32_t least;
    FillProductRow<Left, V> of;
    KS_FN bool has(index_t row) const { return of.begin[row + 1] - of.begin[row] > least; }
};

struct EntriesOf {
    const std::uint32_t* count;
    KS_FN Largest operator()(index_t row) const { return {static_cast<index_t>(count[row])}; }
};

struct SetFound {
    device::FoundColumns* found;
    bool first;
    KS_FN void operator()(index_t) const {
        found->uncounted = 0;
        if (first) found->longest = 0;
    }
};

template <class V>
double mean_entries(const RowsView<V>& A) {
    return static_cast<double>(A.entries) / static_cast<double>(std::max<index_t>(A.rows, 1));
}

template <class Left, class V>
index_t count_columns(Cuda on, const ProductsOfRow<Left, V>& products, Rows<V, Cuda>& C) {
    if (C.rows == 0) return 0;
    KS_CUDA(cudaSetDevice(on.device));
    std::uint32_t* const count = C.begin.data();
    Buffer<device::FoundColumns, Cuda> found(on, 1);
    device::FoundColumns now{};
    bool first = true;
    const bool done = device::try_stages(mean_entries(products.B), [&]<class Stage>(Stage) {
        parallel_for(on, 1, SetFound{found.data(), first});
        device::count_columns_of_rows<Stage><<<device::blocks_of_product<Stage>(C.rows), device::product_block, 0, on.stream>>>(
            products.A, products.B, C.rows, first, count, found.data());
        KS_CUDA(cudaGetLastError());
        first = false;
        copy_to_host(on, View<device::FoundColumns>(&now, 1), View<const device::FoundColumns>(found.view()));
        return now.uncounted == 0;
    });
    if (done) return now.longest;
    for_each_row(on, C.rows, words_of_table(on, products, C.rows), CountUncounted<Left, V>{{products, count}});
    return reduce<Largest>(on, C.rows, EntriesOf{count}).n;
}

template <class Left, class V>
void fill_rows(Cuda on, const ProductsOfRow<Left, V>& products, index_t longest, Rows<V, Cuda>& C) {
    if (C.rows == 0) return;
    KS_CUDA(cudaSetDevice(on.device));
    std::uint32_t least = 0;
    const bool done = device::try_stages(mean_entries(products.B), [&]<class Stage>(Stage) {
        device::fill_rows_of_product<Stage><<<device::blocks_of_product<Stage>(C.rows), device::product_block, 0, on.stream>>>(
            products.A, products.B, C.rows, least, C.begin.data(), C.column.data(), C.value.data());
        KS_CUDA(cudaGetLastError());
        least = Stage::most_entries;
        return longest <= least;
    });
    if (!done)
        for_each_row(on, C.rows, words_of_table(on, products, C.rows),
                     FillLongRows<Left, V>{least, {products, C.begin.data(), C.column.data(), C.value.data()}});
}

/// C = A B, with C.rows and C.columns given.
template <class Left, class V>
void multiply_rows(Cuda on, const Left& A, const RowsView<V>& B, Rows<V, Cuda>& C) {
    const ProductsOfRow<Left, V> products{A, B};
    C.begin = Buffer<std::uint32_t, Cuda>(on, C.rows + 1);
    const index_t longest = count_columns(on, products, C);
    const index_t entries = offsets_of_counts(on, C.begin, longest * C.rows);
    C.column = Buffer<std::int32_t, Cuda>(on, entries);
    C.value = Buffer<V, Cuda>(on, entries);
    fill_rows(on, products, longest, C);
}

/// D = A (B C), with D.rows and D.columns given.
template <class V>
void multiply_rows(Cuda on, const RowsView<V>& A, const RowsView<V>& B, const RowsView<V>& C, Rows<V, Cuda>& D) {
    Rows<V, Cuda> right;
    right.rows = B.rows, right.columns = C.columns;
    multiply_rows(on, B, C, right);
    multiply_rows(on, A, right.view(), D);
}
#else
template <class Left, class V>
void multiply_rows(Cpu on, const Left& A, const RowsView<V>& B, Rows<V, Cpu>& C) {
    cpu::multiply_rows(on, A, rows_of(A).entries, B, C);
}

/// D = A (B C), with D.rows and D.columns given.
template <class V>
void multiply_rows(Cpu on, const RowsView<V>& A, const RowsView<V>& B, const RowsView<V>& C, Rows<V, Cpu>& D) {
    const auto computed = [&] {
        const cpu::ComputedRows<V> right(on, B, B.rows, B.entries, C, C.columns);
        return cpu::ComputedRows<V>(on, A, A.rows, A.entries, right, C.columns);
    }();
    computed.join(on, D);  // into memory of the right factor
}
#endif

}  // namespace

template <class Left, class V, Space S>
Rows<V, S> product(S on, const Left& A, const RowsView<V>& B) {
    Rows<V, S> C;
    C.rows = rows_of(A).rows, C.columns = B.columns;
    multiply_rows(on, A, B, C);
    return C;
}

template <class V, Space S>
Rows<V, S> triple_product(S on, const RowsView<V>& A, const RowsView<V>& B, const RowsView<V>& C) {
    Rows<V, S> D;
    D.rows = A.rows, D.columns = C.columns;
    multiply_rows(on, A, B, C, D);
    return D;
}

template Rows<float, KS_SPACE> triple_product(KS_SPACE, const RowsView<float>&, const RowsView<float>&, const RowsView<float>&);
template Rows<float, KS_SPACE> product(KS_SPACE, const RowsView<float>&, const RowsView<float>&);
template Rows<float, KS_SPACE> product(KS_SPACE, const FilteredSmoother<float>&, const RowsView<float>&);
template Rows<float, KS_SPACE> product(KS_SPACE, const UnfilteredSmoother<float>&, const RowsView<float>&);
template Rows<double, KS_SPACE> product(KS_SPACE, const RowsView<double>&, const RowsView<double>&);
template Rows<double, KS_SPACE> product(KS_SPACE, const FilteredSmoother<double>&, const RowsView<double>&);
template Rows<double, KS_SPACE> product(KS_SPACE, const UnfilteredSmoother<double>&, const RowsView<double>&);

}  // namespace kasane::sparse
