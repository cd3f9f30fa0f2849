// Operations of ResidentBicgstab and ResidentCg: each is one launch, which reads its factors from the state on the device. The sums of an
// operation are left as one number for each block; the next operation that needs them adds them, in every block, and computes the next
// scalars: that is 2 us faster than a last block that adds them before the kernel can end (12^4, H200). Only the last operation of an
// iteration does it so, because the host receives its result. Where the state has ended, an operation does nothing.
#include <kasane/lattice/dirac/cuda/chained.cuda.hpp>
#include <kasane/lattice/dirac/cuda/resident_scalars.hpp>
#include <kasane/lattice/dirac/cuda/site_operations.cuda.hpp>

#include <array>
#include <bit>
#include <functional>
#include <memory>
#include <type_traits>

namespace kasane::lattice {

namespace device {

/// What the host receives, in pinned memory: after every iteration one store of 16 bytes, at the end of a run the state before it.
template <class State>
struct RunMail {
    struct alignas(16) Report {
        std::uint64_t ticket;  ///< of the run and the iteration; its highest bit: the run has ended
        double norm;
    };
    static constexpr int reports = 4;  ///< of successive iterations; more than are launched ahead
    Report report[reports];
    alignas(8) std::array<unsigned char, sizeof(State)> last;
};
inline constexpr std::uint64_t run_ended = std::uint64_t{1} << 63;
constexpr std::uint64_t ticket_of(std::uint64_t run, int iteration) { return run << 32 | static_cast<std::uint32_t>(iteration); }

inline constexpr int earlier_sums = 2;  ///< operations of an iteration whose sums a later one adds, at a time

/// What a kernel needs beside its operation: the same in every run.
template <class State>
struct RunMemory {
    State* state[2];     ///< at the start of an iteration, and in the middle of it: an operation reads one and writes the other
    std::uint64_t* run;  ///< number of the run
    double* partial;     ///< [1 + earlier_sums][operation_sums][blocks]
    unsigned* done;      ///< 0 before and after
    RunMail<State>* mail;

