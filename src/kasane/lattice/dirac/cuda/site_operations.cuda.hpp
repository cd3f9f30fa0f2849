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
#include <cstring>
#include <memory>
#include <vector>

namespace kasane::lattice::device {

inline constexpr int operation_threads = 256;  ///< of a block, at most
inline constexpr int small_threads = 64;       ///< of a block, where there are few sites
inline constexpr int operation_sums = 3;       ///< at most, of an operation

/// Blocks of a grid and their threads.
struct LaunchShape {
    unsigned blocks, threads;
};
/// The grid for this number of sites: the same for all fields of a size on a device, so that sums have the same bits in every run. Few
/// sites have small blocks, so that they occupy many multiprocessors: the time of such a launch is the latency of one thread.
inline LaunchShape grid_for(Cuda on, std::uint32_t sites) {
    int multiprocessors = 0;
    KS_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, on.device));
    const auto most = static_cast<unsigned>(4 * multiprocessors);
    const unsigned threads = sites > small_threads * most ? operation_threads : small_threads;
    return {std::min((sites + threads - 1) / threads, most), threads};
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

// The operations: one site each; `sum` has `numbers` entries. Where an operation has `Site`, load(i) reads the spinors of a site, so that a
// kernel can read them before it knows the factors.
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
    struct Site {
        Spinor<Real<P>> x, y;
    };
    __device__ Site load(std::uint32_t i) const { return {load_spinor<P>(x, i), load_spinor<P>(y, i)}; }
    __device__ void operator()(std::uint32_t, const Site& at, double* sum) const { add_product(at.x, at.y, sum[0], sum[1]); }
    __device__ void operator()(std::uint32_t i, double* sum) const { (*this)(i, load(i), sum); }
};
template <Precision P>
struct DotNorm2 {
    static constexpr int numbers = 3;
    FieldView<P> x, y;
    struct Site {
        Spinor<Real<P>> x, y;
    };
    __device__ Site load(std::uint32_t i) const { return {load_spinor<P>(x, i), load_spinor<P>(y, i)}; }
    __device__ void operator()(std::uint32_t, const Site& at, double* sum) const {
        add_product(at.x, at.y, sum[0], sum[1]);
        sum[2] += square(at.x);
    }
    __device__ void operator()(std::uint32_t i, double* sum) const { (*this)(i, load(i), sum); }
};
template <Precision P>
struct Axpby {
    static constexpr int numbers = 0;
    Factor<Real<P>> a, b;
    FieldView<P> x, y;
    bool reads_y;
    struct Site {
        Spinor<Real<P>> x, y;
    };
    __device__ Site load(std::uint32_t i) const { return {load_spinor<P>(x, i), reads_y ? load_spinor<P>(y, i) : Spinor<Real<P>>{}}; }
    __device__ void operator()(std::uint32_t i, Site at, double*) const {
        scale(at.x, a);
        if (reads_y) add(at.x, b, at.y);
        store_spinor<P>(y, i, at.x);
    }
    __device__ void operator()(std::uint32_t i, double* sum) const { (*this)(i, load(i), sum); }
};
template <Precision P>
struct AxpyNorm2 {
    static constexpr int numbers = 1;
    Factor<Real<P>> a;
    FieldView<P> x, y;
    struct Site {
        Spinor<Real<P>> x, y;
    };
    __device__ Site load(std::uint32_t i) const { return {load_spinor<P>(x, i), load_spinor<P>(y, i)}; }
    __device__ void operator()(std::uint32_t i, Site at, double* sum) const {
        add(at.y, a, at.x);
        store_spinor<P>(y, i, at.y);
        sum[0] += square(at.y);
    }
    __device__ void operator()(std::uint32_t i, double* sum) const { (*this)(i, load(i), sum); }
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
    struct Site {
        Spinor<Real<P>> r, v, p;
    };
    __device__ Site load(std::uint32_t i) const { return {load_spinor<P>(r, i), load_spinor<P>(v, i), load_spinor<P>(p, i)}; }
    __device__ void operator()(std::uint32_t i, Site at, double*) const {
        add(at.p, minus_omega, at.v);
        scale(at.p, beta);
        add(at.p, Factor<Real<P>>{1, 0}, at.r);
        store_spinor<P>(p, i, at.p);
    }
    __device__ void operator()(std::uint32_t i, double* sum) const { (*this)(i, load(i), sum); }
};
template <Precision P>
struct Finish {
    static constexpr int numbers = 3;
    Factor<Real<P>> alpha, omega, minus_omega;
    FieldView<P> p, t, shadow, x, r;
    struct Site {  ///< t and the shadow vector would be more than the registers
        Spinor<Real<P>> r, x, p;
    };
    __device__ Site load(std::uint32_t i) const { return {load_spinor<P>(r, i), load_spinor<P>(x, i), load_spinor<P>(p, i)}; }
    __device__ void operator()(std::uint32_t i, Site at, double* sum) const {
        add(at.x, alpha, at.p);
        add(at.x, omega, at.r);
        store_spinor<P>(x, i, at.x);
        add(at.r, minus_omega, load_spinor<P>(t, i));
        store_spinor<P>(r, i, at.r);
        add_product(load_spinor<P>(shadow, i), at.r, sum[0], sum[1]);
        sum[2] += square(at.r);
    }
    __device__ void operator()(std::uint32_t i, double* sum) const { (*this)(i, load(i), sum); }
};
template <Precision P>
struct Step {
    static constexpr int numbers = 1;
    Factor<Real<P>> a, minus_a;
    FieldView<P> p, q, x, r;
    struct Site {
        Spinor<Real<P>> p, q, x, r;
    };
    __device__ Site load(std::uint32_t i) const {
        return {load_spinor<P>(p, i), load_spinor<P>(q, i), load_spinor<P>(x, i), load_spinor<P>(r, i)};
    }
    __device__ void operator()(std::uint32_t i, Site at, double* sum) const {
        add(at.x, a, at.p);
        store_spinor<P>(x, i, at.x);
        add(at.r, minus_a, at.q);
        store_spinor<P>(r, i, at.r);
        sum[0] += square(at.r);
    }
    __device__ void operator()(std::uint32_t i, double* sum) const { (*this)(i, load(i), sum); }
};

