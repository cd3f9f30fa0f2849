// The loops of around_sites.hpp on a device, in the order of SiteTiles. A thread has one place of a tile and one role, and goes through
// the time slices of its block.
#pragma once

#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/sum.hpp>
#include <kasane/lattice/gauge/link_colour.hpp>
#include <kasane/lattice/gauge/link_paths.body.hpp>
#include <kasane/lattice/gauge/site_tiles.hpp>

namespace kasane::lattice::device {

/// Calls call(Site, role) for the sites of a thread.
template <int roles, class Call>
__device__ void for_sites_of_thread(const SiteTiles& tiles, const Call& call) {
    const int places = tiles.places(), role = static_cast<int>(threadIdx.x) / places;
    if (role >= roles) return;
    Site x = tiles.site(static_cast<int>(blockIdx.x), static_cast<int>(threadIdx.x) - role * places);
    if (x[1] >= tiles.n[1] || x[2] >= tiles.n[2]) return;
    for (int left = min(tiles.slices, tiles.n[3] - x[3]); left > 0; --left) {
        call(x, role);
        ++x[3];
        x[0] ^= 1;  // of the same parity
    }
}

template <int roles, int threads, class Body>
__global__ void __launch_bounds__(threads, 1) around_kernel(const SiteTiles tiles, const Body body) {
    for_sites_of_thread<roles>(tiles, [&](const Site& x, int role) { body(SitePlace(tiles.n, x), role); });
}

template <int threads, int resident, class Body>
__global__ void __launch_bounds__(threads, resident) colour_kernel(const SiteTiles tiles, int colour, const Body body) {
    for_sites_of_thread<1>(tiles, [&](const Site& x, int) { body(SitePlace(tiles.n, x), direction_of_colour(x, colour)); });
}

template <class V, int roles, int threads, class Body>
__global__ void __launch_bounds__(threads, 2) around_sum_kernel(const SiteTiles tiles, const Body body, V* partial) {
    __shared__ V shared[threads];
    V sum{};
    for_sites_of_thread<roles>(tiles, [&](const Site& x, int role) { sum += body(SitePlace(tiles.n, x), role); });
    shared[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    for (unsigned i = threadIdx.x + 32; i < blockDim.x; i += 32) sum += shared[i];
    shared[threadIdx.x] = sum;
    __syncwarp();
    if (threadIdx.x > 0) return;
    for (int i = 1; i < 32; ++i) sum += shared[i];
    partial[blockIdx.x] = sum;
}

/// Tiles for blocks of `threads`, with slices for this many blocks at a time on each multiprocessor.
inline SiteTiles tiles_on(Cuda on, const Extents& n, int roles, int threads, int blocks = 1) {
    int multiprocessors = 0;
    KS_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, on.device));
    KS_CUDA(cudaSetDevice(on.device));
    return site_tiles(n, threads / roles, blocks * multiprocessors);
}
/// Threads of a block: its places and roles, in whole warps.
inline unsigned threads_of(const SiteTiles& tiles, int roles) { return static_cast<unsigned>((tiles.places() * roles + 31) / 32 * 32); }

}  // namespace kasane::lattice::device

namespace kasane::lattice {

template <int roles, int threads = around_threads, class Body>
void for_each_around(Cuda on, const Extents& n, const Body& body) {
    const auto tiles = device::tiles_on(on, n, roles, threads);
    device::around_kernel<roles, threads>
        <<<static_cast<unsigned>(tiles.blocks()), device::threads_of(tiles, roles), 0, on.stream>>>(tiles, body);
    KS_CUDA(cudaGetLastError());
}
/// Every second colour from the end of the lattice: it begins with the links that the second-level cache has from the pass before.
template <class Body>
void for_links_of_colour(Cuda on, const Extents& n, int colour, const Body& body) {
    constexpr int resident = around_threads / colour_threads;
    KS_CUDA(cudaSetDevice(on.device));
    auto tiles = colour_tiles(n);
    tiles.backwards = colour % 2 == 1;
    device::colour_kernel<colour_threads, resident>
        <<<static_cast<unsigned>(tiles.blocks()), device::threads_of(tiles, 1), 0, on.stream>>>(tiles, colour, body);
    KS_CUDA(cudaGetLastError());
}
template <int K, int roles, class Body>
Terms<K> sum_around(Cuda on, const Extents& n, const Body& body) {
    // Slices as for eight blocks on a multiprocessor, though two are executed at a time: with fewer slices, more blocks of a time slice are
    // executed together (24^3 x 48, H200: 0.58 ms with 4 to 12 slices; with tiles of another shape 0.60 with 12, 0.67 with 24).
    constexpr int threads = around_sum_threads;
    const auto tiles = device::tiles_on(on, n, roles, threads, 8);
    kasane::detail::BlockSums<Terms<K>> partial(on, tiles.blocks());
    device::around_sum_kernel<Terms<K>, roles, threads>
        <<<static_cast<unsigned>(tiles.blocks()), device::threads_of(tiles, roles), 0, on.stream>>>(tiles, body, partial.data());
    KS_CUDA(cudaGetLastError());
    return partial.sum();
}

}  // namespace kasane::lattice
