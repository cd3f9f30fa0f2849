// Products and transposes of sparse matrices on the CPU, in one pass over the entries. A thread has a number for every column of the
// product, so that the entry of a column is found without a search. A row is accumulated in the order of the entries of A and B, and its
// columns are in the order of their first terms: its bits do not depend on threads.
#pragma once

#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/aggregation/rows.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace kasane::sparse::cpu {

/// Parts of neighbouring rows, each of which one thread computes.
struct RowParts {
    index_t rows, count;
    index_t first(index_t part) const { return rows * part / count; }
};

inline RowParts row_parts(index_t rows, index_t most) {
    constexpr index_t least = 64;  // rows of a part
    return {rows, std::clamp<index_t>(rows / least, 1, most)};
}

/// As many threads as have memory for `columns` numbers each that is not large beside the entries.
inline int threads_for(Cpu on, index_t columns, index_t entries) {
    return static_cast<int>(std::clamp<index_t>(4 * entries / std::max<index_t>(columns, 1), 1, thread_count(on)));
}

/// Rows of a product, one after the other.
template <class V>
class ProductRows {
   public:
    /// @param expected  number of rows, about
    ProductRows(Cpu on, index_t expected) : on_(on) { take(16 * expected); }

    /// @param place  of each column among the entries, counted from 1; at most the present number of entries where the row has no such
    ///   column yet   @return the number of entries of the row
    template <class Left>
    std::uint32_t add_row(const Left& A, const RowsView<V>& B, index_t row, std::uint32_t* place) {
        index_t products = 0;
        A.each(row, [&](std::int32_t middle, V) { products += B.begin[middle + 1] - B.begin[middle]; });
        if (count_ + products > column_.size()) take(2 * (count_ + products));
        std::int32_t* const columns = column_.data();
        V* const values = value_.data();
        const auto before = static_cast<std::uint32_t>(count_);
        std::uint32_t end = before;
        A.each(row, [&](std::int32_t middle, V left) {
            for (auto e = B.begin[middle]; e < B.begin[middle + 1]; ++e) {
                auto& here = place[B.column[e]];
                if (here > before) {
                    values[here - 1] += left * B.value[e];
                } else {
                    columns[end] = B.column[e], values[end] = left * B.value[e];
                    here = ++end;
                }
            }
        });
        count_ = end;
        return end - before;
    }
    void copy_to(std::int32_t* column, V* value) const {
        std::copy_n(column_.data(), count_, column);
        std::copy_n(value_.data(), count_, value);
    }

   private:
    /// Memory for that many entries.
    void take(index_t entries) {
        Buffer<std::int32_t, Cpu> column(on_, entries);
        Buffer<V, Cpu> value(on_, entries);
        copy_to(column.data(), value.data());
        column_ = std::move(column), value_ = std::move(value);
    }

    Cpu on_;
    index_t count_ = 0;
    Buffer<std::int32_t, Cpu> column_;
    Buffer<V, Cpu> value_;
};

/// C = A B, with C.rows and C.columns given. @param entries  of A
template <class Left, class V>
void multiply_rows(Cpu on, const Left& A, index_t entries, const RowsView<V>& B, Rows<V, Cpu>& C) {
    const int threads = threads_for(on, B.columns, entries);
    const auto parts = row_parts(C.rows, index_t{16} * threads);
    std::vector<Buffer<std::uint32_t, Cpu>> place(static_cast<std::size_t>(threads));
    std::vector<std::optional<ProductRows<V>>> computed(static_cast<std::size_t>(parts.count));
    C.begin = Buffer<std::uint32_t, Cpu>(on, C.rows + 1);
    for_each_part(threads, parts.count, [&](index_t part, int thread) {
        auto& own = place[static_cast<std::size_t>(thread)];
        if (own.size() == 0) own = Buffer<std::uint32_t, Cpu>(on, B.columns);
        std::fill_n(own.data(), B.columns, 0u);
        auto& rows = computed[static_cast<std::size_t>(part)].emplace(on, parts.first(part + 1) - parts.first(part));
        for (index_t row = parts.first(part); row < parts.first(part + 1); ++row) C.begin.data()[row] = rows.add_row(A, B, row, own.data());
    });
    const index_t all = offsets_of_counts(on, C.begin);
    C.column = Buffer<std::int32_t, Cpu>(on, all);
    C.value = Buffer<V, Cpu>(on, all);
    for_each_part(threads, parts.count, [&](index_t part) {
        const auto first = C.begin.data()[parts.first(part)];
        computed[static_cast<std::size_t>(part)]->copy_to(C.column.data() + first, C.value.data() + first);
        computed[static_cast<std::size_t>(part)].reset();
    });
}

/// T = A^T, with T.rows and T.columns given; its columns ascend.
template <class V>
void transpose_rows(Cpu on, const RowsView<V>& A, Rows<V, Cpu>& T) {
    const int threads = threads_for(on, T.rows, A.entries);
    const auto parts = row_parts(A.rows, threads);
    // Of each part the number of entries in every column of A, then the place of the next one.
    std::vector<Buffer<std::uint32_t, Cpu>> next(static_cast<std::size_t>(parts.count));
    for_each_part(threads, parts.count, [&](index_t part) {
        auto& count = next[static_cast<std::size_t>(part)];
        count = Buffer<std::uint32_t, Cpu>(on, T.rows);
        std::fill(count.data(), count.data() + T.rows, 0u);
        for (auto e = A.begin[parts.first(part)]; e < A.begin[parts.first(part + 1)]; ++e) ++count.data()[A.column[e]];
    });
    T.begin = Buffer<std::uint32_t, Cpu>(on, T.rows + 1);
    parallel_for(on, T.rows, [&](index_t row) {
        std::uint32_t sum = 0;
        for (const auto& count : next) sum += count.data()[row];
        T.begin.data()[row] = sum;
    });
    const index_t entries = offsets_of_counts(on, T.begin, A.entries);
    T.column = Buffer<std::int32_t, Cpu>(on, entries);
    T.value = Buffer<V, Cpu>(on, entries);
    parallel_for(on, T.rows, [&](index_t row) {
        auto at = T.begin.data()[row];
        for (auto& count : next) at += std::exchange(count.data()[row], at);
    });
    for_each_part(threads, parts.count, [&](index_t part) {
        auto* const place = next[static_cast<std::size_t>(part)].data();
        for (index_t row = parts.first(part); row < parts.first(part + 1); ++row)
            for (auto e = A.begin[row]; e < A.begin[row + 1]; ++e) {
                const auto at = place[A.column[e]]++;
                T.column.data()[at] = static_cast<std::int32_t>(row);
                T.value.data()[at] = A.value[e];
            }
    });
}

}  // namespace kasane::sparse::cpu
