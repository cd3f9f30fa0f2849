// Copies of large arrays between host and device in chunks through pinned memory, which the device reads and writes at the full rate of the
// bus: the device works on one chunk while threads of the host fill or take another.
#pragma once

#include <kasane/core/device/parallel.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <algorithm>
#include <array>

#if defined(KASANE_CUDA)
namespace kasane {

/// Elements of a chunk of a staged copy of n elements.
constexpr index_t staged_chunk(index_t n) { return std::min(index_t{1} << 18, n); }

namespace detail {
/// Two chunks of pinned memory in turn.
class StagedChunks {
   public:
    StagedChunks(Cuda on, std::size_t bytes) : halves_{Half{{}, cuda::Event(on.device)}, Half{{}, cuda::Event(on.device)}} {
        for (auto& half : halves_) half.memory.reserve_discarding(bytes);
    }
    struct Half {
        cuda::PinnedMemory memory;
        cuda::Event copied;
    };
    Half& operator[](index_t chunk) { return halves_[static_cast<std::size_t>(chunk % 2)]; }
    /// The memory limits the loops over a chunk: more threads gain nothing.
    static Cpu threads() { return Cpu{std::min(8, thread_count(Cpu{}))}; }

   private:
    std::array<Half, 2> halves_;
};
}  // namespace detail

/// @param value  function of the index that returns the element; several threads call it
template <class T, class Value>
void staged_to_device(Cuda on, View<T> to, const Value& value) {
    const index_t most = staged_chunk(to.n);
    detail::StagedChunks chunks(on, static_cast<std::size_t>(most) * sizeof(T));
    for (index_t first = 0, c = 0; first < to.n; first += most, ++c) {
        const auto n = std::min(most, to.n - first);
        auto& [memory, copied] = chunks[c];
        if (c > 1) copied.wait();
        auto* const chunk = reinterpret_cast<T*>(memory.data());
        parallel_for(chunks.threads(), n, [&](index_t k) { chunk[k] = value(first + k); });
        cuda::start_copy_to_device(on, to.ptr + first, chunk, static_cast<std::size_t>(n) * sizeof(T));
        copied.record(on);
    }
    synchronize(on);
}

/// @param source  function of (first, n) that returns the elements first, ..., first + n - 1 on the device. It may enqueue work on `on`
/// that makes them in the memory of the chunk before; n is at most staged_chunk()
/// @param take  function of the index and the element; several threads call it
template <class T, class Source, class Take>
void staged_to_host(Cuda on, index_t count, const Source& source, const Take& take) {
    const index_t most = staged_chunk(count);
    detail::StagedChunks chunks(on, static_cast<std::size_t>(most) * sizeof(T));
    const auto start = [&](index_t c) {
        if (c * most >= count) return;
        const auto n = std::min(most, count - c * most);
        const T* const from = source(c * most, n);
        cuda::start_copy_to_host(on, chunks[c].memory.data(), from, static_cast<std::size_t>(n) * sizeof(T));
        chunks[c].copied.record(on);
    };
    start(0);
    for (index_t c = 0; c * most < count; ++c) {
        start(c + 1);
        chunks[c].copied.wait();
        const auto* const chunk = reinterpret_cast<const T*>(chunks[c].memory.data());
        parallel_for(chunks.threads(), std::min(most, count - c * most), [&](index_t k) { take(c * most + k, chunk[k]); });
    }
}

}  // namespace kasane
#endif
