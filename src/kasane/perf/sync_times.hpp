// Cost of starting work and of waiting for it, from empty kernels ([MTM13] section 5, fig. 7, table 2): the total time of N_sub empty
// kernels and one synchronisation is t_sync + N_sub t_kernel, a line whose coefficients are found by least squares. On the CPU an empty
// kernel is an empty parallel region of the worker's threads.
#pragma once

#include <kasane/core/comm/worker.hpp>
#include <kasane/core/device/space.hpp>

#include <vector>

namespace kasane {

struct SyncTiming {
    int kernels = 0;     ///< N_sub
    double seconds = 0;  ///< t_tot: the median of several
};

struct SyncTimes {
    int workers = 1;
    double t_sync = 0, t_kernel = 0;              ///< [s]
    double t_sync_error = 0, t_kernel_error = 0;  ///< standard errors
    std::vector<SyncTiming> timings;              ///< the times that the line was fitted to
};

/// Collective over the communicator: each worker submits N_sub empty kernels to its space and waits for them; several workers then wait in
/// the communicator's barrier (threads of a rank and ranks), as in the paper. A time is worker 0's, from a common start. The same on every
/// rank.
SyncTimes measure_sync(comm::WorkerCommunicator& communicator, const std::vector<AnySpace>& here);
/// Measures one space, without a barrier.
SyncTimes measure_sync(const AnySpace& on);

/// The line through these times.
SyncTimes fit_sync(int workers, std::vector<SyncTiming> timings);

namespace detail {
void start_nothing(Cpu on);
#if defined(KASANE_CUDA)
void start_nothing(Cuda on);
#endif
}  // namespace detail

}  // namespace kasane
