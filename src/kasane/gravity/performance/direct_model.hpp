// The performance models of [MTM13] section 6 with their parameters: eq. 2 (one device) and eqs. 4 to 7 (several devices with two streams).
// The model that kasane uses for predictions (force_time.hpp) extends these; here they are as in the paper, so that its numbers can be
// checked. docs/performance-model.md compares them with the paper's.
#pragma once

#include <kasane/core/base/types.hpp>

#include <array>
#include <vector>

namespace kasane::gravity {

/// A device and the kernel of [MTM13] fig. 2: every thread of a block has one target, and a block stages as many sources at a time as it
/// has threads.
struct DirectDevice {
    int multiprocessors = 1;
    int resident_blocks = 1;            ///< B: blocks that a multiprocessor executes at the same time
    int lanes = 1;                      ///< W: lanes of a multiprocessor
    int threads = 1;                    ///< T: threads of a block
    double cycles_per_interaction = 0;  ///< C_calc: cycles of a lane
    double latency_cycles = 0;          ///< L: latency of the device's memory
    double launch_cycles = 0;           ///< C_kernel: cycles of a launch
    double clock_hertz = 0;

    /// Number of targets that fills every multiprocessor: 8192 in the paper.
    index_t filling_targets() const { return static_cast<index_t>(multiprocessors) * resident_blocks * threads; }
};

/// Eq. 2: cycles to sum N_j sources for N_i targets,
///     ceil(N_i / (P B T)) [N_j (B/W) max(L, T C_calc) + C_kernel + 2 L],
/// P multiprocessors with W lanes and B resident blocks of T threads. Of L and T C_calc the shorter one is hidden, where B > 1.
double direct_cycles(const DirectDevice& device, index_t targets, index_t sources);
double direct_seconds(const DirectDevice& device, index_t targets, index_t sources);

/// Eq. 3: max(L, T C_calc) from a measured time, without launch and latency.
double loop_cycles(const DirectDevice& device, index_t targets, index_t sources, double seconds);

/// Eq. 2 in seconds, with the three constants that times of one device determine: ceil(N_i / filling) (N_j per_source + per_wave).
struct DirectWaves {
    index_t filling = 1;    ///< DirectDevice::filling_targets()
    double per_source = 0;  ///< (B/W) max(L, T C_calc) cycles [s]
    double per_wave = 0;    ///< C_kernel + 2 L cycles [s]
    double largest = 0;     ///< of a fit: largest relative deviation of a time
    double seconds(index_t targets, index_t sources) const;
};
/// The constants of a device with these parameters.
DirectWaves waves_of(const DirectDevice& device);
/// Fits the constants to times of N targets and N sources by least squares of the relative deviations, none below zero; `filling` is a
/// power of two. @throws InputError: fewer than three times, or a time that is not above 0
DirectWaves fit_direct_waves(const std::vector<index_t>& n, const std::vector<double>& seconds);

/// Time of the two streams of a device in units of t_calc(N / N_GPU; 1) if the kernels leave multiprocessors idle (fig. 11): stream 0 has
/// the own particles and the stages 0, 2, … (1, 4, 16, … times N / N_GPU sources), stream 1 the stages 1, 3, … (2, 8, 32, …).
struct StreamWork {
    double stream0 = 0, stream1 = 0;
};
/// @param devices  a power of two
StreamWork stream_work(int devices);
/// Number of messages that a stream waits for before its last kernel: floor(log4 N_GPU).
int stream_waits(int devices);

/// Eqs. 4 and 5: one evaluation by devices that are not filled. The paper's condition reads "not a multiple of 4" and "a multiple
/// of 4"; its numbers follow from "not a power of 4" (8, 32, 128: eq. 4, stream 0 ends last) and "a power of 4" (4, 16, 64, 256: eq. 5,
/// stream 1 ends last), with both logarithms rounded down. That is the longer of the two streams.
double unfilled_seconds(int devices, double t_calc, double t_sync);
/// Eqs. 6 and 7: weak efficiency, N_GPU t_calc over unfilled_seconds().
double unfilled_efficiency(int devices, double t_calc, double t_sync);

/// One evaluation for n particles on several devices: eqs. 4 and 5 if N / N_GPU is below filling_targets(). Otherwise the kernels of both
/// streams share the device, so that their times add up: own particles, then a kernel per message.
/// @param devices  a power of two where the devices are not filled
double cluster_seconds(const DirectWaves& waves, index_t n, int devices, double t_sync);
double cluster_seconds(const DirectDevice& device, index_t n, int devices, double t_sync);

/// Numbers of [MTM13]: table 2, table 3, and the device with the parameters of section 6.1.
namespace mtm13 {
inline constexpr double flops_per_interaction = 26;
/// The time that eq. 3 uses, N = 1,048,576 on one device: 28.9 s.
inline constexpr index_t timed_particles = 1048576;
inline constexpr double timed_seconds = 28.9;

struct Synchronisation {
    int devices;
    double t_sync, t_kernel;  ///< [s]
};
inline constexpr std::array<Synchronisation, 9> table2{{{1, 2.97e-5, 1.61e-6},
                                                        {2, 7.84e-5, 1.89e-6},
                                                        {4, 1.64e-4, 2.47e-6},
                                                        {8, 1.85e-4, 2.47e-6},
                                                        {16, 1.89e-4, 2.48e-6},
                                                        {32, 1.99e-4, 2.47e-6},
                                                        {64, 1.79e-4, 2.56e-6},
                                                        {128, 1.89e-4, 2.52e-6},
                                                        {256, 1.96e-4, 2.53e-6}}};
struct KernelTime {
    index_t n;
    double seconds;
};
inline constexpr std::array<KernelTime, 6> table3{
    {{256, 5.32e-5}, {512, 1.04e-4}, {1024, 2.06e-4}, {2048, 4.09e-4}, {4096, 8.16e-4}, {8192, 1.94e-3}}};

/// NVIDIA Tesla M2090: C_calc from eq. 3, C_kernel from table 2, L from the middle of the paper's range of 400 to 800.
DirectDevice tesla_m2090();
}  // namespace mtm13

}  // namespace kasane::gravity
