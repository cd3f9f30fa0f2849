// gather, add_own and BlockAlgebra on a CUDA device. A step of minimal residual is one kernel with a CUDA block for every block of the
// lattice, which sums its scalars in a fixed tree: no scalar leaves the device.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/parallel.hpp>
#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>
#include <kasane/lattice/schwarz/block_fields.hpp>

namespace kasane::lattice {

using namespace device;

namespace {

constexpr int step_threads = 128;

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

template <Precision P>
struct StepTask {
    FieldView<P> q, r, x;
    const std::uint32_t* places;  ///< [block][sites]
    std::uint32_t sites;
    bool first;
};

template <Precision P>
__global__ void __launch_bounds__(step_threads) minimal_residual_step(const StepTask<P> task) {
    using V = Real<P>;
    __shared__ double partial[3][step_threads];
    const std::uint32_t* const places = task.places + static_cast<index_t>(blockIdx.x) * task.sites;
    double re = 0, im = 0, q2 = 0;
    for (std::uint32_t i = threadIdx.x; i < task.sites; i += step_threads) {
        const auto q = load_spinor<P>(task.q, places[i]), r = load_spinor<P>(task.r, places[i]);
        V a = 0, b = 0, c = 0;
        for (int k = 0; k < 12; ++k) {
            const Cx<V>&z = q.s[k / 3].c[k % 3], &w = r.s[k / 3].c[k % 3];
            a = MulAdd(z.re, w.re, MulAdd(z.im, w.im, a));
            b = MulAdd(z.re, w.im, NegMulAdd(z.im, w.re, b));
            c = MulAdd(z.re, z.re, MulAdd(z.im, z.im, c));
        }
        re += static_cast<double>(a), im += static_cast<double>(b), q2 += static_cast<double>(c);
    }
    partial[0][threadIdx.x] = re, partial[1][threadIdx.x] = im, partial[2][threadIdx.x] = q2;
    __syncthreads();
    for (unsigned stride = step_threads / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            for (auto& sum : partial) sum[threadIdx.x] += sum[threadIdx.x + stride];
        __syncthreads();
    }
    const double norm2 = partial[2][0];
    const V alpha_re = static_cast<V>(norm2 > 0 ? partial[0][0] / norm2 : 0),
            alpha_im = static_cast<V>(norm2 > 0 ? partial[1][0] / norm2 : 0);
    for (std::uint32_t i = threadIdx.x; i < task.sites; i += step_threads) {
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

}  // namespace

template <Space S, Precision P>
void gather(const Field<S, P>& whole, const Buffer<std::uint32_t, S>& places, Field<S, P>& block) {
    const auto& lattice = *block.lattice();
    parallel_for(lattice.space(), lattice.sites(), Gather<P>{whole.view(), block.view(), places.data()});
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
};

template <Space S, Precision P>
BlockAlgebra<S, P>::BlockAlgebra(const std::shared_ptr<const Lattice<S>>& lattice, index_t blocks, const std::vector<std::uint32_t>& places)
    : work_(std::make_unique<Work>(Work{blocks, to_space(lattice->space(), places)})) {}
template <Space S, Precision P>
BlockAlgebra<S, P>::~BlockAlgebra() = default;
template <Space S, Precision P>
BlockAlgebra<S, P>::BlockAlgebra(BlockAlgebra&&) noexcept = default;

template <Space S, Precision P>
void BlockAlgebra<S, P>::minimal_residual(const Field<S, P>& q, Field<S, P>& r, Field<S, P>& x, bool first) {
    const auto on = r.lattice()->space();
    KS_CUDA(cudaSetDevice(on.device));
    const StepTask<P> task{
        q.view(), r.view(), x.view(), work_->places.data(), static_cast<std::uint32_t>(work_->places.size() / work_->blocks), first};
    minimal_residual_step<P><<<static_cast<unsigned>(work_->blocks), step_threads, 0, on.stream>>>(task);
    KS_CUDA(cudaGetLastError());
}

#define KS_DEFINE(P)                                                                                   \
    template void gather(const Field<Cuda, P>&, const Buffer<std::uint32_t, Cuda>&, Field<Cuda, P>&);  \
    template void add_own(const Field<Cuda, P>&, const Buffer<std::uint32_t, Cuda>&, Field<Cuda, P>&); \
    template class BlockAlgebra<Cuda, P>;
KS_DEFINE(Precision::half)
KS_DEFINE(Precision::single)
KS_DEFINE(Precision::double_)
#undef KS_DEFINE

}  // namespace kasane::lattice
