// Sums over the entries of a vector in runs of neighbouring entries, which the host adds. The Cuda form exists where a file is compiled by
// nvcc. Invariants: runs do not depend on the number of threads, so that a sum has the same bits for all.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/kernels.hpp>

#include <algorithm>
#include <concepts>

namespace kasane::sparse {

inline constexpr index_t sum_runs_count = 1024;

/// body(run, first, end) for each run of neighbouring entries.
template <class Body>
void for_each_run(Cpu on, index_t n, const Body& body) {
    constexpr index_t runs = sum_runs_count;
    constexpr index_t parallel_from = 1 << 15;  // a shorter sum takes less time than waking the threads
    const int threads = n < parallel_from ? 1 : thread_count(on);
    const index_t parts = threads > 1 ? std::min<index_t>(runs, index_t{16} * threads) : 1;
    for_each_part(threads, parts, [&](index_t part) {
        for (index_t run = runs * part / parts; run < runs * (part + 1) / parts; ++run) body(run, n * run / runs, n * (run + 1) / runs);
    });
}

/// Sums of ranges of entries, one for each run. @param range  range(first, end): the sums of these entries
template <class Sums, class Range>
void sum_ranges(Cpu on, index_t n, const Range& range, Sums* partial) {
    for_each_run(on, n, [&](index_t run, index_t i, index_t end) { partial[run] = range(i, end); });
}

/// The sums of the terms of neighbouring entries, one for each run, in memory of the space.
/// @tparam Sums  with add() of a term and of Sums   @param term  term(i) of an entry
template <class Sums, class Term>
void sum_runs(Cpu on, index_t n, const Term& term, Sums* partial) {
    const auto range = [&](index_t i, index_t end) {
        Sums sums{};
        for (; i < end; ++i) sums.add(term(i));
        return sums;
    };
    sum_ranges(on, n, range, partial);
}

#if defined(__CUDACC__)
inline constexpr int sum_threads = 256;

/// A block has a run: the terms of its threads, then the sum of the block as a tree.
template <class Sums, class Term>
__global__ void __launch_bounds__(sum_threads) sum_run_of_block(index_t n, Term term, Sums* partial) {
    __shared__ Sums shared[sum_threads];
    const auto thread = threadIdx.x;
    Sums sums{};
    for (index_t i = static_cast<index_t>(blockIdx.x) * sum_threads + thread; i < n; i += static_cast<index_t>(gridDim.x) * sum_threads)
        sums.add(term(i));
    shared[thread] = sums;
    for (unsigned reach = sum_threads / 2; reach > 0; reach /= 2) {
        __syncthreads();
        if (thread < reach) shared[thread].add(shared[thread + reach]);
    }
    if (thread == 0) partial[blockIdx.x] = shared[0];
}

template <class Sums, class Term>
void sum_runs(Cuda on, index_t n, const Term& term, Sums* partial) {
    KS_CUDA(cudaSetDevice(on.device));
    sum_run_of_block<<<sum_runs_count, sum_threads, 0, on.stream>>>(n, term, partial);
    KS_CUDA(cudaGetLastError());
}
#endif

/// The sum of the sums of all runs.
template <class Sums, Space S>
Sums sum_of_runs(S on, const Buffer<Sums, S>& partial) {
    Sums of_runs[sum_runs_count];
    copy_to_host(on, View<Sums>(of_runs, sum_runs_count), View<const Sums>(partial.view()));
    Sums total{};
    for (const Sums& sums : of_runs) total.add(sums);
    return total;
}

/// The sum over all entries. @param partial  [sum_runs_count] memory to use
template <class Sums, Space S, class Term>
Sums sum_in_runs(S on, index_t n, const Term& term, Buffer<Sums, S>& partial) {
    if constexpr (std::same_as<S, Cpu>)
        if (n <= sum_runs_count) {  // runs of one entry, or of none, which would add zeros
            Sums total{};
            for (index_t i = 0; i < n; ++i) {
                Sums run{};
                run.add(term(i));
                total.add(run);
            }
            return total;
        }
    sum_runs(on, n, term, partial.data());
    return sum_of_runs(on, partial);
}

}  // namespace kasane::sparse
