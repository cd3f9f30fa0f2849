// Sorts the entries of rows by column on a device: a warp reads a row into shared memory, and the place of an entry is the number of
// smaller columns.
// Invariant: no column occurs twice in a row; rows of more than most_sorted_entries entries stay as they are.
#pragma once

#include <kasane/core/device/check.cuda.hpp>

#include <cstdint>

namespace kasane::sparse::device {

inline constexpr std::uint32_t most_sorted_entries = 512;  ///< entries of the longest row that is sorted
inline constexpr int sort_block = 64;                      ///< threads of a block

/// Sorts the rows with the entries begin[row], ..., begin[row + 1] - 1; one warp for each row. @param begin [rows + 1]
template <class V>
__global__ void __launch_bounds__(sort_block)
    sort_entries_of_rows(index_t rows, const std::uint32_t* begin, std::int32_t* column, V* value) {
    constexpr int warps = sort_block / 32;
    __shared__ std::int32_t columns[warps][most_sorted_entries];
    __shared__ V values[warps][most_sorted_entries];
    const index_t row = (blockIdx.x * static_cast<index_t>(sort_block) + threadIdx.x) / 32;
    if (row >= rows) return;
    const std::uint32_t lane = threadIdx.x % 32, own = begin[row], n = begin[row + 1] - own;
    if (n < 2 || n > most_sorted_entries) return;
    std::int32_t* const c = columns[threadIdx.x / 32];
    V* const v = values[threadIdx.x / 32];
    for (std::uint32_t i = lane; i < n; i += 32) c[i] = column[own + i], v[i] = value[own + i];
    __syncwarp();
    for (std::uint32_t i = lane; i < n; i += 32) {
        std::uint32_t place = 0;
        for (std::uint32_t j = 0; j < n; ++j) place += c[j] < c[i];
        column[own + place] = c[i];
        value[own + place] = v[i];
    }
}

}  // namespace kasane::sparse::device