__device__ inline double warp_sum(double value) {
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
    return value;
}
/// The block's sums, in thread 0.
template <int numbers>
__device__ inline void block_sums(double (&value)[numbers]) {
    __shared__ double warps[numbers][operation_threads / 32];
    __syncthreads();
    for (int k = 0; k < numbers; ++k) {
        value[k] = warp_sum(value[k]);
        if (threadIdx.x % 32 == 0) warps[k][threadIdx.x / 32] = value[k];
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    for (int k = 0; k < numbers; ++k) value[k] = warp_sum(threadIdx.x < blockDim.x / 32 ? warps[k][threadIdx.x] : 0.0);
}
/// The sums of all blocks of a grid of this size, in thread 0. @param partial  [numbers][blocks]
template <int numbers>
__device__ inline void add_blocks(double (&value)[numbers], const double* partial) {
    for (int k = 0; k < numbers; ++k) {
        value[k] = 0;
        for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) value[k] += __ldcg(partial + k * gridDim.x + b);
    }
    block_sums(value);
}
/// Adds the blocks' sums in order: true in the one thread that has the totals in `value`, of the last block to end. Such threads of
/// different launches of a stream follow each other. @param partial  [operation_sums][blocks]   @param done  0 before and after
template <int numbers>
__device__ inline bool grid_sums(double (&value)[numbers], double* partial, unsigned* done) {
    __shared__ bool last;
    block_sums(value);
    if (threadIdx.x == 0) {
        for (int k = 0; k < numbers; ++k) partial[k * gridDim.x + blockIdx.x] = value[k];
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return false;
    __threadfence();
    add_blocks(value, partial);
    if (threadIdx.x != 0) return false;
    *done = 0;
    return true;
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
    for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < sites; i += gridDim.x * blockDim.x) operation(i, sum);
    if constexpr (numbers > 0) {
        if (!grid_sums(sum, totals.partial + column * operation_sums * gridDim.x, totals.done + column)) return;
        for (int k = 0; k < numbers; ++k) static_cast<volatile double*>(totals.mailbox->sum[column].value)[k] = sum[k];
        __threadfence_system();
        if (most > 1) {
            if (atomicAdd(totals.done + most, 1u) != gridDim.y - 1) return;
            totals.done[most] = 0;
            __threadfence_system();
        }
        *const_cast<volatile std::uint64_t*>(&totals.mailbox->ticket) = totals.ticket;
    }
}