    __device__ double* sums(int slot) const { return partial + static_cast<std::size_t>(slot) * operation_sums * gridDim.x; }
};

template <class State>
__device__ void report(const RunMemory<State>& memory, const State& state) {
    auto* const to = &memory.mail->report[state.iterations % RunMail<State>::reports];
    std::uint64_t ticket = ticket_of(*memory.run, state.iterations);
    if (!state.active()) {
        const auto* from = reinterpret_cast<const std::uint64_t*>(&state);
        for (std::size_t k = 0; k < sizeof(State) / 8; ++k) reinterpret_cast<volatile std::uint64_t*>(&memory.mail->last)[k] = from[k];
        __threadfence_system();
        ticket |= run_ended;
    }
    // Both words in one store, so that they need no fence between them.
    asm volatile("{.reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.sys.global.b128 [%0], both;}" ::"l"(to), "l"(ticket),
                 "l"(__double_as_longlong(state.norm()))
                 : "memory");
}

/// Whether all other blocks have called it; by one thread of each.
__device__ inline bool is_last(unsigned* done) {
    if (atomicAdd(done, 1u) != gridDim.x - 1) return false;
    *done = 0;
    return true;
}

template <class State>
__global__ void begin_kernel(RunMemory<State> memory, const __grid_constant__ State first, const std::uint64_t run) {
    *memory.state[0] = *memory.state[1] = first;
    *memory.run = run;
}

/// An operation of an iteration. Step has `Work`, the operation of a site, and with(state), the same with its factors. It first adds the
/// sums of `takes` earlier operations, from `first_slot` on, in all blocks: take(state, slot, sums). Its own sums go to `slot`; at -1 the
/// last block adds them, take(state, -1, sums), and the host receives the state. It reads state `reads` and writes state `writes` (-1:
/// none).
template <class Step, class State>
__global__ void __launch_bounds__(operation_threads)
    step_kernel(const __grid_constant__ Step step, const std::uint32_t sites, const RunMemory<State> memory) {
    constexpr int numbers = Step::Work::numbers;
    __shared__ double total[operation_sums];
    wait_for_earlier();
    State state = *memory.state[Step::reads];
    const bool was_active = state.active();
    const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
    for (int slot = Step::first_slot; slot < Step::first_slot + Step::takes; ++slot) {
        if (!state.active()) break;
        double sum[operation_sums];
        add_blocks(sum, memory.sums(slot));
        if (threadIdx.x == 0)
            for (int k = 0; k < operation_sums; ++k) total[k] = sum[k];
        __syncthreads();
        for (int k = 0; k < operation_sums; ++k) sum[k] = total[k];
        __syncthreads();
        step.take(state, slot, sum);
    }
    if (!state.active()) {
        if constexpr (Step::writes >= 0) {
            // Where it writes the state that it reads, every block must have read it.
            if (threadIdx.x == 0 && (Step::writes != Step::reads ? first_thread : is_last(memory.done))) {
                *memory.state[Step::writes] = state;
                if (was_active) report(memory, state);
            }
        }
        return;
    }
    if constexpr (Step::writes >= 0 && Step::slot >= 0)
        if (first_thread) *memory.state[Step::writes] = state;
    const typename Step::Work work = step.with(state);
    double sum[numbers > 0 ? numbers : 1] = {};
    for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < sites; i += gridDim.x * blockDim.x) work(i, sum);
    if constexpr (numbers > 0 && Step::slot >= 0) {
        block_sums(sum);
        if (threadIdx.x == 0)
            for (int k = 0; k < operation_sums; ++k) memory.sums(Step::slot)[k * gridDim.x + blockIdx.x] = k < numbers ? sum[k] : 0;
    } else if constexpr (numbers > 0) {
        if (!grid_sums(sum, memory.sums(earlier_sums), memory.done)) return;
        step.take(state, -1, sum);
        *memory.state[Step::writes] = state;
        report(memory, state);
    }
}

/// The launches of an iteration as a graph.
class IterationGraph {
   public:
    IterationGraph() = default;
    IterationGraph(const IterationGraph&) = delete;
    ~IterationGraph() {
        // At process exit the runtime may already be gone: errors are ignored.
        if (ready_) static_cast<void>(cudaGraphExecDestroy(ready_));
        if (stream_) static_cast<void>(cudaStreamDestroy(stream_));
    }
    /// Replaces the graph. @param submit  submits the work to the stream that it gets
    template <class Submit>
    void capture(Submit submit) {
        if (!stream_) KS_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
        KS_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
        submit(stream_);
        cudaGraph_t graph{};
        KS_CUDA(cudaStreamEndCapture(stream_, &graph));
        const std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, decltype(&cudaGraphDestroy)> owner(graph, &cudaGraphDestroy);
        if (ready_) {
            cudaGraphExecUpdateResultInfo result{};
            if (cudaGraphExecUpdate(ready_, graph, &result) == cudaSuccess) return;
            static_cast<void>(cudaGetLastError());  // other kernels than before
            KS_CUDA(cudaGraphExecDestroy(ready_));
            ready_ = nullptr;
        }
        KS_CUDA(cudaGraphInstantiate(&ready_, graph, 0));
    }
    void launch(cudaStream_t stream) const { KS_CUDA(cudaGraphLaunch(ready_, stream)); }

   private:
    cudaStream_t stream_{};
    cudaGraphExec_t ready_{};
};

template <class State>
class ResidentState {
    static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % 8 == 0);

