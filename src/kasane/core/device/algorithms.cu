// The parallel algorithms on CUDA, by CUB. Its temporary storage is in the Workspace; nothing is copied back.
#include <kasane/core/device/algorithms.hpp>
#include <kasane/core/device/check.cuda.hpp>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/counting_iterator.h>

namespace kasane {
namespace {

/// Runs a CUB algorithm: the first call returns the size of its storage, the second one does the work.
template <class Algorithm>
void with_storage(Cuda on, Workspace<Cuda>& work, Algorithm algorithm) {
    KS_CUDA(cudaSetDevice(on.device));
    std::size_t bytes = 0;
    KS_CUDA(algorithm(nullptr, bytes));
    KS_CUDA(algorithm(work.bytes(bytes), bytes));
}

/// CUB's 32-bit paths are the fast ones, and indices have 32 bits.
std::uint32_t items(index_t n) {
    KS_EXPECT(n < index_t{1} << 32);
    return static_cast<std::uint32_t>(n);
}

}  // namespace

template <>
void sort_by_key(Cuda on, Workspace<Cuda>& work, View<std::uint64_t> key, View<std::uint32_t> value, View<std::uint64_t> key_scratch,
                 View<std::uint32_t> value_scratch, int bits) {
    if (key.n < 2) return;
    cub::DoubleBuffer<std::uint64_t> keys(key.ptr, key_scratch.ptr);
    cub::DoubleBuffer<std::uint32_t> values(value.ptr, value_scratch.ptr);
    with_storage(on, work, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceRadixSort::SortPairs(storage, bytes, keys, values, items(key.n), 0, bits, on.stream);
    });
    if (keys.Current() != key.ptr)
        cuda::copy_on_device(on, key.ptr, keys.Current(), static_cast<std::size_t>(key.n) * sizeof(std::uint64_t));
    if (values.Current() != value.ptr)
        cuda::copy_on_device(on, value.ptr, values.Current(), static_cast<std::size_t>(key.n) * sizeof(std::uint32_t));
}

template <>
void exclusive_scan(Cuda on, Workspace<Cuda>& work, View<const std::uint32_t> in, View<std::uint32_t> out) {
    if (in.n == 0) return;
    with_storage(on, work, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceScan::ExclusiveSum(storage, bytes, in.ptr, out.ptr, items(in.n), on.stream);
    });
}

namespace {
/// @param in  iterator of the elements
template <class In>
void select_elements(Cuda on, Workspace<Cuda>& work, In in, View<const std::uint8_t> flag, View<std::uint32_t> out,
                     View<std::uint32_t> count) {
    if (flag.n == 0) {
        KS_CUDA(cudaSetDevice(on.device));
        KS_CUDA(cudaMemsetAsync(count.ptr, 0, sizeof(std::uint32_t), on.stream));
        return;
    }
    with_storage(on, work, [&](void* storage, std::size_t& bytes) {
        return cub::DeviceSelect::Flagged(storage, bytes, in, flag.ptr, out.ptr, count.ptr, items(flag.n), on.stream);
    });
}
}  // namespace

template <>
void select_flagged(Cuda on, Workspace<Cuda>& work, View<const std::uint8_t> flag, View<std::uint32_t> out, View<std::uint32_t> count) {
    select_elements(on, work, thrust::counting_iterator<std::uint32_t>(0), flag, out, count);
}

template <>
void select_flagged(Cuda on, Workspace<Cuda>& work, View<const std::uint32_t> in, View<const std::uint8_t> flag, View<std::uint32_t> out,
                    View<std::uint32_t> count) {
    select_elements(on, work, in.ptr, flag, out, count);
}

}  // namespace kasane
