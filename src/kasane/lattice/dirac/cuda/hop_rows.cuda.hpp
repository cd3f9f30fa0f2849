// The kernel of a hop of few sites; each of hop_rows_*.cu instantiates it for one precision. In a block each of eight warps (double: four)
// computes the parts of one direction (two) for the same 32 sites; two of them then add the parts, in the order of hop_site, and divide by
// the clover term, one for each chirality. Three blocks fit on a multiprocessor. In single precision, links and clover terms come to
// shared memory while the kernel in front still runs (row_copy.cuda.hpp).
#pragma once

#include <kasane/lattice/dirac/cuda/chained.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop.body.hpp>
#include <kasane/lattice/dirac/cuda/hop_rows.hpp>
#include <kasane/lattice/dirac/cuda/row_copy.cuda.hpp>

namespace kasane::lattice::device {

template <class V>
KS_FN void write_half(V (&to)[12][row], unsigned lane, const HalfSpinor<V>& h) {
    for (int k = 0; k < 6; ++k) to[2 * k][lane] = h.s[k / 3].c[k % 3].re, to[2 * k + 1][lane] = h.s[k / 3].c[k % 3].im;
}
template <class V>
KS_FN HalfSpinor<V> read_half(const V (&from)[12][row], unsigned lane) {
    HalfSpinor<V> h;
    for (int k = 0; k < 6; ++k) h.s[k / 3].c[k % 3] = {from[2 * k][lane], from[2 * k + 1][lane]};
    return h;
}

/// The block's memory.
template <Precision P, LinkReals R, HopForm form>
using MemoryOfRow = RowMemory<P, LinkFormat<Real<P>, R, P == Precision::half>, form != HopForm::plain>;

/// The weight of a neighbour's spinor: c, the sign of the boundary, and in half the scale, as in fetch().
template <Precision P>
KS_FN Real<P> weight_of(const HopTask<P>& task, const Neighbour& there, const RawSpinor<P>& in) {
    Real<P> weight = there.crosses ? task.c * task.boundary_sign : task.c;
    if constexpr (P == Precision::half) weight *= in.scale * spinor_unit;
    return weight;
}

/// Called by all threads of a warp.
template <int direction, LinkReals R, Precision P, class Memory>
__device__ void write_part(const HopTask<P>& task, const Here& here, bool inside, unsigned lane, Memory& memory) {
    constexpr bool half_links = P == Precision::half;
    PartOfHop<Real<P>> part{};
    if (inside) {
        const auto there = neighbour<direction>(task.tiles, here);
        Fetched<LinkFormat<Real<P>, R, half_links>, P> got;
        got.unit_link = direction / 2 == 3 && task.temporal_gauge && !there.crosses;
        got.in = load_neighbour<direction>(task, here, there.place);
        memory.wait();
        got.link = memory.load_link(task.links, here.place, direction);
        got.weight = weight_of<P>(task, there, got.in);
        part = part_of_hop<direction, P, R, half_links>(task, got);
    }
    __syncwarp();  // all have read their links
    write_half(memory.of[direction].part, lane, part.h);
    memory.weight[direction][lane] = part.weight;
}

template <int direction, Precision P, class Memory>
KS_FN void add_parts(const HopTask<P>& task, unsigned lane, const Memory& memory, Spinor<Real<P>>& sum) {
    if constexpr (direction < directions) {
        accumulate_weighted<direction / 2>(sum, read_half(memory.of[direction].part, lane), sign_of<direction>(task),
                                           memory.weight[direction][lane]);
        add_parts<direction + 1, P>(task, lane, memory, sum);
    }
}

/// Two spins of out.
template <int chirality, HopForm form, Precision P, class Memory>
__device__ HalfSpinor<Real<P>> result_of(const HopTask<P>& task, unsigned lane, std::uint32_t place, const Memory& memory) {
    ChiralBlock<Real<P>> A{};
    if constexpr (form != HopForm::plain) A = memory.load_clover(task.clover, place, chirality);
    Spinor<Real<P>> x{}, sum{};
    if (task.x.data) x = load_spinor<P>(task.x, place);
    add_parts<0, P>(task, lane, memory, sum);
    HalfSpinor<Real<P>> h{{sum.s[2 * chirality], sum.s[2 * chirality + 1]}};
    if constexpr (form == HopForm::inverse) divide(A, h);
    if (task.x.data) {
        HalfSpinor<Real<P>> own{{x.s[2 * chirality], x.s[2 * chirality + 1]}};
        if constexpr (form == HopForm::clover) own = times(A, own);
        for (int s = 0; s < 2; ++s)
            for (int a = 0; a < 3; ++a) h.s[s].c[a] = {h.s[s].c[a].re + own.s[s].c[a].re, h.s[s].c[a].im + own.s[s].c[a].im};
    }
    return h;
}

/// Threads of a block.
template <Precision P>
inline constexpr int row_threads = (P == Precision::double_ ? directions / 2 : directions) * static_cast<int>(row);

template <Precision P, LinkReals R, HopForm form>
__global__ void __launch_bounds__(row_threads<P>, 3) hop_rows_kernel(const __grid_constant__ HopTask<P> task) {
    using Memory = MemoryOfRow<P, R, form>;
    extern __shared__ __align__(128) char bytes_of_block[];
    auto& memory = *reinterpret_cast<Memory*>(bytes_of_block);
    const unsigned lane = threadIdx.x % row, warp = threadIdx.x / row;
    const std::uint32_t place = blockIdx.x * row + lane;
    const bool inside = place < task.sites;
    memory.start(task.links + index_t{blockIdx.x} * (directions * Memory::link_bytes),
                 reinterpret_cast<const char*>(task.clover) + index_t{blockIdx.x} * Memory::term_bytes);
    const Here here = inside ? position(task.tiles, task.to, place) : Here{};
    wait_for_earlier();
    const auto parts = [&]<int direction>() { write_part<direction, R>(task, here, inside, lane, memory); };
    if constexpr (P == Precision::double_) {
        const auto two = [&]<int direction>() {
            parts.template operator()<direction>();
            parts.template operator()<direction + 1>();
        };
        switch (warp) {
            case 0: two.template operator()<0>(); break;
            case 1: two.template operator()<2>(); break;
            case 2: two.template operator()<4>(); break;
            default: two.template operator()<6>(); break;
        }
    } else {
        switch (warp) {
            case 0: parts.template operator()<0>(); break;
            case 1: parts.template operator()<1>(); break;
            case 2: parts.template operator()<2>(); break;
            case 3: parts.template operator()<3>(); break;
            case 4: parts.template operator()<4>(); break;
            case 5: parts.template operator()<5>(); break;
            case 6: parts.template operator()<6>(); break;
            default: parts.template operator()<7>(); break;
        }
    }
    __syncthreads();
    HalfSpinor<Real<P>> upper{};
    if (inside && warp == 0) upper = result_of<0, form>(task, lane, place, memory);
    if (inside && warp == 1) write_half(memory.lower, lane, result_of<1, form>(task, lane, place, memory));
    __syncthreads();
    if (!inside || warp != 0) return;
    const auto lower = read_half(memory.lower, lane);
    store_spinor<P>(task.out, place, Spinor<Real<P>>{{upper.s[0], upper.s[1], lower.s[0], lower.s[1]}});
}

template <Precision P, LinkReals R>
void launch_hop_rows(Cuda on, HopForm form, const HopTask<P>& task) {
    KS_CUDA(cudaSetDevice(on.device));
    const auto launch = [&]<HopForm of_kernel>() {
        constexpr auto bytes = static_cast<unsigned>(sizeof(MemoryOfRow<P, R, of_kernel>));
        const auto kernel = hop_rows_kernel<P, R, of_kernel>;
        static_assert(bytes <= 48 * 1024);  // more would have to be requested
        launch_chained({.grid = (task.sites + row - 1) / row, .block = static_cast<unsigned>(row_threads<P>), .shared = bytes}, on.stream,
                       kernel, task);
    };
    if (form == HopForm::plain)
        launch.template operator()<HopForm::plain>();
    else if (form == HopForm::inverse)
        launch.template operator()<HopForm::inverse>();
    else
        launch.template operator()<HopForm::clover>();
}

}  // namespace kasane::lattice::device