   public:
    explicit ResidentState(std::shared_ptr<const Lattice<Cuda>> on_lattice) : lattice_(std::move(on_lattice)) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        shape_ = grid_for(on, lattice_->sites());
        partial_ = Buffer<double, Cuda>(on, (1 + earlier_sums) * operation_sums * index_t{shape_.blocks});
        done_ = to_space(on, std::vector<unsigned>(1, 0u));
        states_ = Buffer<std::uint64_t, Cuda>(on, 2 * sizeof(State) / 8 + 1);
    }

    void begin(const State& first) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        ++run_;
        launched_ = 0;
        begin_kernel<<<1, 1, 0, on.stream>>>(memory(), first, run_);
        KS_CUDA(cudaGetLastError());
    }
    /// The first iteration of a run is launched as it is; it may allocate memory. The second one is captured in a graph, which takes the
    /// host a fraction of the time of the launches.
    void iterate(const std::function<void()>& submit) {
        const Cuda on = lattice_->space();
        if (launched_ == 0) {
            submit();
        } else {
            if (launched_ == 1) graph_.capture([&](cudaStream_t stream) { lattice_->submit_to(stream, submit); });
            graph_.launch(on.stream);
        }
        ++launched_;
    }
    template <class Step>
    void launch(const Step& step) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        launch_chained(shape_.blocks, shape_.threads, on.stream, step_kernel<Step, State>, step, lattice_->sites(), memory());
    }
    krylov::RunReport wait(int iteration) {
        auto& report = mail_->report[iteration % RunMail<State>::reports];
        const auto ticket =
            wait_for(report.ticket, [&](std::uint64_t now) { return (now & ~run_ended) == ticket_of(run_, iteration); }, lattice_->space());
        ended_ = (ticket & run_ended) != 0;
        return {std::atomic_ref(report.norm).load(std::memory_order_relaxed), ended_};
    }
    State state() {
        if (ended_) return std::bit_cast<State>(mail_->last);
        // The host ends the run.
        const Cuda on = lattice_->space();
        std::array<unsigned char, sizeof(State)> now;
        KS_CUDA(cudaSetDevice(on.device));
        KS_CUDA(cudaMemcpyAsync(now.data(), memory().state[0], sizeof now, cudaMemcpyDeviceToHost, on.stream));
        KS_CUDA(cudaStreamSynchronize(on.stream));
        return std::bit_cast<State>(now);
    }

   private:
    RunMemory<State> memory() {
        auto* const first = reinterpret_cast<State*>(states_.data());
        return {{first, first + 1}, states_.data() + 2 * sizeof(State) / 8, partial_.data(), done_.data(), mail_.get()};
    }

    std::shared_ptr<const Lattice<Cuda>> lattice_;
    GridShape shape_{};
    Buffer<double, Cuda> partial_;
    Buffer<unsigned, Cuda> done_;
    Buffer<std::uint64_t, Cuda> states_;  ///< two states, and the number of the run
    Pinned<RunMail<State>> mail_;
    IterationGraph graph_;
    std::uint64_t run_ = 0;
    int launched_ = 0;  ///< iterations of the run
    bool ended_ = false;
};

template <class V>
__device__ Factor<V> factor(krylov::Complex a) {
    return {static_cast<V>(a.re), static_cast<V>(a.im)};
}

using BicgstabOnDevice = krylov::BicgstabState<krylov::Complex>;

/// The same bits: half would choose its scale again.
template <Precision P>
__device__ void copy_site(const FieldView<P>& from, const FieldView<P>& to, std::uint32_t place) {
    for (int c = 0; c < spinor_chunks<P>; ++c) to.at(place)[c * static_cast<int>(row)] = from.at(place)[c * static_cast<int>(row)];
    if constexpr (P == Precision::half) to.scale[place] = from.scale[place];
}

/// The places of an operation in an iteration, see step_kernel.
template <int reads_state, int writes_state, int slot_of_sums, int first_of_earlier = 0, int earlier = 0>
struct Place {
    static constexpr int reads = reads_state, writes = writes_state, slot = slot_of_sums, first_slot = first_of_earlier, takes = earlier;
};
constexpr int no_state = -1, last_block = -1, no_sums = -2;

