#include <kasane/sparse/format/first_touch.hpp>

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace kasane::sparse {
namespace {

constexpr std::size_t small_page = 4096, huge_page = std::size_t{2} << 20;
constexpr index_t least_rows = 1 << 16;  ///< arrays of fewer rows stay in the caches

/// touch(segment, page) for the own segments of every thread: for pages of 2 MiB first, since a write elsewhere in one of them would place
/// all of it.
template <class Touch>
void touch_by_owners(Cpu on, const Layout<Cpu>& layout, const Touch& touch) {
    if (layout.padded < least_rows) return;
    const int parts = layout.shape.parts, threads = std::min(parts, thread_count(on));
#pragma omp parallel num_threads(threads)
    {
        const PartShares shares{parts, omp_get_num_threads()};
        each_own_segment(layout, shares, omp_get_thread_num(), [&](std::size_t segment) { touch(segment, huge_page); });
#pragma omp barrier
        each_own_segment(layout, shares, omp_get_thread_num(), [&](std::size_t segment) { touch(segment, small_page); });
    }
}

ByteRange in_bytes(index_t begin, index_t end, std::size_t size) {
    return {static_cast<std::size_t>(begin) * size, static_cast<std::size_t>(end) * size};
}

/// Calls f(begin, end) for the ranges of stored entries of a segment.
template <class T, class F>
void each_range_of_entries(const Layout<Cpu>& layout, const Triangle<Cpu, T>& t, std::size_t segment, const F& f) {
    const Segment rows = layout.segment[segment];
    if (rows.begin == rows.end) return;
    if (t.kind == FormatKind::csr || t.kind == FormatKind::sell)
        return f(t.offset.data()[rows.begin / t.chunk], t.offset.data()[rows.end / t.chunk]);
    const Slice& slice = t.slice[segment];
    for (int k = 0; k < slice.width; ++k) {
        const index_t column = slice.offset + k * slice.rows - slice.begin;
        f(column + rows.begin, column + rows.end);
    }
}

}  // namespace

void touch_pages_of(void* array, ByteRange range, std::size_t page) {
    auto* const memory = static_cast<volatile char*>(array);
    if (range.begin == 0 && range.end > 0) memory[0] = 0;
    const auto address = reinterpret_cast<std::uintptr_t>(array);
    const std::size_t first = (address + range.begin + page - 1) / page * page - address;
    for (std::size_t at = first; at < range.end; at += page) memory[at] = 0;
}

void place_rows(Cpu on, const Layout<Cpu>& layout, std::initializer_list<RowArray> arrays) {
    touch_by_owners(on, layout, [&](std::size_t segment, std::size_t page) {
        const Segment rows = layout.segment[segment];
        for (const auto& array : arrays) touch_pages_of(array.memory, in_bytes(rows.begin, rows.end, array.bytes_per_row), page);
    });
}

template <class T>
void place_entries(Cpu on, const Layout<Cpu>& layout, Triangle<Cpu, T>& triangle) {
    touch_by_owners(on, layout, [&](std::size_t segment, std::size_t page) {
        each_range_of_entries(layout, triangle, segment, [&](index_t begin, index_t end) {
            touch_pages_of(triangle.column.data(), in_bytes(begin, end, sizeof(std::int32_t)), page);
            touch_pages_of(triangle.value.data(), in_bytes(begin, end, sizeof(T)), page);
        });
    });
}

template void place_entries(Cpu, const Layout<Cpu>&, Triangle<Cpu, double>&);
template void place_entries(Cpu, const Layout<Cpu>&, Triangle<Cpu, float>&);

}  // namespace kasane::sparse
