// each_row(space, rows, body) calls body(0), ..., body(rows - 1) for rows that do not depend on each other. A row takes longer than an
// index of parallel_for, so a part has fewer of them. The Cuda form exists where a file is compiled by nvcc.
#pragma once

#include <kasane/core/device/parallel.hpp>

#include <algorithm>

namespace kasane::sparse {

constexpr index_t least_rows_of_thread = 256;  ///< of a part

/// Calls body(row) for all rows, on several threads.
void each_row(Cpu on, index_t rows, const auto& body) {
    const int threads = rows >= 2 * least_rows_of_thread ? thread_count(on) : 1;
    const index_t parts = threads > 1 ? std::min(rows / least_rows_of_thread, index_t{8} * threads) : 1;
    for_each_part(threads, parts, [&](index_t part) {
        for (index_t i = rows * part / parts; i < rows * (part + 1) / parts; ++i) body(i);
    });
}
#if defined(__CUDACC__)
template <class Body>
void each_row(Cuda on, index_t rows, const Body& body) {
    parallel_for(on, rows, body);
}
#endif

}  // namespace kasane::sparse