/// p = r, or p = r + beta (p - omega v)
template <Precision P>
struct DirectionStep : Place<0, no_state, no_sums> {
    struct Work {
        static constexpr int numbers = 0;
        Direction<P> others;
        bool fresh;
        __device__ void operator()(std::uint32_t i, double* sum) const {
            if (fresh)
                copy_site(others.r, others.p, i);
            else
                others(i, sum);
        }
    };
    FieldView<P> r, v, p;
    DirectionStep(FieldView<P> r_, FieldView<P> v_, FieldView<P> p_) : r(r_), v(v_), p(p_) {}
    __device__ Work with(const BicgstabOnDevice& s) const {
        using V = Real<P>;
        if (s.scalars.fresh()) return {{{}, {}, r, v, p}, true};
        return {{factor<V>(s.scalars.beta()), factor<V>(-s.scalars.omega()), r, v, p}, false};
    }
    __device__ void take(BicgstabOnDevice&, int, const double*) const {}
};
/// v.shadow, |v|^2
template <Precision P>
struct FirstProductStep : Place<0, no_state, 1> {
    using Work = DotNorm2<P>;
    Work work;
    FirstProductStep(FieldView<P> v, FieldView<P> shadow) : work{v, shadow} {}
    __device__ const Work& with(const BicgstabOnDevice&) const { return work; }
    __device__ void take(BicgstabOnDevice&, int, const double*) const {}
};
/// alpha; r -= alpha v
template <Precision P>
struct HalfStep : Place<0, 1, 0, 1, 1> {
    using Work = AxpyNorm2<P>;
    FieldView<P> v, r;
    HalfStep(FieldView<P> v_, FieldView<P> r_) : v(v_), r(r_) {}
    __device__ Work with(const BicgstabOnDevice& s) const { return {factor<Real<P>>(-s.scalars.alpha()), v, r}; }
    __device__ void take(BicgstabOnDevice& s, int, const double* sum) const { s.take_v({sum[0], sum[1]}, sum[2]); }
};
/// t.r, |t|^2
template <Precision P>
struct SecondProductStep : Place<1, no_state, 1> {
    using Work = DotNorm2<P>;
    Work work;
    SecondProductStep(FieldView<P> t, FieldView<P> r) : work{t, r} {}
    __device__ const Work& with(const BicgstabOnDevice&) const { return work; }
    __device__ void take(BicgstabOnDevice&, int, const double*) const {}
};
/// omega; x += alpha p + omega r; r -= omega t; rho
template <Precision P>
struct FinishStep : Place<1, 0, last_block, 0, 2> {
    using Work = Finish<P>;
    FieldView<P> p, t, shadow, x, r;
    FinishStep(FieldView<P> p_, FieldView<P> t_, FieldView<P> shadow_, FieldView<P> x_, FieldView<P> r_)
        : p(p_), t(t_), shadow(shadow_), x(x_), r(r_) {}
    __device__ Work with(const BicgstabOnDevice& s) const {
        using V = Real<P>;
        const auto omega = s.scalars.omega();
        return {factor<V>(s.scalars.alpha()), factor<V>(omega), factor<V>(-omega), p, t, shadow, x, r};
    }
    __device__ void take(BicgstabOnDevice& s, int slot, const double* sum) const {
        if (slot == 0)
            s.take_half(sum[0]);
        else if (slot == 1)
            s.take_t({sum[0], sum[1]}, sum[2]);
        else
            s.take_rest({sum[0], sum[1]}, sum[2]);
    }
};

/// p = s + beta p, not in the first iteration
template <Precision P>
struct CgDirectionStep : Place<0, no_state, no_sums> {
    struct Work {
        static constexpr int numbers = 0;
        Axpby<P> others;
        bool none;
        __device__ void operator()(std::uint32_t i, double* sum) const {
            if (!none) others(i, sum);
        }
    };
    FieldView<P> s, p;
    CgDirectionStep(FieldView<P> s_, FieldView<P> p_) : s(s_), p(p_) {}
    __device__ Work with(const krylov::CgState& state) const {
        using V = Real<P>;
        if (state.iterations == 0) return {{{}, {}, s, p, true}, true};
        return {{{1, 0}, {static_cast<V>(state.course.beta()), 0}, s, p, true}, false};
    }
    __device__ void take(krylov::CgState&, int, const double*) const {}
};
/// |image|^2, |p|^2
template <Precision P>
struct CurvatureStep : Place<0, no_state, 0> {
    struct Work {
        static constexpr int numbers = 2;
        FieldView<P> image, p;
        bool shifted;
        __device__ void operator()(std::uint32_t i, double* sum) const {
            sum[0] += square(load_spinor<P>(image, i));
            if (shifted) sum[1] += square(load_spinor<P>(p, i));
        }
    };
    Work work;
    CurvatureStep(FieldView<P> image, FieldView<P> p, bool shifted) : work{image, p, shifted} {}
    __device__ const Work& with(const krylov::CgState&) const { return work; }
    __device__ void take(krylov::CgState&, int, const double*) const {}
};
/// alpha; y += alpha p, s -= alpha t; |s|^2. @tparam low  AlongStep follows
template <Precision P, bool low>
struct CgStep : Place<0, low ? 1 : 0, low ? 1 : last_block, 0, 1> {
    using Work = Step<P>;
    FieldView<P> p, t, y, s;
    double shift;  ///< of the operator
    CgStep(FieldView<P> p_, FieldView<P> t_, FieldView<P> y_, FieldView<P> s_, double shift_) : p(p_), t(t_), y(y_), s(s_), shift(shift_) {}
    __device__ Work with(const krylov::CgState& state) const {
        const auto alpha = static_cast<Real<P>>(state.course.alpha);
        return {{alpha, 0}, {-alpha, 0}, p, t, y, s};
    }
    __device__ void take(krylov::CgState& state, int slot, const double* sum) const {
        if (slot == 0)
            state.take_curvature(sum[0] + krylov::rounded_product(shift, sum[1]));
        else
            state.take_step(sum[0]);
    }
};
/// Re s.t
template <Precision P>
struct AlongStep : Place<1, 0, last_block, 1, 1> {
    using Work = Dot<P>;
    Work work;
    AlongStep(FieldView<P> s, FieldView<P> t) : work{s, t} {}
    __device__ const Work& with(const krylov::CgState&) const { return work; }
    __device__ void take(krylov::CgState& s, int slot, const double* sum) const { slot == 1 ? s.take_step(sum[0]) : s.take_along(sum[0]); }
};

}  // namespace device

