// The operations of FieldAlgebra and ColumnAlgebra on a CUDA device, one site each, and their launch for one or several columns.
// Sums: every thread in double over its sites, a block's in a fixed tree, the blocks' in order by the last block of the column to end; the
// results go into pinned host memory followed by a ticket, which the host polls: no call of the runtime, no copy. Each column has a grid of
// its own, the same for all fields of a size on a device, so that sums have the same bits in every run and with any other columns.
// Included by .cu files alone.
#pragma once

#include <kasane/core/device/check.cuda.hpp>
#include <kasane/lattice/dirac/cuda/field.hpp>
#include <kasane/lattice/dirac/cuda/spinor_access.hpp>

#include <algorithm>
#include <atomic>
#include <complex>
#include <vector>

namespace kasane::lattice::device {

inline constexpr int operation_threads = 256;
inline constexpr int operation_sums = 3;  ///< at most, of an operation

/// Blocks of the grid for this number of sites: the same for all fields of a size on a device, so that sums are the same bits in every run.
inline unsigned blocks_for(Cuda on, std::uint32_t sites) {
    int multiprocessors = 0;
    KS_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, on.device));
    const auto wanted = static_cast<unsigned>((sites + operation_threads - 1) / operation_threads);
    return std::min(wanted, static_cast<unsigned>(4 * multiprocessors));
}

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
    __shared__ double warps[operation_threads / 32];
    value = warp_sum(value);
    __syncthreads();
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = value;
    __syncthreads();
    if (threadIdx.x < 32) value = warp_sum(threadIdx.x < operation_threads / 32 ? warps[threadIdx.x] : 0.0);
    return value;
}

struct SiteSums {
    double value[operation_sums];
};
template <int most>
struct alignas(64) Mailbox {  ///< pinned, on the host
    SiteSums sum[most];
    std::uint64_t ticket;
};

/// Memory that a kernel needs to return sums.
template <int most>
struct Totals {
    double* partial;  ///< [column][operation_sums][blocks]
    unsigned* done;   ///< blocks of each column that have ended, and columns; 0 before and after
    Mailbox<most>* mailbox;
    std::uint64_t ticket;
};

template <class Operation, int most>
struct Operations {
    Operation column[most];
};

/// @tparam most  columns of the grid, at most
template <class Operation, int most>
__global__ void __launch_bounds__(operation_threads)
    sites_kernel(const __grid_constant__ Operations<Operation, most> operations, const std::uint32_t sites, const Totals<most> totals) {
    constexpr int numbers = Operation::numbers;
    const unsigned column = most == 1 ? 0 : blockIdx.y;
    const Operation& operation = operations.column[column];
    double sum[numbers > 0 ? numbers : 1] = {};
    for (std::uint32_t i = blockIdx.x * operation_threads + threadIdx.x; i < sites; i += gridDim.x * operation_threads) operation(i, sum);
    if constexpr (numbers > 0) {
        double* const partial = totals.partial + column * operation_sums * gridDim.x;
        __shared__ bool last;
        for (int k = 0; k < numbers; ++k) {
            const double whole = block_sum(sum[k]);
            if (threadIdx.x == 0) partial[k * gridDim.x + blockIdx.x] = whole;
        }
        if (threadIdx.x == 0) {
            __threadfence();
            last = atomicAdd(totals.done + column, 1u) == gridDim.x - 1;
        }
        __syncthreads();
        if (!last) return;
        __threadfence();
        for (int k = 0; k < numbers; ++k) {
            double part = 0;
            for (unsigned b = threadIdx.x; b < gridDim.x; b += operation_threads) part += __ldcg(partial + k * gridDim.x + b);
            const double whole = block_sum(part);
            if (threadIdx.x == 0) static_cast<volatile double*>(totals.mailbox->sum[column].value)[k] = whole;
        }
        if (threadIdx.x == 0) {
            totals.done[column] = 0;
            __threadfence_system();
            if (most > 1) {
                if (atomicAdd(totals.done + most, 1u) != gridDim.y - 1) return;
                totals.done[most] = 0;
                __threadfence_system();
            }
            *const_cast<volatile std::uint64_t*>(&totals.mailbox->ticket) = totals.ticket;
        }
    }
}

/// Launches operations on fields of a lattice.
template <int most>
class SiteKernels {
   public:
    explicit SiteKernels(std::shared_ptr<const Lattice<Cuda>> on_lattice) : lattice_(std::move(on_lattice)) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        blocks_ = blocks_for(on, lattice_->sites());
        partial_ = Buffer<double, Cuda>(on, most * operation_sums * index_t{blocks_});
        done_ = to_space(on, std::vector<unsigned>(most + 1, 0u));
        Mailbox<most>* mailbox = nullptr;
        KS_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&mailbox), sizeof(Mailbox<most>), cudaHostAllocMapped));
        *mailbox = Mailbox<most>{};
        mailbox_.reset(mailbox);
    }

    /// One operation for each of `columns` columns; does not wait.
    template <class Operation>
    void launch(const Operation* operations, int columns) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        if (Operation::numbers > 0) ++ticket_;
        Operations<Operation, most> all;
        std::copy_n(operations, columns, all.column);
        sites_kernel<<<dim3(blocks_, static_cast<unsigned>(columns)), operation_threads, 0, on.stream>>>(
            all, lattice_->sites(), Totals<most>{partial_.data(), done_.data(), mailbox_.get(), ticket_});
        KS_CUDA(cudaGetLastError());
    }
    /// Launches, and waits for the sums of each column, which stand until the next operation.
    template <class Operation>
    const SiteSums* sum(const Operation* operations, int columns) {
        launch(operations, columns);
        const std::atomic_ref<std::uint64_t> arrived(mailbox_->ticket);
        for (unsigned spin = 0; arrived.load(std::memory_order_acquire) != ticket_; ++spin)
            if (spin % 65536 == 65535) {  // a failed kernel never writes its ticket; a frequent test would cost more than the sum
                const auto status = cudaStreamQuery(lattice_->space().stream);
                if (status != cudaErrorNotReady) KS_CUDA(status);
            }
        return mailbox_->sum;
    }

   private:
    struct Free {
        // The last kernel that writes here has been waited for. At process exit the runtime may already be gone: errors are ignored.
        void operator()(Mailbox<most>* mailbox) const { static_cast<void>(cudaFreeHost(mailbox)); }
    };

    std::shared_ptr<const Lattice<Cuda>> lattice_;
    unsigned blocks_ = 0;
    Buffer<double, Cuda> partial_;
    Buffer<unsigned, Cuda> done_;
    std::unique_ptr<Mailbox<most>, Free> mailbox_;
    std::uint64_t ticket_ = 0;
};

/// y = 0, on the field's stream.
template <Precision P>
void set_zero(Field<Cuda, P>& y) {
    const auto& lattice = *y.lattice();
    const auto places = static_cast<std::size_t>(lattice.blocks()) * row;
    KS_CUDA(cudaSetDevice(lattice.space().device));
    KS_CUDA(cudaMemsetAsync(y.view().data, 0, places * spinor_chunks<P> * sizeof(Chunk), lattice.space().stream));
    if (P == Precision::half) KS_CUDA(cudaMemsetAsync(y.view().scale, 0, places * sizeof(float), lattice.space().stream));  // 0 times any
}

}  // namespace kasane::lattice::device
