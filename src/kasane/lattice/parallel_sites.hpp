// parallel_for for bodies that cost a microsecond: a matrix product and more for every index.
// Invariant: same meaning as parallel_for; only fewer indices are worth a thread.
#pragma once

#include <kasane/core/device/parallel.hpp>

namespace kasane::lattice {

template <class F>
void parallel_for_sites(Cpu on, index_t n, F body) {
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static) num_threads(threads) if (n > 32)
    for (index_t i = 0; i < n; ++i) body(i);
}

#if defined(__CUDACC__)
template <class F>
void parallel_for_sites(Cuda on, index_t n, F body) {
    parallel_for(on, n, body);
}
#endif

}  // namespace kasane::lattice
