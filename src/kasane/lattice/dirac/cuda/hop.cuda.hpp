// The kernel of one hop; each of hop_*.cu instantiates it for one precision.
// Rates on an H200 (triad 4.40 TB/s) at 32^3 x 64, one parity, with 1320 flop per site, with the clover term's inverse 1824
// (`kasane bench lattice.dslash`):
//   TFLOPS   double-18  single-18  single-12  single-8  half-18  half-12  half-8   clover single-12  clover half-12  clover half-8
//               3.57       7.05       9.05      11.0      12.5     14.7     13.8         9.35             14.2            13.4
// Relative times of variants that were tried:
//   double: 3 blocks of 168 registers 1.04; links by bulk copies through shared memory, two directions deep, 1.02
//   single: links with an L2 policy of evict_first 1.00 (18 reals), 1.05 (12); bulk copies 0.97 to 1.00, eight directions deep 1.2 to 1.5;
//     5 blocks of 96 registers 1.33 (18), 1.09 (12), 1.04 (8); clover term loaded as early as the compiler chooses (it spills) 1.08
//   half: neither fetching ahead nor prefetching, 4 blocks 1.06, 5 blocks 1.11; fetching ahead alone 1.09; prefetching with 8 reals 1.04;
//     L2 policy 1.03; bulk copies at least 1.03
//   reciprocals by division: 1.3 (half-8, which has 24 of them)
//   tiles of 64, 256, 512 or 4096 sites 1.00 to 1.01; blocks of 64 threads 1.00, of 192 or 256 up to 1.1, since fewer fit
// Double and single move their bytes at 85 to 95% of the triad; half issues an instruction in two of three cycles and gains from each one
// that is saved.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop.body.hpp>
#include <kasane/lattice/dirac/cuda/hop.hpp>

#include <type_traits>

namespace kasane::lattice::device {

inline constexpr int hop_threads = 128;
/// Blocks on a multiprocessor: 254, 128 or 96 registers a thread.
template <Precision P, LinkReals R>
constexpr int hop_blocks() {
    if (P == Precision::double_) return 2;
    return P == Precision::half && R != LinkReals::parameters ? 5 : 4;
}

/// launch(form), with the form as a constant of the kernel where links are in half precision, and else as a number that the kernel reads.
/// One kernel for the three forms takes a third of the time of the compiler. On an H200 it takes 0.99 to 1.01 of the time in single
/// precision, up to 1.015 in double (several columns 1.02); half, which issues an instruction in two of three cycles, took up to 1.05
/// (operator, half-12), single-12 with half links 1.02 to 1.035.
template <bool half_links, class Launch>
void launch_form(HopForm form, const Launch& launch) {
    if constexpr (!half_links)
        launch(form);
    else if (form == HopForm::plain)
        launch(std::integral_constant<HopForm, HopForm::plain>{});
    else if (form == HopForm::inverse)
        launch(std::integral_constant<HopForm, HopForm::inverse>{});
    else
        launch(std::integral_constant<HopForm, HopForm::clover>{});
}

/// @tparam Form  of launch_form()
template <Precision P, LinkReals R, bool half_links, class Form>
__global__ void __launch_bounds__(hop_threads, hop_blocks<P, R>()) hop_kernel(const HopTask<P> task, const Form form) {
    const std::uint32_t place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < task.sites) hop_site<P, R, half_links>(task, form, place);
}

template <Precision P, LinkReals R, bool half_links>
void launch_hop(Cuda on, HopForm form, const HopTask<P>& task) {
    constexpr auto threads = static_cast<unsigned>(hop_threads);
    const unsigned blocks = (task.sites + threads - 1) / threads;
    KS_CUDA(cudaSetDevice(on.device));
    launch_form<half_links>(
        form, [&]<class Form>(Form of_kernel) { hop_kernel<P, R, half_links, Form><<<blocks, threads, 0, on.stream>>>(task, of_kernel); });
    KS_CUDA(cudaGetLastError());
}

}  // namespace kasane::lattice::device
