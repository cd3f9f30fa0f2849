// FieldAlgebra<Cuda, P>: every operation is one kernel of whole sites (half computes its scale again), which reads and writes each vector
// once. Sums: every thread in double over its sites, a block's in a fixed tree, the blocks' in order by the last block to end; the result
// goes into pinned host memory followed by a ticket, which the host polls: no call of the runtime, no copy.
// The grid is the same for all fields of a size on a device, so that sums are the same bits in every run.
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>

#include <algorithm>
#include <atomic>
#include <vector>

namespace kasane::lattice {

using namespace device;

namespace {

constexpr int threads = 256;
constexpr int sums = 3;  ///< at most, of an operation

struct alignas(64) Mailbox {  ///< pinned, on the host
    double sum[sums];
    std::uint64_t ticket;
};

/// Memory that a kernel needs to return a sum.
struct Totals {
    double* partial;  ///< [sums][blocks]
    unsigned* done;   ///< 0 before and after
    Mailbox* mailbox;
    std::uint64_t ticket;
};

template <class V>
struct Factor {
    V re, im;
};
template <class V>
Factor<V> factor(std::complex<double> a) {
    return {static_cast<V>(a.real()), static_cast<V>(a.imag())};
}

/// y + a x of whole spinors
template <class V>
__device__ inline void add(Spinor<V>& y, Factor<V> a, const Spinor<V>& x) {
    for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) {
            const Cx<V>& z = x.s[s].c[c];
            Cx<V>& w = y.s[s].c[c];
            w = {MulAdd(a.re, z.re, NegMulAdd(a.im, z.im, w.re)), MulAdd(a.re, z.im, MulAdd(a.im, z.re, w.im))};
        }
}
template <class V>
__device__ inline void scale(Spinor<V>& y, Factor<V> a) {
    for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) {
            const Cx<V> z = y.s[s].c[c];
            y.s[s].c[c] = {NegMulAdd(a.im, z.im, a.re * z.re), MulAdd(a.im, z.re, a.re * z.im)};
        }
}
/// The site's sum in the precision of the registers; 24 terms.
template <class V>
__device__ inline double square(const Spinor<V>& x) {
    V sum = 0;
    for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) sum = MulAdd(x.s[s].c[c].re, x.s[s].c[c].re, MulAdd(x.s[s].c[c].im, x.s[s].c[c].im, sum));
    return static_cast<double>(sum);
}
template <class V>
__device__ inline void add_product(const Spinor<V>& x, const Spinor<V>& y, double& re, double& im) {
    V a = 0, b = 0;
    for (int s = 0; s < 4; ++s)
        for (int c = 0; c < 3; ++c) {
            const Cx<V>&p = x.s[s].c[c], &q = y.s[s].c[c];
            a = MulAdd(p.re, q.re, MulAdd(p.im, q.im, a));
            b = MulAdd(p.re, q.im, NegMulAdd(p.im, q.re, b));
        }
    re += static_cast<double>(a);
    im += static_cast<double>(b);
}

// The operations: one site each; `sum` has `numbers` entries.
template <Precision P>
struct Norm2 {
    static constexpr int numbers = 1;
    FieldView<P> x;
    __device__ void operator()(std::uint32_t i, double* sum) const { sum[0] += square(load_spinor<P>(x, i)); }
};
template <Precision P>
struct Dot {
    static constexpr int numbers = 2;
    FieldView<P> x, y;
    __device__ void operator()(std::uint32_t i, double* sum) const {
        add_product(load_spinor<P>(x, i), load_spinor<P>(y, i), sum[0], sum[1]);
    }
};
template <Precision P>
struct DotNorm2 {
    static constexpr int numbers = 3;
    FieldView<P> x, y;
    __device__ void operator()(std::uint32_t i, double* sum) const {
        const auto v = load_spinor<P>(x, i);
        add_product(v, load_spinor<P>(y, i), sum[0], sum[1]);
        sum[2] += square(v);
    }
};
template <Precision P>
struct Axpby {
    static constexpr int numbers = 0;
    Factor<Real<P>> a, b;
    FieldView<P> x, y;
    bool reads_y;
    __device__ void operator()(std::uint32_t i, double*) const {
        auto v = load_spinor<P>(x, i);
        scale(v, a);
        if (reads_y) add(v, b, load_spinor<P>(y, i));
        store_spinor<P>(y, i, v);
    }
};
template <Precision P>
struct AxpyNorm2 {
    static constexpr int numbers = 1;
    Factor<Real<P>> a;
    FieldView<P> x, y;
    __device__ void operator()(std::uint32_t i, double* sum) const {
        auto v = load_spinor<P>(y, i);
        add(v, a, load_spinor<P>(x, i));
        store_spinor<P>(y, i, v);
        sum[0] += square(v);
    }
};
template <Precision P>
struct Axpbypz {
    static constexpr int numbers = 0;
    Factor<Real<P>> a, b;
    FieldView<P> x, y, z;
    __device__ void operator()(std::uint32_t i, double*) const {
        auto v = load_spinor<P>(z, i);
        add(v, a, load_spinor<P>(x, i));
        add(v, b, load_spinor<P>(y, i));
        store_spinor<P>(z, i, v);
    }
};
template <Precision P>
struct Direction {
    static constexpr int numbers = 0;
    Factor<Real<P>> beta, minus_omega;
    FieldView<P> r, v, p;
    __device__ void operator()(std::uint32_t i, double*) const {
        auto q = load_spinor<P>(p, i);
        add(q, minus_omega, load_spinor<P>(v, i));
        scale(q, beta);
        add(q, Factor<Real<P>>{1, 0}, load_spinor<P>(r, i));
        store_spinor<P>(p, i, q);
    }
};
template <Precision P>
struct Finish {
    static constexpr int numbers = 3;
    Factor<Real<P>> alpha, omega, minus_omega;
    FieldView<P> p, t, shadow, x, r;
    __device__ void operator()(std::uint32_t i, double* sum) const {
        auto rest = load_spinor<P>(r, i);
        auto v = load_spinor<P>(x, i);
        add(v, alpha, load_spinor<P>(p, i));
        add(v, omega, rest);
        store_spinor<P>(x, i, v);
        add(rest, minus_omega, load_spinor<P>(t, i));
        store_spinor<P>(r, i, rest);
        add_product(load_spinor<P>(shadow, i), rest, sum[0], sum[1]);
        sum[2] += square(rest);
    }
};
template <Precision P>
struct Step {
    static constexpr int numbers = 1;
    Factor<Real<P>> a, minus_a;
    FieldView<P> p, q, x, r;
    __device__ void operator()(std::uint32_t i, double* sum) const {
        auto v = load_spinor<P>(x, i);
        add(v, a, load_spinor<P>(p, i));
        store_spinor<P>(x, i, v);
        auto rest = load_spinor<P>(r, i);
        add(rest, minus_a, load_spinor<P>(q, i));
        store_spinor<P>(r, i, rest);
        sum[0] += square(rest);
    }
};

