// gather, add_own and BlockAlgebra on a CUDA device. A step of minimal residual of small blocks of the lattice is one kernel with a CUDA
// block for each of them; larger ones have a CUDA block for every chunk, and two kernels: sums of chunks, then the update, which adds them
// up. Sums have a fixed order, and no scalar leaves the device.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>
#include <kasane/lattice/schwarz/block_fields.hpp>

namespace kasane::lattice {

using namespace device;

namespace {

constexpr int step_threads = 128;
constexpr std::uint32_t sites_of_chunk = 512;

template <class V>
KS_FN void scale_by(Spinor<V>& p, V a) {
    for (int k = 0; k < 12; ++k) {
        Cx<V>& z = p.s[k / 3].c[k % 3];
        z = {a * z.re, a * z.im};
    }
}
/// y + (re + i im) x
template <class V>
KS_FN void add_multiple(Spinor<V>& y, V re, V im, const Spinor<V>& x) {
    for (int k = 0; k < 12; ++k) {
        const Cx<V>& z = x.s[k / 3].c[k % 3];
        Cx<V>& w = y.s[k / 3].c[k % 3];
        w = {MulAdd(re, z.re, NegMulAdd(im, z.im, w.re)), MulAdd(re, z.im, MulAdd(im, z.re, w.im))};
    }
}

template <Precision P>
struct Gather {
    FieldView<P> whole, block;
    const std::uint32_t* places;
    KS_FN void operator()(index_t i) const {
        const std::uint32_t entry = places[i];
        auto p = load_spinor<P>(whole, entry & place_mask);
        if ((entry & opposite_place) != 0) scale_by(p, Real<P>(-1));
        store_spinor<P>(block, static_cast<std::uint32_t>(i), p);
    }
};
template <Precision P>
struct AddOwn {
    FieldView<P> block, whole;
    const std::uint32_t* places;
    KS_FN void operator()(index_t i) const {
        const std::uint32_t entry = places[i];
        if ((entry & own_place) == 0) return;
        auto sum = load_spinor<P>(whole, entry & place_mask);
        const Real<P> sign = (entry & opposite_place) != 0 ? -1 : 1;
        add_multiple(sum, sign, Real<P>(0), load_spinor<P>(block, static_cast<std::uint32_t>(i)));
        store_spinor<P>(whole, entry & place_mask, sum);
    }
};

/// A spinor between a field and memory of `count` spinors, [chunk][spinor], then, in half, [spinor] scales. @tparam out  from the field
template <Precision P, bool out>
struct CopySpinor {
    FieldView<P> field;
    const std::uint32_t* places;
    index_t count;
    std::byte* memory;
    KS_FN void operator()(index_t i) const {
        const std::uint32_t place = places[i];
        Chunk *const here = field.at(place), *const there = reinterpret_cast<Chunk*>(memory) + i;
        for (int c = 0; c < spinor_chunks<P>; ++c) {
            Chunk &a = here[c * static_cast<int>(row)], &b = there[c * count];
            if constexpr (out)
                b = a;
            else
                a = b;
        }
        if constexpr (P == Precision::half) {
            float& scale = reinterpret_cast<float*>(reinterpret_cast<Chunk*>(memory) + spinor_chunks<P> * count)[i];
            if constexpr (out)
                scale = field.scale[place];
            else
                field.scale[place] = scale;
        }
    }
};

/// re and im of <q, r>, and |q|^2: the scalars of a step.
using StepSums = double[3];

template <Precision P>
struct StepTask {
    FieldView<P> q, r, x;
    const std::uint32_t* places;  ///< [block][sites]
    std::uint32_t sites, chunks;  ///< of a block
    double* chunk_sums;           ///< [block][chunks][3]
    bool first;
};

/// Sites of a block that a CUDA block works on.
struct SiteRange {
    std::uint32_t begin, end;
};
KS_FN SiteRange chunk_sites(std::uint32_t sites, std::uint32_t chunk) {
    const std::uint32_t begin = chunk * sites_of_chunk;
    return {begin, sites - begin < sites_of_chunk ? sites : begin + sites_of_chunk};
}

/// Adds the terms of all threads; every thread gets the sums.
__device__ void sum_over_threads(StepSums& terms) {
    __shared__ double partial[3][step_threads];
    for (int k = 0; k < 3; ++k) partial[k][threadIdx.x] = terms[k];
    __syncthreads();
    for (unsigned stride = step_threads / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            for (auto& sum : partial) sum[threadIdx.x] += sum[threadIdx.x + stride];
        __syncthreads();
    }
    for (int k = 0; k < 3; ++k) terms[k] = partial[k][0];
}

template <Precision P>
__device__ void step_sums(const StepTask<P>& task, const std::uint32_t* places, SiteRange range, StepSums& sums) {
    using V = Real<P>;
    sums[0] = sums[1] = sums[2] = 0;
    for (std::uint32_t i = range.begin + threadIdx.x; i < range.end; i += step_threads) {
        const auto q = load_spinor<P>(task.q, places[i]), r = load_spinor<P>(task.r, places[i]);
        V a = 0, b = 0, c = 0;
        for (int k = 0; k < 12; ++k) {
            const Cx<V>&z = q.s[k / 3].c[k % 3], &w = r.s[k / 3].c[k % 3];
            a = MulAdd(z.re, w.re, MulAdd(z.im, w.im, a));
            b = MulAdd(z.re, w.im, NegMulAdd(z.im, w.re, b));
            c = MulAdd(z.re, z.re, MulAdd(z.im, z.im, c));
        }
        sums[0] += static_cast<double>(a), sums[1] += static_cast<double>(b), sums[2] += static_cast<double>(c);
    }
    sum_over_threads(sums);
}

/// x += alpha r, r -= alpha q with alpha = <q, r> / |q|^2
template <Precision P>
__device__ void update_step(const StepTask<P>& task, const std::uint32_t* places, SiteRange range, const StepSums& sums) {
    using V = Real<P>;
    const V alpha_re = static_cast<V>(sums[2] > 0 ? sums[0] / sums[2] : 0), alpha_im = static_cast<V>(sums[2] > 0 ? sums[1] / sums[2] : 0);
    for (std::uint32_t i = range.begin + threadIdx.x; i < range.end; i += step_threads) {
        const std::uint32_t place = places[i];
        auto r = load_spinor<P>(task.r, place);
        Spinor<V> x{};
        if (!task.first) x = load_spinor<P>(task.x, place);
        add_multiple(x, alpha_re, alpha_im, r);
        store_spinor<P>(task.x, place, x);
        add_multiple(r, -alpha_re, -alpha_im, load_spinor<P>(task.q, place));
        store_spinor<P>(task.r, place, r);
    }
}

template <Precision P>
__global__ void __launch_bounds__(step_threads) step_of_small_blocks(const StepTask<P> task) {
    const std::uint32_t* const places = task.places + static_cast<index_t>(blockIdx.x) * task.sites;
    StepSums sums;
    step_sums(task, places, {0, task.sites}, sums);
    update_step(task, places, {0, task.sites}, sums);
}
template <Precision P>
__global__ void __launch_bounds__(step_threads) sum_chunks(const StepTask<P> task) {
    const std::uint32_t block = blockIdx.x / task.chunks, chunk = blockIdx.x % task.chunks;
    StepSums sums;
    step_sums(task, task.places + static_cast<index_t>(block) * task.sites, chunk_sites(task.sites, chunk), sums);
    if (threadIdx.x == 0)
        for (unsigned k = 0; k < 3; ++k) task.chunk_sums[blockIdx.x * 3 + k] = sums[k];
}
template <Precision P>
__global__ void __launch_bounds__(step_threads) update_chunks(const StepTask<P> task) {
    const std::uint32_t block = blockIdx.x / task.chunks, chunk = blockIdx.x % task.chunks;
    StepSums sums{};
    for (std::uint32_t c = threadIdx.x; c < task.chunks; c += step_threads)
        for (int k = 0; k < 3; ++k) sums[k] += task.chunk_sums[(block * task.chunks + c) * 3 + k];
    sum_over_threads(sums);
    update_step(task, task.places + static_cast<index_t>(block) * task.sites, chunk_sites(task.sites, chunk), sums);
}

}  // namespace

template <Space S, Precision P>
void gather(const Field<S, P>& whole, const Buffer<std::uint32_t, S>& places, Field<S, P>& block) {
    const auto& lattice = *block.lattice();
    parallel_for(lattice.space(), lattice.sites(), Gather<P>{whole.view(), block.view(), places.data()});
}

template <Space S, Precision P>
void pack_spinors(const Field<S, P>& from, const Buffer<std::uint32_t, S>& places, std::byte* memory) {
    parallel_for(from.lattice()->space(), places.size(), CopySpinor<P, true>{from.view(), places.data(), places.size(), memory});
}
template <Space S, Precision P>
void unpack_spinors(const std::byte* memory, const Buffer<std::uint32_t, S>& places, Field<S, P>& to) {
    parallel_for(to.lattice()->space(), places.size(),
                 CopySpinor<P, false>{to.view(), places.data(), places.size(), const_cast<std::byte*>(memory)});
}

template <Space S, Precision P>
void add_own(const Field<S, P>& block, const Buffer<std::uint32_t, S>& places, Field<S, P>& whole) {
    const auto& lattice = *block.lattice();
    parallel_for(lattice.space(), lattice.sites(), AddOwn<P>{block.view(), whole.view(), places.data()});
}

template <Space S, Precision P>
struct BlockAlgebra<S, P>::Work {
    index_t blocks;
    Buffer<std::uint32_t, S> places;
    std::uint32_t sites, chunks;  // of a block
    Buffer<double, S> chunk_sums;
};

template <Space S, Precision P>
BlockAlgebra<S, P>::BlockAlgebra(const std::shared_ptr<const Lattice<S>>& lattice, index_t blocks,
                                 const std::vector<std::uint32_t>& places) {
    const auto sites = static_cast<std::uint32_t>(static_cast<index_t>(places.size()) / blocks),
               chunks = (sites + sites_of_chunk - 1) / sites_of_chunk;
    const auto space = lattice->space();
    work_ = std::make_unique<Work>(
        Work{blocks, to_space(space, places), sites, chunks, Buffer<double, S>(space, chunks > 1 ? blocks * chunks * 3 : 0)});
}
template <Space S, Precision P>
BlockAlgebra<S, P>::~BlockAlgebra() = default;
template <Space S, Precision P>
BlockAlgebra<S, P>::BlockAlgebra(BlockAlgebra&&) noexcept = default;

template <Space S, Precision P>
void BlockAlgebra<S, P>::minimal_residual(const Field<S, P>& q, Field<S, P>& r, Field<S, P>& x, bool first) {
    const auto on = r.lattice()->space();
    KS_CUDA(cudaSetDevice(on.device));
    auto& work = *work_;
    const StepTask<P> task{q.view(), r.view(), x.view(), work.places.data(), work.sites, work.chunks, work.chunk_sums.data(), first};
    if (work.chunks == 1) {
        step_of_small_blocks<P><<<static_cast<unsigned>(work.blocks), step_threads, 0, on.stream>>>(task);
    } else {
        const auto all_chunks = static_cast<unsigned>(work.blocks) * work.chunks;
        sum_chunks<P><<<all_chunks, step_threads, 0, on.stream>>>(task);
        KS_CUDA(cudaGetLastError());
        update_chunks<P><<<all_chunks, step_threads, 0, on.stream>>>(task);
    }
    KS_CUDA(cudaGetLastError());
}

#define KS_DEFINE(P)                                                                                     \
    template void pack_spinors(const Field<Cuda, P>&, const Buffer<std::uint32_t, Cuda>&, std::byte*);   \
    template void unpack_spinors(const std::byte*, const Buffer<std::uint32_t, Cuda>&, Field<Cuda, P>&); \
    template void gather(const Field<Cuda, P>&, const Buffer<std::uint32_t, Cuda>&, Field<Cuda, P>&);    \
    template void add_own(const Field<Cuda, P>&, const Buffer<std::uint32_t, Cuda>&, Field<Cuda, P>&);   \
    template class BlockAlgebra<Cuda, P>;
KS_DEFINE(Precision::half)
KS_DEFINE(Precision::single)
KS_DEFINE(Precision::double_)
#undef KS_DEFINE

}  // namespace kasane::lattice
