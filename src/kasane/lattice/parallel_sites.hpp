// parallel_for for bodies that take a microsecond or more: a matrix product for every index.
// Invariant: the same meaning as parallel_for; but a thread is started for fewer indices.
#pragma once

#include <kasane/core/device/parallel.hpp>

namespace kasane::lattice {

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
