// Products and transposes of sparse matrices on the CPU, in one pass over the entries. A thread has a number for every column of the
// product, so that the entry of a column is found without a search. A row is accumulated in the order of the entries of A and B, and its
// columns are in the order of their first terms: its bits do not depend on threads.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/sparse/aggregation/rows.hpp>

#include <algorithm>
#include <bit>
#include <memory>
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

/// Returns the number of threads whose memory, `columns` numbers each, is not large compared with the entries.
inline int threads_for(Cpu on, index_t columns, index_t entries) {
    return static_cast<int>(std::clamp<index_t>(4 * entries / std::max<index_t>(columns, 1), 1, thread_count(on)));
}

/// The entries of one row of a factor.
template <class V>
struct EntriesOfRow {
    const std::int32_t* column;
    const V* value;
    index_t count;
};

template <class V>
EntriesOfRow<V> entries_of(const RowsView<V>& A, index_t row) {
    const index_t first = A.begin[row];
    return {A.column + first, A.value + first, A.begin[row + 1] - first};
}

/// Rows of a product that one thread computes, one after the other.
template <class V>
class ProductRows {
   public:
    /// @param rows  that it will have, about   @param columns  of the product
    ProductRows(Cpu on, index_t rows, index_t columns) : on_(on), expected_(rows), place_(on, columns) {
        std::fill_n(place_.data(), columns, 0u);
    }

    /// Appends row `row` of A B.
    template <class Left, class Right>
    void add_row(const Left& A, const Right& B, index_t row) {
        std::uint32_t* const place = place_.data();  // of each column among the entries, from 1 on; at most `before` where the row has none
        std::int32_t* columns = column_.data();
        V* values = value_.data();
        const auto before = static_cast<std::uint32_t>(count_);
        std::uint32_t end = before;
        A.each(row, [&](std::int32_t middle, V left) {
            const auto right = entries_of(B, middle);
            if (end + right.count > column_.size()) {
                count_ = end;
                if (!take(end + right.count)) return;
                columns = column_.data(), values = value_.data();
            }
            for (index_t k = 0; k < right.count; ++k) {
                auto& here = place[right.column[k]];
                if (here > before) {
                    values[here - 1] += left * right.value[k];
                } else {
                    columns[end] = right.column[k], values[end] = left * right.value[k];
                    here = ++end;
                }
            }
        });
        count_ = end;
        ++rows_;
    }
    /// Number of entries of the rows so far.
    index_t count() const { return count_; }
    const std::int32_t* columns() const { return column_.data(); }
    const V* values() const { return value_.data(); }
    /// Whether places of 32 bits have not been enough; rows are then missing.
    bool too_many() const { return too_many_; }
    /// Releases the memory that only new rows need.
    void finish() { place_ = {}; }

   private:
    /// Memory for at least that many entries: for all rows, from the mean of those so far. @return whether places of 32 bits are enough
    bool take(index_t least) {
        too_many_ = too_many_ || least >= index_t{0xFFFFFFFF};
        if (too_many_) return false;
        const index_t all =
            rows_ > 0 ? count_ / rows_ * expected_ + count_ % rows_ * expected_ / rows_ : 16 * std::min(expected_, index_t{1} << 17);
        const index_t entries = std::max({least, all + all / 8, count_ > all ? count_ + count_ / 2 : 0});
        Buffer<std::int32_t, Cpu> column(on_, entries);
        Buffer<V, Cpu> value(on_, entries);
        std::copy_n(column_.data(), count_, column.data());
        std::copy_n(value_.data(), count_, value.data());
        column_ = std::move(column), value_ = std::move(value);
        return true;
    }

    Cpu on_;
    index_t expected_, rows_ = 0, count_ = 0;
    bool too_many_ = false;
    Buffer<std::uint32_t, Cpu> place_;
    Buffer<std::int32_t, Cpu> column_;
    Buffer<V, Cpu> value_;
};

