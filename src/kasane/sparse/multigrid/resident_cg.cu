#include <kasane/core/device/stream_cuda.hpp>
#include <kasane/sparse/multigrid/device_sums.cuda.hpp>
#include <kasane/sparse/multigrid/resident_cg.hpp>

#include <cmath>
#include <vector>

namespace kasane::sparse {
namespace {

using namespace device;

__device__ void set_square(CgScalars& s, double r2) {
    const double norm = sqrt(r2);
    s.r2 = r2;
    s.unit = norm > 0 && norm < INFINITY ? ldexp(1., ilogb(norm)) : 1;
    s.per_unit = 1 / s.unit;
}

__global__ void begin_run(CgScalars* s, double r2) {
    set_square(*s, r2);
    s->rz_before = 0;
    s->unit_then = s->unit;
}

/// z as it is.
struct OfDoubles {
    const double* z;
    __device__ double operator()(index_t i, double) const { return z[i]; }
    __device__ double2 two(index_t pair, double) const { return reinterpret_cast<const double2*>(z)[pair]; }
    __device__ double factor(const CgScalars&) const { return 1; }
};

/// z in single precision.
struct OfFloats {
    const float* z;
    double by;
    __device__ double operator()(index_t i, double factor) const { return factor * static_cast<double>(z[i]); }
    __device__ double2 two(index_t pair, double factor) const {
        const float2 both = reinterpret_cast<const float2*>(z)[pair];
        return {factor * static_cast<double>(both.x), factor * static_cast<double>(both.y)};
    }
    __device__ double factor(const CgScalars& s) const { return by * s.unit_then; }
};

/// A thread computes two entries, whose numbers are loaded together.
template <class Z>
__global__ void __launch_bounds__(summing_threads) next_direction(index_t n, const CgScalars* s, Z z, double* p) {
    const index_t pair = blockIdx.x * static_cast<index_t>(summing_threads) + threadIdx.x;
    const double before = s->rz_before, factor = z.factor(*s), by = before == 0 ? 0 : s->rz / before;
    if (2 * pair + 1 < n) {
        auto* const to = reinterpret_cast<double2*>(p) + pair;
        const double2 now = z.two(pair, factor);
        if (before == 0) {
            *to = now;
        } else {
            const double2 old = *to;
            *to = {now.x + by * old.x, now.y + by * old.y};
        }
    } else if (2 * pair < n) {
        p[n - 1] = before == 0 ? z(n - 1, factor) : z(n - 1, factor) + by * p[n - 1];
    }
}

template <class Z>
void launch_direction(Cuda on, const CgScalars* s, const Z& z, Buffer<double, Cuda>& p) {
    const auto blocks = static_cast<unsigned>((p.size() + 2 * summing_threads - 1) / (2 * summing_threads));
    KS_CUDA(cudaSetDevice(on.device));
    next_direction<<<blocks, summing_threads, 0, on.stream>>>(p.size(), s, z, p.data());
    KS_CUDA(cudaGetLastError());
}

struct Step {
    const CgScalars* s;
    const double *p, *q;
    double *x, *r;
    float* narrowed;
    double alpha = 0, per_unit = 0;
    bool sound = false;  ///< both sums are positive

