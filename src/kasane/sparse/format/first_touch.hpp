// Placement of arrays in new row numbers. The system takes a page from the memory of the processor that writes it first; so every thread
// of the iteration first writes into the pages of its own rows, before any loop of the set-up fills them.
// Invariants: a page belongs to the thread that owns its first byte, whether it has 4 KiB or 2 MiB; the threads are those of
// iterate/threads.hpp, with the same shares. (Idle threads there take parts of other shares; those stay where they are.)
#pragma once

#include <kasane/sparse/format/triangle.hpp>

#include <cstddef>
#include <initializer_list>

namespace kasane::sparse {

/// How the parts of a layout are distributed over threads: thread t begins with parts [first(t), first(t + 1)).
struct PartShares {
    int parts, threads;
    int first(int thread) const { return static_cast<int>(static_cast<index_t>(parts) * thread / threads); }
};

/// Calls f(index of the segment) for the segments of a thread.
template <class F>
void each_own_segment(const Layout<Cpu>& layout, const PartShares& shares, int thread, const F& f) {
    for (int color = 0; color < layout.colors; ++color)
        for (int part = shares.first(thread); part < shares.first(thread + 1); ++part)
            f(static_cast<std::size_t>(color) * static_cast<std::size_t>(shares.parts) + static_cast<std::size_t>(part));
}

/// Bytes [begin, end) of an array.
struct ByteRange {
    std::size_t begin, end;
};

/// Writes a zero into every page that begins in this range of an array, and into its first byte where the range has it.
/// @param page  bytes of a page, a power of two
void touch_pages_of(void* array, ByteRange range, std::size_t page);

/// An array with as many bytes for every row of a layout.
struct RowArray {
    void* memory;
    std::size_t bytes_per_row;
};
template <class T>
RowArray row_array(Buffer<T, Cpu>& rows) {
    return {rows.data(), sizeof(T)};
}

/// First writes into new arrays [padded], whose content is lost.
void place_rows(Cpu on, const Layout<Cpu>& layout, std::initializer_list<RowArray> arrays);
/// Does the same for columns and values of a triangle, whose offsets or slices are known.
template <class T>
void place_entries(Cpu on, const Layout<Cpu>& layout, Triangle<Cpu, T>& triangle);

#if defined(KASANE_CUDA)
// The memory of a device is one.
template <class T>
RowArray row_array(Buffer<T, Cuda>&) {
    return {};
}
inline void place_rows(Cuda, const Layout<Cuda>&, std::initializer_list<RowArray>) {}
template <class T>
void place_entries(Cuda, const Layout<Cuda>&, Triangle<Cuda, T>&) {}
#endif

}  // namespace kasane::sparse
