// The kernel of a hop with a halo; each of hop_halo_*.cu instantiates it for one precision.
// It starts as soon as all blocks of the previous kernel, which writes into the neighbours' halos, are resident, and runs beside it, so
// that blocks that wait for halos never keep the previous kernel from running. The blocks of the previous kernel have waited for the end of
// all earlier work, whose results this kernel reads.
#pragma once

#include <kasane/lattice/dirac/cuda/chained.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop_halo.hpp>

namespace kasane::lattice::device {

template <Precision P, LinkReals R, bool half_links, HaloOf of, class Form>
__global__ void __launch_bounds__(hop_threads, hop_blocks<P, R>())
    hop_halo_kernel(const __grid_constant__ HaloHopTask<P, of> task, const Form form) {
    const std::uint32_t place = blockIdx.x * blockDim.x + threadIdx.x;
    if (place < task.sites) hop_site<P, R, half_links>(task, form, place);
    wait_for_earlier();  // so that this kernel does not end before the one in front, which reads the same field
}

template <Precision P, LinkReals R, bool half_links>
void launch_hop_halo(Cuda on, HopForm form, const HopTask<P>& hop, const HopHalo<P>& halo) {
    constexpr auto threads = static_cast<unsigned>(hop_threads);
    const unsigned blocks = (hop.sites + threads - 1) / threads;
    KS_CUDA(cudaSetDevice(on.device));
    const auto launch = [&]<HaloOf of>() {
        HaloHopTask<P, of> task{hop, halo};
        task.tiles.neighbours = halo.neighbours;
        launch_form<half_links>(form, [&]<class Form>(Form of_kernel) {
            launch_chained({blocks, threads}, on.stream, hop_halo_kernel<P, R, half_links, of, Form>, task, of_kernel);
        });
    };
    if (halo.of == HaloOf::time)
        launch.template operator()<HaloOf::time>();
    else
        launch.template operator()<HaloOf::every_direction>();
}

}  // namespace kasane::lattice::device
