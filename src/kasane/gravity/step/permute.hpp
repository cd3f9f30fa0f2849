// Permutes arrays in place: data[i] becomes the old data[order[i]]. Elements are moved word by word through 8 bytes of scratch per
// element, so that arrays of large elements need no second copy.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kasane::gravity {

/// data[stride i + offset] = old data[stride order[i] + offset], for words of 1, 4 or 8 bytes.
/// @param scratch  8 bytes per element of order, aligned to 8
template <Space S, class Word>
void permute_words(S on, View<const std::uint32_t> order, Word* data, int stride, int offset, std::byte* scratch);

/// Permutes `data` in place. @param data  [order.n], or empty: then nothing is done
template <Space S, class T>
void permute(S on, View<const std::uint32_t> order, View<T> data, std::byte* scratch) {
    static_assert(std::is_trivially_copyable_v<T>);
    using Word = std::conditional_t<sizeof(T) % 8 == 0, std::uint64_t, std::conditional_t<sizeof(T) % 4 == 0, std::uint32_t, std::uint8_t>>;
    constexpr int words = sizeof(T) / sizeof(Word);
    if (data.empty()) return;
    for (int w = 0; w < words; ++w) permute_words(on, order, reinterpret_cast<Word*>(data.ptr), words, w, scratch);
}

/// order[k] = k.
template <Space S>
void set_natural_order(S on, View<std::uint32_t> order);

/// place[order[k]] = k.
template <Space S>
void invert(S on, View<const std::uint32_t> order, View<std::uint32_t> place);

/// to[k] = from[index[k]].   @param to  [index.n]
template <Space S, class T>
void gather(S on, View<const std::uint32_t> index, View<const T> from, View<T> to);

/// to[index[k]] = from[k].
template <Space S, class T>
void scatter(S on, View<const std::uint32_t> index, View<const T> from, View<T> to);

}  // namespace kasane::gravity
