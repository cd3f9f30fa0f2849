// Peak rates of the CPU's vector units, measured where the program runs: bounds for kernels, and the peak for `kasane info`.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/core/device/space.hpp>

#include <functional>

namespace kasane {

/// Executions per second of `work(rounds)` times `per_round`, summed over the threads that run it at once for 60 ms. Each thread reports
/// the time that its fastest tenth of slices, some microseconds long, stays below, so that interruptions do not count.
double sustained_rate(Cpu on, const std::function<void(index_t rounds)>& work, double per_round);

struct CpuPeak {
    double multiply_adds = 0;  ///< vector instructions (fused where the processor can) per second, all threads
    int float_lanes = 0;       ///< floats in a vector
    double flops() const { return 2.0 * float_lanes * multiply_adds; }  ///< in single precision; half of it in double
};

/// Measures the peak in 60 ms.
CpuPeak cpu_peak(Cpu on);

}  // namespace kasane