/// Waits until a kernel of the stream has written a ticket for which arrived(ticket) holds into pinned memory; returns the ticket.
template <class Arrived>
std::uint64_t wait_for(std::uint64_t& ticket, Arrived arrived, Cuda on) {
    const std::atomic_ref<std::uint64_t> now(ticket);
    for (unsigned spin = 0;; ++spin) {
        if (const auto value = now.load(std::memory_order_acquire); arrived(value)) return value;
        if (spin % 65536 == 65535) {  // a failed kernel never writes its ticket; a frequent test would cost more than the sum
            const auto status = cudaStreamQuery(on.stream);
            if (status != cudaErrorNotReady) KS_CUDA(status);
        }
    }
}

/// Memory of the host that kernels write to.
template <class T>
class Pinned {
   public:
    Pinned() {
        T* made = nullptr;
        KS_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&made), sizeof(T), cudaHostAllocMapped));
        std::memset(static_cast<void*>(made), 0, sizeof(T));
        memory_.reset(made);
    }
    T* get() const { return memory_.get(); }
    T* operator->() const { return memory_.get(); }

   private:
    struct Free {
        // The last kernel that writes here has been waited for. At process exit the runtime may already be gone: errors are ignored.
        void operator()(T* memory) const { static_cast<void>(cudaFreeHost(memory)); }
    };
    std::unique_ptr<T, Free> memory_;
};

/// Launches operations on fields of a lattice.
template <int most>
class SiteKernels {
   public:
    explicit SiteKernels(std::shared_ptr<const Lattice<Cuda>> on_lattice) : lattice_(std::move(on_lattice)) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        shape_ = grid_for(on, lattice_->sites());
        partial_ = Buffer<double, Cuda>(on, most * operation_sums * index_t{shape_.blocks});
        done_ = to_space(on, std::vector<unsigned>(most + 1, 0u));
    }

    /// One operation for each of `columns` columns; does not wait.
    template <class Operation>
    void launch(const Operation* operations, int columns) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        if (Operation::numbers > 0) ++ticket_;
        Operations<Operation, most> all;
        std::copy_n(operations, std::min(columns, most), all.column);
        sites_kernel<<<dim3(shape_.blocks, static_cast<unsigned>(columns)), shape_.threads, 0, on.stream>>>(
            all, lattice_->sites(), Totals<most>{partial_.data(), done_.data(), mailbox_.get(), ticket_});
        KS_CUDA(cudaGetLastError());
    }
    /// Launches, and waits for the sums of each column, which stand until the next operation.
    template <class Operation>
    const SiteSums* sum(const Operation* operations, int columns) {
        launch(operations, columns);
        wait_for(mailbox_->ticket, [&](std::uint64_t now) { return now == ticket_; }, lattice_->space());
        return mailbox_->sum;
    }

   private:
    std::shared_ptr<const Lattice<Cuda>> lattice_;
    LaunchShape shape_{};
    Buffer<double, Cuda> partial_;
    Buffer<unsigned, Cuda> done_;
    Pinned<Mailbox<most>> mailbox_;
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