/// A product in the form in which threads compute it: the rows of a part lie together, parts anywhere. If it is the factor of another
/// product, this form saves a copy.
template <class V>
class ComputedRows {
   public:
    /// @param entries  of A   @param rows  of A
    template <class Left, class Right>
    ComputedRows(Cpu on, const Left& A, index_t rows, index_t entries, const Right& B, index_t columns)
        : threads_(threads_for(on, columns, entries)), rows_(rows), shift_(shift_of(rows, index_t{16} * threads_)) {
        const index_t parts = rows == 0 ? 0 : ((rows - 1) >> shift_) + 1;
        begin_ = Buffer<std::uint32_t, Cpu>(on, rows + parts);
        parts_.resize(static_cast<std::size_t>(parts));
        of_thread_.resize(static_cast<std::size_t>(threads_));
        for_each_part(threads_, parts, [&](index_t part, int thread) {
            auto& own = of_thread_[static_cast<std::size_t>(thread)];
            if (!own) own = std::make_unique<ProductRows<V>>(on, rows / threads_ + 1, columns);
            auto& here = parts_[static_cast<std::size_t>(part)];
            here.thread = thread;
            std::uint32_t* begin = begin_.data() + first(part) + part;
            *begin = static_cast<std::uint32_t>(own->count());
            for (index_t row = first(part), end = first(part + 1); row < end; ++row) {
                own->add_row(A, B, row);
                *++begin = static_cast<std::uint32_t>(own->count());
            }
        });
        for (auto& own : of_thread_) {
            if (!own) continue;
            KS_VALIDATE(!own->too_many(), "algebraic multigrid needs a product of 2^32 entries or more on one of its levels: take ic0.");
            own->finish();
        }
        for (auto& part : parts_) {
            const auto& own = *of_thread_[static_cast<std::size_t>(part.thread)];
            part.column = own.columns(), part.value = own.values();
        }
    }

    friend EntriesOfRow<V> entries_of(const ComputedRows& A, index_t row) {
        const index_t part = row >> A.shift_;
        const auto& here = A.parts_[static_cast<std::size_t>(part)];
        const std::uint32_t* const begin = A.begin_.data() + row + part;
        return {here.column + begin[0], here.value + begin[0], begin[1] - begin[0]};
    }
    /// Joins the parts to one matrix, with C.rows and C.columns given.
    void join(Cpu on, Rows<V, Cpu>& C) const {
        C.begin = Buffer<std::uint32_t, Cpu>(on, rows_ + 1);
        const auto parts = static_cast<index_t>(parts_.size());
        for_each_part(threads_, parts, [&](index_t part) {
            for (index_t row = first(part), end = first(part + 1); row < end; ++row)
                C.begin.data()[row] = static_cast<std::uint32_t>(entries_of(*this, row).count);
        });
        const index_t all = offsets_of_counts(on, C.begin);
        C.column = Buffer<std::int32_t, Cpu>(on, all);
        C.value = Buffer<V, Cpu>(on, all);
        for_each_part(threads_, parts, [&](index_t part) {
            const auto from = entries_of(*this, first(part));
            const std::uint32_t to = C.begin.data()[first(part)], count = C.begin.data()[first(part + 1)] - to;
            std::copy_n(from.column, count, C.column.data() + to);
            std::copy_n(from.value, count, C.value.data() + to);
        });
    }

   private:
    struct Part {
        int thread = 0;
        const std::int32_t* column = nullptr;  ///< of its thread
        const V* value = nullptr;
    };

    /// Parts have a power of two rows: at least 64, and so many that there are at most `most` of them.
    static int shift_of(index_t rows, index_t most) {
        const auto needed = static_cast<std::uint64_t>(std::max<index_t>((rows + most - 1) / most, 64));
        return static_cast<int>(std::bit_width(needed - 1));
    }
    index_t first(index_t part) const { return std::min(part << shift_, rows_); }

    int threads_;
    index_t rows_;
    int shift_;
    Buffer<std::uint32_t, Cpu> begin_;  ///< of every part the places of its rows among the entries of its thread, and their end
    std::vector<Part> parts_;
    std::vector<std::unique_ptr<ProductRows<V>>> of_thread_;
};

/// C = A B, with C.rows and C.columns given. @param entries  of A
template <class Left, class V>
void multiply_rows(Cpu on, const Left& A, index_t entries, const RowsView<V>& B, Rows<V, Cpu>& C) {
    ComputedRows<V>(on, A, C.rows, entries, B, C.columns).join(on, C);
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
