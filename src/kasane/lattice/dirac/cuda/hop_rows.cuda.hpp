// The kernel of a hop of few sites; each of hop_rows_*.cu instantiates it for one precision. In a block each of eight warps (double: four)
// computes the parts of one direction (two) for the same 32 sites; two of them then add the parts, in the order of hop_site, and divide by
// the clover term, one for each chirality. Three blocks fit on a multiprocessor.
#pragma once

#include <kasane/lattice/dirac/cuda/chained.cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop.body.hpp>
#include <kasane/lattice/dirac/cuda/hop_rows.hpp>

namespace kasane::lattice::device {

/// Numbers that the warps of a block exchange.
template <class V>
struct RowMemory {
    V part[directions][12][row];
    V weight[directions][row];
    V lower[12][row];  ///< the lower two spins of the result
};

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

template <int direction, Precision P, LinkReals R, bool half_links>
KS_FN void write_part(const HopTask<P>& task, const Here& here, unsigned lane, RowMemory<Real<P>>& memory) {
    using Format = LinkFormat<Real<P>, R, half_links>;
    const auto part = part_of_hop<direction, P, R, half_links>(task, fetch<direction, Format, Readers::one>(task, here));
    write_half(memory.part[direction], lane, part.h);
    memory.weight[direction][lane] = part.weight;
}

template <int direction, Precision P, LinkReals R, bool half_links>
KS_FN void write_parts(const HopTask<P>& task, const Here& here, unsigned lane, RowMemory<Real<P>>& memory) {
    write_part<direction, P, R, half_links>(task, here, lane, memory);
    write_part<direction + 1, P, R, half_links>(task, here, lane, memory);
}

template <int direction, Precision P>
KS_FN void add_parts(const HopTask<P>& task, unsigned lane, const RowMemory<Real<P>>& memory, Spinor<Real<P>>& sum) {
    if constexpr (direction < directions) {
        accumulate_weighted<direction / 2>(sum, read_half(memory.part[direction], lane), sign_of<direction>(task),
                                           memory.weight[direction][lane]);
        add_parts<direction + 1, P>(task, lane, memory, sum);
    }
}

/// Two spins of out.
template <int chirality, Precision P, HopForm form>
KS_FN HalfSpinor<Real<P>> result_of(const HopTask<P>& task, unsigned lane, std::uint32_t place, const RowMemory<Real<P>>& memory) {
    ChiralBlock<Real<P>> A{};
    if constexpr (form != HopForm::plain) A = load_clover<P>(task.clover, place, chirality);
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
__global__ void __launch_bounds__(directions* row) hop_rows_kernel(const __grid_constant__ HopTask<P> task) {
    using V = Real<P>;
    constexpr bool half_links = P == Precision::half;
    __shared__ RowMemory<V> memory;
    const unsigned lane = threadIdx.x % row, warp = threadIdx.x / row;
    const std::uint32_t place = blockIdx.x * row + lane;
    const bool inside = place < task.sites;
    const Here here = inside ? position(task.tiles, task.to, place) : Here{};
    wait_for_earlier();
    if (inside) {
        if constexpr (P == Precision::double_) {
            switch (warp) {
                case 0: write_parts<0, P, R, half_links>(task, here, lane, memory); break;
                case 1: write_parts<2, P, R, half_links>(task, here, lane, memory); break;
                case 2: write_parts<4, P, R, half_links>(task, here, lane, memory); break;
                default: write_parts<6, P, R, half_links>(task, here, lane, memory); break;
            }
        } else {
            switch (warp) {
                case 0: write_part<0, P, R, half_links>(task, here, lane, memory); break;
                case 1: write_part<1, P, R, half_links>(task, here, lane, memory); break;
                case 2: write_part<2, P, R, half_links>(task, here, lane, memory); break;
                case 3: write_part<3, P, R, half_links>(task, here, lane, memory); break;
                case 4: write_part<4, P, R, half_links>(task, here, lane, memory); break;
                case 5: write_part<5, P, R, half_links>(task, here, lane, memory); break;
                case 6: write_part<6, P, R, half_links>(task, here, lane, memory); break;
                default: write_part<7, P, R, half_links>(task, here, lane, memory); break;
            }
        }
    }
    __syncthreads();
    HalfSpinor<V> upper{};
    if (inside && warp == 0) upper = result_of<0, P, form>(task, lane, place, memory);
    if (inside && warp == 1) write_half(memory.lower, lane, result_of<1, P, form>(task, lane, place, memory));
    __syncthreads();
    if (!inside || warp != 0) return;
    const auto lower = read_half(memory.lower, lane);
    store_spinor<P>(task.out, place, Spinor<V>{{upper.s[0], upper.s[1], lower.s[0], lower.s[1]}});
}

template <Precision P, LinkReals R>
void launch_hop_rows(Cuda on, HopForm form, const HopTask<P>& task) {
    constexpr auto threads = static_cast<unsigned>(row_threads<P>);
    const unsigned blocks = (task.sites + row - 1) / row;
    KS_CUDA(cudaSetDevice(on.device));
    if (form == HopForm::plain)
        launch_chained(blocks, threads, on.stream, hop_rows_kernel<P, R, HopForm::plain>, task);
    else if (form == HopForm::inverse)
        launch_chained(blocks, threads, on.stream, hop_rows_kernel<P, R, HopForm::inverse>, task);
    else
        launch_chained(blocks, threads, on.stream, hop_rows_kernel<P, R, HopForm::clover>, task);
}

}  // namespace kasane::lattice::device
