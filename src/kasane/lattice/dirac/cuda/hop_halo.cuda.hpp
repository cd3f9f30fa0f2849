// The kernel of a hop with a halo; each of hop_halo_*.cu instantiates it for one precision.
// Its blocks start while the last blocks of the kernel in front end, read tables and prefetch links, and wait for the end of earlier work.
// Its first blocks then send the faces of `in` into the neighbours' halos before they compute. Blocks start in the order of their numbers,
// so that blocks that wait for a halo never keep a sending block from running.
// Tried on two H200, half: 12 to 32 blocks that do nothing but send (a solve with 24^3 x 12 sites on each took 1.14 times as long: few
// multiprocessors send too slowly), and a copy of hop_site without halos for tiles that have none (multiplications and additions were
// merged in other places there, so that bits differed from those of one device). Both together: a hop of 32^4 on each took 0.96 of the
// time.
#pragma once

#include <kasane/lattice/dirac/cuda/chained.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop_halo.hpp>

#include <algorithm>

namespace kasane::lattice::device {

/// Sends the faces of a field; by all threads of the first `blocks` blocks.
template <Precision P>
__device__ void send_faces(const FieldView<P>& in, const SentSites<P>& sent, std::uint32_t ticket, unsigned blocks) {
    for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < sent.end[sent.faces - 1]; i += blocks * blockDim.x) {
        int face = 0;
        while (i >= sent.end[face]) ++face;
        const SentSite site = sent.sites[i];
        store_to_halo<P>(load_stored<P>(in, site.from), sent.halo[face], site.to, ticket);
    }
}

template <Precision P, LinkReals R, bool half_links, HaloOf of, class Form>
__global__ void __launch_bounds__(hop_threads, hop_blocks<P, R>())
    hop_halo_kernel(const __grid_constant__ HaloHopTask<P, of> task, const Form form) {
    using Format = LinkFormat<Real<P>, R, half_links>;
    const std::uint32_t place = blockIdx.x * blockDim.x + threadIdx.x;
    const bool inside = place < task.sites;
    allow_next();
    Here here{};
    if (inside) {
        here = position(task.tiles, task.to, place);
        prefetch_links<0, Format>(task, place);
        prefetch_links<1, Format>(task, place);
    }
    wait_for_end_of_earlier();
    if (blockIdx.x < task.halo.senders) send_faces(task.in, task.halo.sent, task.halo.ticket_now(), task.halo.senders);
    if (inside) hop_site<P, R, half_links>(task, form, here);
}

template <Precision P, LinkReals R, bool half_links>
void launch_hop_halo(Cuda on, HopForm form, const HopTask<P>& hop, const HopHalo<P>& halo) {
    constexpr auto threads = static_cast<unsigned>(hop_threads);
    const unsigned blocks = (hop.sites + threads - 1) / threads;
    KS_CUDA(cudaSetDevice(on.device));
    const auto launch = [&]<HaloOf of>() {
        HaloHopTask<P, of> task{hop, halo};
        task.tiles.neighbours = halo.neighbours;
        task.halo.senders = std::min(halo.senders, blocks);
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