    __device__ Step ready() const {
        Step with = *this;
        with.sound = s->rz > 0 && s->pAp > 0;
        with.alpha = s->rz / s->pAp;
        with.per_unit = s->per_unit;
        return with;
    }
    __device__ double operator()(index_t i) const {
        if (!sound) return 0;
        x[i] += alpha * p[i];
        const double now = r[i] - alpha * q[i];
        r[i] = now;
        if (narrowed) narrowed[i] = static_cast<float>(per_unit * now);
        return now * now;
    }
    __device__ double two(index_t pair) const {
        if (!sound) return 0;
        const double2 ps = reinterpret_cast<const double2*>(p)[pair], qs = reinterpret_cast<const double2*>(q)[pair];
        double2 xs = reinterpret_cast<double2*>(x)[pair], rs = reinterpret_cast<double2*>(r)[pair];
        xs.x += alpha * ps.x, xs.y += alpha * ps.y;
        rs.x -= alpha * qs.x, rs.y -= alpha * qs.y;
        reinterpret_cast<double2*>(x)[pair] = xs;
        reinterpret_cast<double2*>(r)[pair] = rs;
        if (narrowed)
            reinterpret_cast<float2*>(narrowed)[pair] = {static_cast<float>(per_unit * rs.x), static_cast<float>(per_unit * rs.y)};
        return rs.x * rs.x + rs.y * rs.y;
    }
};

/// The end of an iteration: scalars of the next one.
struct EndOfStep {
    CgScalars* s;
    __device__ void operator()(const double (&r2)[1]) const {
        if (!(s->rz > 0 && s->pAp > 0)) return;
        s->unit_then = s->unit;
        set_square(*s, r2[0]);
        s->rz_before = s->rz;
    }
};

/// The launches of an iteration.
class CgGraph {
   public:
    CgGraph() = default;
    CgGraph(const CgGraph&) = delete;
    ~CgGraph() {
        // At process exit the runtime may already be gone: errors are ignored.
        if (ready_) static_cast<void>(cudaGraphExecDestroy(ready_));
    }
    bool captured() const { return ready_ != nullptr; }
    void capture(Cuda on, const std::function<void(Cuda)>& submit) {
        const cuda::Stream apart(on.device, Urgency::usual);
        KS_CUDA(cudaStreamBeginCapture(apart.space().stream, cudaStreamCaptureModeThreadLocal));
        submit(apart.space());
        cudaGraph_t graph{};
        KS_CUDA(cudaStreamEndCapture(apart.space().stream, &graph));
        const std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, decltype(&cudaGraphDestroy)> owner(graph, &cudaGraphDestroy);
        KS_CUDA(cudaGraphInstantiate(&ready_, graph, 0));
    }
    void launch(Cuda on) const { KS_CUDA(cudaGraphLaunch(ready_, on.stream)); }

   private:
    cudaGraphExec_t ready_{};
};

}  // namespace

struct ResidentCg::Parts {
    Cuda on;
    Buffer<CgScalars, Cuda> scalars;
    DeviceSumMemory sums;
    CgGraph graph;
    int executed = 0;

    explicit Parts(Cuda space) : on(space), scalars(space, 1), sums(space) {}
};

ResidentCg::ResidentCg(Cuda on) : parts_(std::make_unique<Parts>(on)) {}
ResidentCg::~ResidentCg() = default;

CgScalars* ResidentCg::scalars() { return parts_->scalars.data(); }
DeviceSums ResidentCg::sums() { return parts_->sums.view(); }

void ResidentCg::begin(double r2) {
    KS_CUDA(cudaSetDevice(parts_->on.device));
    begin_run<<<1, 1, 0, parts_->on.stream>>>(scalars(), r2);
    KS_CUDA(cudaGetLastError());
}

void ResidentCg::direction(Cuda on, const Buffer<double, Cuda>& z, Buffer<double, Cuda>& p) {
    launch_direction(on, scalars(), OfDoubles{z.data()}, p);
}

void ResidentCg::direction(Cuda on, const float* from, double by, Buffer<double, Cuda>& p) {
    launch_direction(on, scalars(), OfFloats{from, by}, p);
}

void ResidentCg::step(Cuda on, const Buffer<double, Cuda>& p, const Buffer<double, Cuda>& q, Buffer<double, Cuda>& x,
                      Buffer<double, Cuda>& r, float* narrowed) {
    sum_then(on, x.size(), Step{scalars(), p.data(), q.data(), x.data(), r.data(), narrowed}, EndOfStep{scalars()}, sums());
}

krylov::CgSums ResidentCg::execute(const std::function<void(Cuda)>& submit) {
    const Cuda on = parts_->on;
    KS_CUDA(cudaSetDevice(on.device));
    // The first iteration is launched as it is, which loads its kernels. The others are a graph: at 128^3 and 256^3 on an H200 the launches
    // of the host take 0.4 ms longer for eleven iterations.
    if (parts_->executed++ == 0) {
        submit(on);
    } else {
        if (!parts_->graph.captured()) parts_->graph.capture(on, submit);
        parts_->graph.launch(on);
    }
    return now().report();
}

CgScalars ResidentCg::now() {
    CgScalars copy;
    copy_to_host(parts_->on, View<CgScalars>(&copy, 1), View<const CgScalars>(scalars(), 1));
    return copy;
}

}  // namespace kasane::sparse