using namespace device;

template <Precision P>
ResidentBicgstab<P>::ResidentBicgstab(std::shared_ptr<const Lattice<Cuda>> lattice)
    : state_(std::make_unique<ResidentState<State>>(std::move(lattice))) {}
template <Precision P>
ResidentBicgstab<P>::~ResidentBicgstab() = default;
template <Precision P>
void ResidentBicgstab<P>::begin(const State& state) {
    state_->begin(state);
}
template <Precision P>
void ResidentBicgstab<P>::direction(const Vector& r, const Vector& v, Vector& p) {
    state_->launch(DirectionStep<P>(r.view(), v.view(), p.view()));
}
template <Precision P>
void ResidentBicgstab<P>::first_half(const Vector& shadow, const Vector& v, Vector& r) {
    state_->launch(FirstProductStep<P>(v.view(), shadow.view()));
    state_->launch(HalfStep<P>(v.view(), r.view()));
}
template <Precision P>
void ResidentBicgstab<P>::second_half(const Vector& p, const Vector& t, const Vector& shadow, Vector& x, Vector& r) {
    state_->launch(SecondProductStep<P>(t.view(), r.view()));
    state_->launch(FinishStep<P>(p.view(), t.view(), shadow.view(), x.view(), r.view()));
}
template <Precision P>
void ResidentBicgstab<P>::iterate(const std::function<void()>& submit) {
    state_->iterate(submit);
}
template <Precision P>
krylov::RunReport ResidentBicgstab<P>::wait(int iteration) {
    return state_->wait(iteration);
}
template <Precision P>
typename ResidentBicgstab<P>::State ResidentBicgstab<P>::state() {
    return state_->state();
}

template <Precision P>
ResidentCg<P>::ResidentCg(std::shared_ptr<const Lattice<Cuda>> lattice)
    : state_(std::make_unique<ResidentState<State>>(std::move(lattice))) {}
template <Precision P>
ResidentCg<P>::~ResidentCg() = default;
template <Precision P>
void ResidentCg<P>::begin(const State& state) {
    low_ = state.course.low;
    state_->begin(state);
}
template <Precision P>
void ResidentCg<P>::direction(const Vector& s, Vector& p) {
    state_->launch(CgDirectionStep<P>(s.view(), p.view()));
}
template <Precision P>
void ResidentCg<P>::curvature(const Vector& image, double shift, const Vector& p) {
    shift_ = shift;
    state_->launch(CurvatureStep<P>(image.view(), p.view(), shift != 0));
}
template <Precision P>
void ResidentCg<P>::step(const Vector& p, const Vector& t, Vector& y, Vector& s) {
    if (low_)
        state_->launch(CgStep<P, true>(p.view(), t.view(), y.view(), s.view(), shift_));
    else
        state_->launch(CgStep<P, false>(p.view(), t.view(), y.view(), s.view(), shift_));
}
template <Precision P>
void ResidentCg<P>::along(const Vector& s, const Vector& t) {
    state_->launch(AlongStep<P>(s.view(), t.view()));
}
template <Precision P>
void ResidentCg<P>::iterate(const std::function<void()>& submit) {
    state_->iterate(submit);
}
template <Precision P>
krylov::RunReport ResidentCg<P>::wait(int iteration) {
    return state_->wait(iteration);
}
template <Precision P>
typename ResidentCg<P>::State ResidentCg<P>::state() {
    return state_->state();
}

template class ResidentBicgstab<Precision::half>;
template class ResidentBicgstab<Precision::single>;
template class ResidentBicgstab<Precision::double_>;
template class ResidentCg<Precision::half>;
template class ResidentCg<Precision::single>;
template class ResidentCg<Precision::double_>;

}  // namespace kasane::lattice