__device__ inline double warp_sum(double value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
    return value;
}
/// The block's sum, in thread 0.
__device__ inline double block_sum(double value) {
    __shared__ double warps[threads / 32];
    value = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) value = warp_sum(threadIdx.x < threads / 32 ? warps[threadIdx.x] : 0.0);
    return value;
}

template <class Operation>
__global__ void __launch_bounds__(threads) sites_kernel(const Operation operation, const std::uint32_t sites, const Totals totals) {
    constexpr int numbers = Operation::numbers;
    double sum[numbers > 0 ? numbers : 1] = {};
    for (std::uint32_t i = blockIdx.x * threads + threadIdx.x; i < sites; i += gridDim.x * threads) operation(i, sum);
    if constexpr (numbers > 0) {
        __shared__ bool last;
        for (int k = 0; k < numbers; ++k) {
            const double whole = block_sum(sum[k]);
            if (threadIdx.x == 0) totals.partial[k * gridDim.x + blockIdx.x] = whole;
        }
        if (threadIdx.x == 0) {
            __threadfence();
            last = atomicAdd(totals.done, 1u) == gridDim.x - 1;
        }
        __syncthreads();
        if (!last) return;
        __threadfence();
        for (int k = 0; k < numbers; ++k) {
            double part = 0;
            for (unsigned b = threadIdx.x; b < gridDim.x; b += threads) part += __ldcg(totals.partial + k * gridDim.x + b);
            const double whole = block_sum(part);
            if (threadIdx.x == 0) static_cast<volatile double*>(totals.mailbox->sum)[k] = whole;
        }
        if (threadIdx.x == 0) {
            *totals.done = 0;
            __threadfence_system();
            *const_cast<volatile std::uint64_t*>(&totals.mailbox->ticket) = totals.ticket;
        }
    }
}

}  // namespace

template <Space S, Precision P>
struct FieldAlgebra<S, P>::Work {
    std::shared_ptr<const Lattice<S>> lattice;
    unsigned blocks = 0;
    Buffer<double, S> partial;
    Buffer<unsigned, S> done;
    Mailbox* mailbox = nullptr;
    std::uint64_t ticket = 0;

