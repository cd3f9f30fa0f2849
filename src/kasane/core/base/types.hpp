// Types that every module uses: the index type, the mark of host-and-device functions, and View, a pointer with a length.
// View owns nothing and never copies elements; a View<T> converts to View<const T>.
#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#define KS_FN __host__ __device__ inline
#else
#define KS_FN inline
#endif

namespace kasane {

/// Counts and indices.
using index_t = std::int64_t;

/// Pointer and length of n contiguous T in the memory of some Space (std::span draws nvcc warnings in device code).
template <class T>
struct View {
    T* ptr = nullptr;  ///< the first element
    index_t n = 0;     ///< number of elements

    /// No elements.
    View() = default;
    /// @param first  the first element   @param count  number of elements
    KS_FN View(T* first, index_t count) : ptr(first), n(count) {}
    /// Converts a view for writing into a view for reading.
    template <class U>
        requires std::same_as<const U, T>
    KS_FN View(View<U> other) : ptr(other.ptr), n(other.n) {}

    /// Element i, from 0 to n - 1; not checked.
    KS_FN T& operator[](index_t i) const { return ptr[i]; }
    /// Number of elements.
    KS_FN index_t size() const { return n; }
    /// Whether there are no elements.
    KS_FN bool empty() const { return n == 0; }
    /// Iterator to the first element.
    KS_FN T* begin() const { return ptr; }
    /// Iterator past the last element.
    KS_FN T* end() const { return ptr + n; }
    /// Elements first, ..., first + count - 1; not checked.
    KS_FN View subview(index_t first, index_t count) const { return {ptr + first, count}; }
};

/// View of a contiguous host container.
template <class Container>
auto view(Container& c) {
    return View<std::remove_reference_t<decltype(*c.data())>>{c.data(), static_cast<index_t>(c.size())};
}

}  // namespace kasane
