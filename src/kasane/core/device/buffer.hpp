// Buffer<T, S> owns n uninitialised T on the space S; it moves but never copies by itself.
// copy() is the only way to move elements between spaces; when it returns, the host memory may be used again.
#pragma once

#include <kasane/core/base/error.hpp>
#include <kasane/core/base/types.hpp>
#include <kasane/core/device/host_memory.hpp>
#include <kasane/core/device/space.hpp>
#include <kasane/core/device/space_cuda.hpp>

#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

namespace kasane {

/// Owns n elements of T, which is trivially copyable, in the memory of a space.
template <class T, Space S>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    /// No elements.
    Buffer() = default;
    /// n uninitialised elements. @throws std::bad_alloc (Cpu) or ComputationError (Cuda): not enough memory
    Buffer(S on, index_t n) : on_(on), n_(n) {
        if (n == 0) return;
        const auto bytes = static_cast<std::size_t>(n) * sizeof(T);
        if constexpr (std::same_as<S, Cpu>) ptr_ = static_cast<T*>(allocate_host(bytes));
#if defined(KASANE_CUDA)
        else
            ptr_ = static_cast<T*>(cuda::allocate(on, bytes));
#endif
    }
    /// Frees the memory.
    ~Buffer() { release(); }
    /// Takes the elements of `other`.
    Buffer(Buffer&& other) noexcept { swap(other); }
    /// Frees its elements and takes those of `other`.
    Buffer& operator=(Buffer&& other) noexcept {
        Buffer moved(std::move(other));
        swap(moved);
        return *this;
    }

    /// Space of the elements.
    S space() const { return on_; }
    /// Number of elements.
    index_t size() const { return n_; }
    /// First element, in the memory of the space.
    T* data() { return ptr_; }
    /// First element, in the memory of the space.
    const T* data() const { return ptr_; }
    /// View of all elements.
    View<T> view() { return {ptr_, n_}; }
    /// View of all elements.
    View<const T> view() const { return {ptr_, n_}; }

    /// Grows to at least n elements; their values are lost when it grows.
    void reserve_discarding(index_t n) {
        if (n > n_) {
            const S on = on_;
            release();
            *this = Buffer(on, n);
        }
    }

   private:
    void swap(Buffer& other) noexcept {
        std::swap(on_, other.on_);
        std::swap(ptr_, other.ptr_);
        std::swap(n_, other.n_);
    }
    void release() noexcept {
        if (!ptr_) return;
        if constexpr (std::same_as<S, Cpu>) release_host(ptr_);
#if defined(KASANE_CUDA)
        else
            cuda::release(on_, ptr_);
#endif
        ptr_ = nullptr;
        n_ = 0;
    }

    S on_{};
    T* ptr_ = nullptr;
    index_t n_ = 0;
};

namespace detail {
template <class T>
std::size_t bytes_of(View<T> v) {
    return static_cast<std::size_t>(v.n) * sizeof(T);
}
}  // namespace detail

/// Copies host elements to a space; both views have the same size.
template <class T, Space S>
void copy_from_host(S on, View<T> to, View<const std::type_identity_t<T>> from) {
    KS_EXPECT(to.n == from.n);
    if (from.n == 0) return;
    if constexpr (std::same_as<S, Cpu>) std::memcpy(to.ptr, from.ptr, detail::bytes_of(from));
#if defined(KASANE_CUDA)
    else
        cuda::copy_to_device(on, to.ptr, from.ptr, detail::bytes_of(from));
#endif
    static_cast<void>(on);
}

/// Copies elements of a space to the host, after all work that was submitted to the space before.
template <class T, Space S>
void copy_to_host(S on, View<T> to, View<const std::type_identity_t<T>> from) {
    KS_EXPECT(to.n == from.n);
    if (from.n == 0) return;
    if constexpr (std::same_as<S, Cpu>) std::memcpy(to.ptr, from.ptr, detail::bytes_of(from));
#if defined(KASANE_CUDA)
    else
        cuda::copy_to_host(on, to.ptr, from.ptr, detail::bytes_of(from));
#endif
    static_cast<void>(on);
}

/// Copies host elements to a new buffer on a space.
template <class T, Space S>
Buffer<T, S> to_space(S on, const std::vector<T>& from) {
    Buffer<T, S> to(on, static_cast<index_t>(from.size()));
    copy_from_host(on, to.view(), view(from));
    return to;
}

/// Copies the elements of a buffer to the host.
template <class T, Space S>
std::vector<T> to_host(const Buffer<T, S>& from) {
    std::vector<T> to(static_cast<std::size_t>(from.size()));
    copy_to_host(from.space(), view(to), from.view());
    return to;
}

}  // namespace kasane
