// GrowingBuffer<T, S>: a Buffer whose number of elements changes often, by a little. It keeps the memory of its largest number so far and,
// when it grows beyond that, takes a sixteenth more: allocation on a device stops all of its work, for milliseconds where other devices
// reach its memory.
#pragma once

#include <kasane/core/device/buffer.hpp>

#include <algorithm>

namespace kasane {

template <class T, Space S>
class GrowingBuffer {
   public:
    GrowingBuffer() = default;
    /// n uninitialised elements, in memory for as many.
    GrowingBuffer(S on, index_t n) : on_(on), memory_(on, n), n_(n) {}

    S space() const { return on_; }
    index_t size() const { return n_; }
    T* data() { return memory_.data(); }
    const T* data() const { return memory_.data(); }
    View<T> view() { return {memory_.data(), n_}; }
    View<const T> view() const { return {memory_.data(), n_}; }

    /// Changes the number of elements; their values are lost when the memory grows.
    void resize_discarding(index_t n) {
        if (n > memory_.size()) {
            const index_t held = with_reserve(n);
            memory_ = {};  // before the allocation, so that both do not take memory at once
            memory_ = Buffer<T, S>(on_, held);
        }
        n_ = n;
    }
    /// Takes memory for n elements; the present ones keep their values.
    void reserve(index_t n) {
        if (n > memory_.size()) {
            Buffer<T, S> larger(on_, with_reserve(n));
            const auto bytes = static_cast<std::size_t>(n_) * sizeof(T);
            if constexpr (std::same_as<S, Cpu>) {
                if (bytes > 0) std::memcpy(larger.data(), memory_.data(), bytes);
            }
#if defined(KASANE_CUDA)
            else if (bytes > 0)
                cuda::copy_on_device(on_, larger.data(), memory_.data(), bytes);
#endif
            memory_ = std::move(larger);
        }
    }
    /// Changes the number of elements and keeps the values of the first ones.
    void resize(index_t n) {
        reserve(n);
        n_ = n;
    }
    /// Releases the memory.
    void clear() {
        memory_ = {};
        n_ = 0;
    }

   private:
    /// The first memory of a buffer is exact.
    index_t with_reserve(index_t n) const { return memory_.size() > 0 ? n + n / 16 : n; }

    S on_{};
    Buffer<T, S> memory_;
    index_t n_ = 0;
};

/// Copies the elements of a buffer to the host.
template <class T, Space S>
std::vector<T> to_host(const GrowingBuffer<T, S>& from) {
    std::vector<T> to(static_cast<std::size_t>(from.size()));
    copy_to_host(from.space(), view(to), from.view());
    return to;
}

}  // namespace kasane
