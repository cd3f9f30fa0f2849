// parallel_for for bodies that take a microsecond or more, for example a matrix product: it starts a thread for fewer indices.
// Invariant: the calls of the body are those of parallel_for.
#pragma once

#include <kasane/core/device/parallel.hpp>

namespace kasane::lattice {

/// Calls body(0), ..., body(n - 1), on several threads from 33 indices on.
template <class F>
void parallel_for_sites(Cpu on, index_t n, F body) {
    const int threads = n > 32 ? thread_count(on) : 1;
    const index_t parts = threads > 1 ? std::min(n / 16, index_t{16} * threads) : 1;
    for_each_part(threads, parts, [&](index_t part) {
        const index_t end = n * (part + 1) / parts;
        for (index_t i = n * part / parts; i < end; ++i) body(i);
    });
}

#if defined(__CUDACC__)
template <class F>
void parallel_for_sites(Cuda on, index_t n, F body) {
    parallel_for(on, n, body);
}
#endif

}  // namespace kasane::lattice