    explicit Work(std::shared_ptr<const Lattice<S>> on_lattice) : lattice(std::move(on_lattice)) {
        const S on = lattice->space();
        KS_CUDA(cudaSetDevice(on.device));
        int multiprocessors = 0;
        KS_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, on.device));
        const auto wanted = static_cast<unsigned>((lattice->sites() + threads - 1) / threads);
        blocks = std::min(wanted, static_cast<unsigned>(4 * multiprocessors));
        partial = Buffer<double, S>(on, sums * index_t{blocks});
        done = to_space(on, std::vector<unsigned>{0u});
        KS_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&mailbox), sizeof(Mailbox), cudaHostAllocMapped));
        *mailbox = Mailbox{};
    }
    ~Work() {
        // The last kernel that writes here has been waited for. At process exit the runtime may already be gone: errors are ignored.
        if (mailbox) static_cast<void>(cudaFreeHost(mailbox));
    }
    Work(const Work&) = delete;

    template <class Operation>
    void launch(const Operation& operation) {
        const S on = lattice->space();
        KS_CUDA(cudaSetDevice(on.device));
        if (Operation::numbers > 0) ++ticket;
        sites_kernel<<<blocks, threads, 0, on.stream>>>(operation, lattice->sites(), Totals{partial.data(), done.data(), mailbox, ticket});
        KS_CUDA(cudaGetLastError());
    }
    /// Launches, and waits for the sums.
    template <class Operation>
    Mailbox sum(const Operation& operation) {
        launch(operation);
        const std::atomic_ref<std::uint64_t> arrived(mailbox->ticket);
        for (unsigned spin = 0; arrived.load(std::memory_order_acquire) != ticket; ++spin)
            if (spin % 65536 == 65535) {  // a failed kernel never writes its ticket; a frequent test would cost more than the sum
                const auto status = cudaStreamQuery(lattice->space().stream);
                if (status != cudaErrorNotReady) KS_CUDA(status);
            }
        return *mailbox;
    }
};

template <Space S, Precision P>
FieldAlgebra<S, P>::FieldAlgebra(std::shared_ptr<const Lattice<S>> lattice) : work_(std::make_unique<Work>(std::move(lattice))) {}
template <Space S, Precision P>
FieldAlgebra<S, P>::~FieldAlgebra() = default;
template <Space S, Precision P>
FieldAlgebra<S, P>::FieldAlgebra(FieldAlgebra&&) noexcept = default;

template <Space S, Precision P>
Field<S, P> FieldAlgebra<S, P>::like(const Vector& x) const {
    return Vector(x.lattice());
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::copy(const Vector& x, Vector& y) {
    if (&x != &y) convert(x, y);
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::zero(Vector& y) {
    const auto& lattice = *work_->lattice;
    const auto places = static_cast<std::size_t>(lattice.blocks()) * row;
    KS_CUDA(cudaSetDevice(lattice.space().device));
    KS_CUDA(cudaMemsetAsync(y.view().data, 0, places * spinor_chunks<P> * sizeof(Chunk), lattice.space().stream));
    if (P == Precision::half) KS_CUDA(cudaMemsetAsync(y.view().scale, 0, places * sizeof(float), lattice.space().stream));  // 0 times any
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::norm2(const Vector& x) {
    return work_->sum(Norm2<P>{x.view()}).sum[0];
}
template <Space S, Precision P>
std::complex<double> FieldAlgebra<S, P>::dot(const Vector& x, const Vector& y) {
    const auto got = work_->sum(Dot<P>{x.view(), y.view()});
    return {got.sum[0], got.sum[1]};
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::axpby(Scalar a, const Vector& x, Scalar b, Vector& y) {
    using V = Real<P>;
    work_->launch(Axpby<P>{factor<V>(a), factor<V>(b), x.view(), y.view(), b != 0.0});
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::axpy_norm2(Scalar a, const Vector& x, Vector& y) {
    return work_->sum(AxpyNorm2<P>{factor<Real<P>>(a), x.view(), y.view()}).sum[0];
}
template <Space S, Precision P>
std::pair<std::complex<double>, double> FieldAlgebra<S, P>::dot_norm2(const Vector& x, const Vector& y) {
    const auto got = work_->sum(DotNorm2<P>{x.view(), y.view()});
    return {{got.sum[0], got.sum[1]}, got.sum[2]};
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::axpbypz(Scalar a, const Vector& x, Scalar b, const Vector& y, Vector& z) {
    using V = Real<P>;
    work_->launch(Axpbypz<P>{factor<V>(a), factor<V>(b), x.view(), y.view(), z.view()});
}
template <Space S, Precision P>
void FieldAlgebra<S, P>::direction(const Vector& r, Scalar beta, Scalar omega, const Vector& v, Vector& p) {
    using V = Real<P>;
    work_->launch(Direction<P>{factor<V>(beta), factor<V>(-omega), r.view(), v.view(), p.view()});
}
template <Space S, Precision P>
std::pair<std::complex<double>, double> FieldAlgebra<S, P>::finish(Scalar alpha, const Vector& p, Scalar omega, const Vector& t,
                                                                   const Vector& shadow, Vector& x, Vector& r) {
    using V = Real<P>;
    const auto got =
        work_->sum(Finish<P>{factor<V>(alpha), factor<V>(omega), factor<V>(-omega), p.view(), t.view(), shadow.view(), x.view(), r.view()});
    return {{got.sum[0], got.sum[1]}, got.sum[2]};
}
template <Space S, Precision P>
double FieldAlgebra<S, P>::step(double a, const Vector& p, const Vector& q, Vector& x, Vector& r) {
    using V = Real<P>;
    return work_->sum(Step<P>{factor<V>(a), factor<V>(-a), p.view(), q.view(), x.view(), r.view()}).sum[0];
}

template class FieldAlgebra<Cuda, Precision::half>;
template class FieldAlgebra<Cuda, Precision::single>;
template class FieldAlgebra<Cuda, Precision::double_>;

}  // namespace kasane::lattice
