// The couplings of a block of the lattice on a device: Couplings with the threads of a block for one index. For some sites at a time, a
// thread computes D times one vector of one chirality on one site; then every thread multiplies these columns by four rows. 24^3 x 48, 24
// vectors, blocks of 4^4, one H200: 20 ms with the rest of the assembly; with all eight vectors of a site in one thread, and sums in
// memory, 112 ms.
#pragma once

#include <kasane/lattice/solve/four.cuda.hpp>
#include <kasane/lattice/solve/lanes.hpp>
#include <kasane/lattice/solve/little_operator.hpp>

namespace kasane::lattice::coherent {

constexpr int couplings_threads = 256;
constexpr int couplings_rows = 4 * couplings_threads / 32;  ///< vectors whose rows are multiplied at a time

/// Sites of a part of D on a block: all of them, or those on the face ahead.
__device__ inline index_t sites_of_part(const BlockLayout& layout, int part) {
    return part == 0 ? 2 * layout.half() : layout.own.volume() / layout.own[part - 1];
}
/// Site n of a part: its number within the half of its block.
__device__ inline index_t site_of_part(const BlockLayout& layout, int part, index_t n, Parity& parity) {
    if (part == 0) {
        parity = static_cast<Parity>(n / layout.half());
        return n % layout.half();
    }
    Site local{};
    index_t sum = 0;
    for (int mu = 0; mu < 4; ++mu) {
        if (mu == part - 1) {
            local[mu] = layout.own[mu] - 1;
        } else {
            local[mu] = n % layout.own[mu];
            n /= layout.own[mu];
        }
        sum += local[mu];
    }
    parity = static_cast<Parity>(sum % 2);
    return layout.own.checkerboard(local);
}

/// @tparam Body  Couplings<T, T>
template <class T, class Body>
__global__ void __launch_bounds__(couplings_threads) couplings(Body body) {
    constexpr int sites = 64 / sizeof(T);  // at a time: 24 KiB of columns
    __shared__ T columns[sites][2][12][pack_words];
    __shared__ const T* rows[sites];
    const int thread = static_cast<int>(threadIdx.x), lane = thread % 8, to = thread / 8 % 2, from = thread / 16 % 2, warp = thread / 32;
    const auto& layout = body.layout;
    const auto at = body.place(blockIdx.x);
    const index_t row_words = index_t{pack_words} * layout.packs, count = sites_of_part(layout, at.part);
    for (int first_row = 0; first_row < 8 * layout.packs; first_row += couplings_rows) {
        const int k = first_row + 4 * warp;
        const bool multiplies = k < 8 * layout.packs;
        T re[4] = {}, im[4] = {};
        for (index_t first = 0; first < count; first += sites) {
            const int now = static_cast<int>(min(index_t{sites}, count - first));
            __syncthreads();
            if (const int s = thread / 16; s < now) {
                Parity parity;
                const index_t slot = at.block * layout.half() + site_of_part(layout, at.part, first + s, parity);
                Spinor<T> made;
                body.compute(parity, slot, at.part, at.pack, lane, to, made);
#pragma unroll
                for (int r = 0; r < 12; ++r) {
                    columns[s][to][r][lane] = made.s[r / 3].c[r % 3].re;
                    columns[s][to][r][lane + 8] = made.s[r / 3].c[r % 3].im;
                }
                if (thread % 16 == 0) rows[s] = body.basis[static_cast<int>(parity)] + slot * layout.site_words();
            }
            __syncthreads();
            for (int s = 0; s < now && multiplies; ++s) {
                const T* row = rows[s] + k / 8 * pack_words + k % 8 + from * 6 * row_words;
#pragma unroll
                for (int r = 0; r < 6; ++r, row += row_words) {
                    const auto a = load_four(row), b = load_four(row + 8);
                    const T x = columns[s][to][6 * from + r][lane], y = columns[s][to][6 * from + r][lane + 8];
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        re[i] += a.v[i] * x + b.v[i] * y;
                        im[i] += a.v[i] * y - b.v[i] * x;
                    }
                }
            }
        }
        if (!multiplies) continue;
#pragma unroll
        for (int i = 0; i < 4; ++i) {  // rows and columns of vectors beyond the last one are zero, as those are
            const index_t row = from * index_t{8} * layout.packs + k + i;
            T* const sum =
                at.out + ((at.matrix * layout.rows() + row) * 2 * layout.packs + to * layout.packs + at.pack) * pack_words + lane;
            sum[0] = re[i];
            sum[8] = im[i];
        }
    }
}

}  // namespace kasane::lattice::coherent
