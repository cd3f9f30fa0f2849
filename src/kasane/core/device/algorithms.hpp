// The parallel algorithms beside parallel_for: sort, scan, select. CUB on CUDA; on the CPU Highway's vector sort and OpenMP.
// Invariants: results do not depend on the number of threads; nothing is read back to the host; scratch memory is kept in the
// Workspace between calls and only grows.
#pragma once

#include <kasane/core/device/buffer.hpp>

#include <cstdint>

namespace kasane {

/// Scratch bytes that the algorithms share; one workspace per stream of work.
template <Space S>
class Workspace {
   public:
    explicit Workspace(S on) : on_(on) {}
    /// Returns at least n bytes, 128-byte aligned; the content of an earlier call is lost.
    std::byte* bytes(std::size_t n) {
        if (memory_.size() == 0) memory_ = Buffer<std::byte, S>(on_, static_cast<index_t>(n));
        memory_.reserve_discarding(static_cast<index_t>(n));
        return memory_.data();
    }
    index_t size() const { return memory_.size(); }

   private:
    S on_;
    Buffer<std::byte, S> memory_;
};

/// Sorts keys ascending by their lowest `bits` bits (those above are zero) and carries the values; equal keys keep their order.
/// @param key, value          [n], overwritten with the result
/// @param key_scratch, value_scratch   [n], overwritten
template <Space S>
void sort_by_key(S on, Workspace<S>& work, View<std::uint64_t> key, View<std::uint32_t> value, View<std::uint64_t> key_scratch,
                 View<std::uint32_t> value_scratch, int bits = 64);

/// Computes the exclusive prefix sum out[i] = in[0] + … + in[i - 1]; in and out may be the same. [n] each.
template <Space S>
void exclusive_scan(S on, Workspace<S>& work, View<const std::uint32_t> in, View<std::uint32_t> out);

/// Writes the indices i with flag[i] != 0, ascending, to out [n], and their number to count[0], on the space.
template <Space S>
void select_flagged(S on, Workspace<S>& work, View<const std::uint8_t> flag, View<std::uint32_t> out, View<std::uint32_t> count);
/// Does the same with in[i] in place of i. @param in  [flag.n]
template <Space S>
void select_flagged(S on, Workspace<S>& work, View<const std::uint32_t> in, View<const std::uint8_t> flag, View<std::uint32_t> out,
                    View<std::uint32_t> count);

}  // namespace kasane
