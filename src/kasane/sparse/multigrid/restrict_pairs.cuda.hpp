// Restriction on a device where cells are joined by pairs along all directions (Restrict): a lane has the pairs of cells of one coarse cell
// in the lines of four rows along y, and one of each pair has an even i + j + k; lanes exchange what belongs to the coarse cell beyond. A
// thread goes along z, so that a plane is read once for both coarse planes that it belongs to. The plain form loads four times as many
// numbers: 256^3 cells on an H200 take 76 us so, and 174 in the plain form. Invariant: the sums are those of Restrict in another order.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/sparse/multigrid/box_multigrid.body.hpp>

namespace kasane::sparse::box {
namespace detail {

constexpr int restricting_warps = 8, lanes_that_store = 30;

/// The parts of a plane of fine cells that belong to its own coarse plane and to the one beyond.
struct PartsOfPlane {
    float own = 0, beyond = 0;
};

/// Coarse cell I of a line along x, which may lie outside by one; -1: there is none.
__device__ inline int round_coarse_line(const Transfer& by, int I) {
    if (!by.coarse.periodic(0)) return I;
    return I < 0 ? I + by.coarse.n[0] : I == by.coarse.n[0] ? 0 : I;
}

/// Restricts to coarse cell (I, J), called by all lanes of a warp at once: I is the lane's by round_coarse_line(), J the warp's.
/// @tparam round  directions may be periodic
template <bool round>
__device__ inline PartsOfPlane parts_of_plane(const Restrict& of, int I, int J, int k) {
    const BoxCells& fine = of.by.fine;
    PartsOfPlane sum, up, down;  // up: for the next lane
    if (k < 0 || k >= fine.n[2]) {
        if (!round || !of.by.line[2].periodic) return sum;
        k = of.by.line[2].cell(k);
    }
#pragma unroll
    for (int row = -1; row <= 2; ++row) {
        int j = 2 * J + row;
        const int odd = (j + k) & 1;
        if (I < 0 || 2 * I + odd >= fine.n[0]) continue;
        if (j < 0 || j >= fine.n[1]) {
            if (!round || !of.by.line[1].periodic) continue;
            j = of.by.line[1].cell(j);
        }
        const index_t place = fine.of_colour(2 * I, j, k);
        const float along_x = of.by.share[0][place], along_y = of.by.share[1][place], along_z = of.by.share[2][place];
        const float here = of.r[place] * (row == 0 || row == 1 ? 1 - along_y : along_y);
        const float own = here * (1 - along_x), beyond = here * along_x;
        sum.own += own * (1 - along_z);
        sum.beyond += own * along_z;
        PartsOfPlane& other = odd ? up : down;
        other.own += beyond * (1 - along_z);
        other.beyond += beyond * along_z;
    }
    sum.own += __shfl_up_sync(~0u, up.own, 1) + __shfl_down_sync(~0u, down.own, 1);
    sum.beyond += __shfl_up_sync(~0u, up.beyond, 1) + __shfl_down_sync(~0u, down.beyond, 1);
    return sum;
}

/// The whole sum of coarse cell (I, J, K), as parts_of_plane().
__device__ inline float restricted(const Restrict& of, int I, int J, int K) {
    constexpr bool round = true;
    I = round_coarse_line(of.by, I);
    const float below = parts_of_plane<round>(of, I, J, 2 * K - 1).beyond, above = parts_of_plane<round>(of, I, J, 2 * K + 2).beyond;
    return below + parts_of_plane<round>(of, I, J, 2 * K).own + parts_of_plane<round>(of, I, J, 2 * K + 1).own + above;
}

template <bool round>
__global__ void __launch_bounds__(32 * restricting_warps) restrict_pairs(Restrict of, int deep) {
    const BoxCells& coarse = of.by.coarse;
    const int lane = static_cast<int>(threadIdx.x), I = lanes_that_store * static_cast<int>(blockIdx.x) + lane - 1;
    const int J = restricting_warps * static_cast<int>(blockIdx.y) + static_cast<int>(threadIdx.y);
    const int first = static_cast<int>(blockIdx.z) * deep, end = first + deep < coarse.n[2] ? first + deep : coarse.n[2];
    if (J >= coarse.n[1]) return;  // a whole warp
    const bool stores = lane >= 1 && lane <= lanes_that_store && I < coarse.n[0];
    const int column = round ? round_coarse_line(of.by, I) : I;
    float before = 0, here = parts_of_plane<round>(of, column, J, 2 * first - 1).beyond;
    for (int K = first; K < end; ++K) {
        const PartsOfPlane even = parts_of_plane<round>(of, column, J, 2 * K), odd = parts_of_plane<round>(of, column, J, 2 * K + 1);
        if (K > first && stores) of.b[coarse.cell(I, J, K - 1)] = before + even.beyond;
        before = here + even.own + odd.own;
        here = odd.beyond;
    }
    const float last = parts_of_plane<round>(of, column, J, 2 * end).beyond;
    if (stores) of.b[coarse.cell(I, J, end - 1)] = before + last;
}

}  // namespace detail

/// Whether cells are joined by pairs along all directions, and the launch has a number for every group of cells.
inline bool restricts_pairs(const Transfer& by) { return by.by_pairs() && by.coarse.n[1] < 65535 && by.coarse.n[2] < 65535; }
/// @param of  restricts_pairs(of.by)
inline void run_restriction_of_pairs(Cuda on, const Restrict& of) {
    const BoxCells& coarse = of.by.coarse;
    // Planes of a thread: more of them mean fewer loads, fewer of them more threads.
    const int deep = coarse.count() >= (index_t{1} << 20) ? 8 : coarse.count() >= (index_t{1} << 17) ? 2 : 1;
    const auto groups = [](int n, int of_group) { return static_cast<unsigned>((n + of_group - 1) / of_group); };
    const dim3 blocks(groups(coarse.n[0], detail::lanes_that_store), groups(coarse.n[1], detail::restricting_warps),
                      groups(coarse.n[2], deep));
    KS_CUDA(cudaSetDevice(on.device));
    const auto kernel = of.by.fine.periodic() ? detail::restrict_pairs<true> : detail::restrict_pairs<false>;
    kernel<<<blocks, dim3(32, detail::restricting_warps), 0, on.stream>>>(of, deep);
    KS_CUDA(cudaGetLastError());
}

}  // namespace kasane::sparse::box
