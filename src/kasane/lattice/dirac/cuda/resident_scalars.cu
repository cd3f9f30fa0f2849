// Operations of ResidentBicgstab and ResidentCg: each is one launch, which reads its factors from the state on the device and whose last
// block computes the next scalars from the sums. Where the state has ended, it does nothing.
#include <kasane/lattice/dirac/cuda/resident_scalars.hpp>
#include <kasane/lattice/dirac/cuda/site_operations.cuda.hpp>

#include <array>
#include <bit>

namespace kasane::lattice {

namespace device {

/// The state after an iteration, in pinned memory of the host.
template <class State>
struct alignas(64) StateReport {
    alignas(8) std::array<unsigned char, sizeof(State)> state;
    std::uint64_t ticket;  ///< of the run and the iteration; written last
};
inline constexpr int state_reports = 4;  ///< of successive iterations; more than are launched ahead

template <class State>
struct StateReports {
    StateReport<State> of[state_reports];
};

/// What a kernel needs beside its operation.
template <class State>
struct StateMemory {
    State* state;     ///< on the device
    double* partial;  ///< [operation_sums][blocks]
    unsigned* done;   ///< 0 before and after
    StateReports<State>* reports;
    std::uint64_t run;  ///< number of the run
};

constexpr std::uint64_t ticket_of(std::uint64_t run, int iteration) { return run << 32 | static_cast<std::uint32_t>(iteration); }

template <class State>
__device__ void report(const StateMemory<State>& memory, const State& state) {
    auto& to = memory.reports->of[state.iterations % state_reports];
    const auto* from = reinterpret_cast<const std::uint64_t*>(&state);
    for (std::size_t k = 0; k < sizeof(State) / 8; ++k) reinterpret_cast<volatile std::uint64_t*>(&to.state)[k] = from[k];
    __threadfence_system();
    *const_cast<volatile std::uint64_t*>(&to.ticket) = ticket_of(memory.run, state.iterations);
}

template <class State>
__global__ void begin_kernel(State* state, const __grid_constant__ State first) {
    *state = first;
}

/// @tparam Step  has Work, the operation of a site; with(state), the operation with its factors, or nothing where it is left out; and with
/// sums take(state, sums), which returns whether the host must receive the state
template <class Step, class State>
__global__ void __launch_bounds__(operation_threads)
    step_kernel(const __grid_constant__ Step step, const std::uint32_t sites, const StateMemory<State> memory) {
    constexpr int numbers = Step::Work::numbers;
    if (!memory.state->active()) return;
    const typename Step::Work work = step.with(*memory.state);
    double sum[numbers > 0 ? numbers : 1] = {};
    for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < sites; i += gridDim.x * blockDim.x) work(i, sum);
    if constexpr (numbers > 0) {
        if (!grid_sums(sum, memory.partial, memory.done)) return;
        State next = *memory.state;
        const bool reports = step.take(next, sum);
        *memory.state = next;
        if (reports) report(memory, next);
    }
}

template <class State>
class ResidentState {
    static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % 8 == 0);

   public:
    explicit ResidentState(std::shared_ptr<const Lattice<Cuda>> on_lattice) : lattice_(std::move(on_lattice)) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        shape_ = grid_for(on, lattice_->sites());
        partial_ = Buffer<double, Cuda>(on, operation_sums * index_t{shape_.blocks});
        done_ = to_space(on, std::vector<unsigned>(1, 0u));
        state_ = Buffer<unsigned char, Cuda>(on, sizeof(State));
    }

    void begin(const State& first) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        ++run_;
        begin_kernel<<<1, 1, 0, on.stream>>>(memory().state, first);
        KS_CUDA(cudaGetLastError());
    }
    template <class Step>
    void launch(const Step& step) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        step_kernel<<<shape_.blocks, shape_.threads, 0, on.stream>>>(step, lattice_->sites(), memory());
        KS_CUDA(cudaGetLastError());
    }
    State wait(int iteration) {
        auto& arrived = reports_->of[iteration % state_reports];
        wait_for(arrived.ticket, ticket_of(run_, iteration), lattice_->space());
        return std::bit_cast<State>(arrived.state);
    }

   private:
    StateMemory<State> memory() { return {reinterpret_cast<State*>(state_.data()), partial_.data(), done_.data(), reports_.get(), run_}; }

    std::shared_ptr<const Lattice<Cuda>> lattice_;
    GridShape shape_{};
    Buffer<double, Cuda> partial_;
    Buffer<unsigned, Cuda> done_;
    Buffer<unsigned char, Cuda> state_;
    Pinned<StateReports<State>> reports_;
    std::uint64_t run_ = 0;
};

template <class V>
__device__ Factor<V> factor(krylov::Complex a) {
    return {static_cast<V>(a.re), static_cast<V>(a.im)};
}

using BicgstabOnDevice = krylov::BicgstabState<krylov::Complex>;

/// p = r, or p = r + beta (p - omega v)
template <Precision P>
struct DirectionStep {
    struct Work {
        static constexpr int numbers = 0;
        Direction<P> others;
        bool fresh;
        __device__ void operator()(std::uint32_t i, double* sum) const {
            if (fresh)
                store_spinor<P>(others.p, i, load_spinor<P>(others.r, i));
            else
                others(i, sum);
        }
    };
    FieldView<P> r, v, p;
    __device__ Work with(const BicgstabOnDevice& s) const {
        using V = Real<P>;
        if (s.scalars.fresh()) return {{{}, {}, r, v, p}, true};
        return {{factor<V>(s.scalars.beta()), factor<V>(-s.scalars.omega()), r, v, p}, false};
    }
};
/// First half: v.shadow, |v|^2; second: t.r, |t|^2
template <Precision P, bool second>
struct ProductStep {
    using Work = DotNorm2<P>;
    Work work;
    __device__ const Work& with(const BicgstabOnDevice&) const { return work; }
    __device__ bool take(BicgstabOnDevice& s, const double* sum) const {
        const krylov::Complex product(sum[0], sum[1]);
        return second ? s.take_t(product, sum[2]) : s.take_v(product, sum[2]);
    }
};
/// r -= alpha v
template <Precision P>
struct HalfStep {
    using Work = AxpyNorm2<P>;
    FieldView<P> v, r;
    __device__ Work with(const BicgstabOnDevice& s) const { return {factor<Real<P>>(-s.scalars.alpha()), v, r}; }
    __device__ bool take(BicgstabOnDevice& s, const double* sum) const { return s.take_half(sum[0]); }
};
/// x += alpha p + omega r; r -= omega t
template <Precision P>
struct FinishStep {
    using Work = Finish<P>;
    FieldView<P> p, t, shadow, x, r;
    __device__ Work with(const BicgstabOnDevice& s) const {
        using V = Real<P>;
        const auto omega = s.scalars.omega();
        return {factor<V>(s.scalars.alpha()), factor<V>(omega), factor<V>(-omega), p, t, shadow, x, r};
    }
    __device__ bool take(BicgstabOnDevice& s, const double* sum) const { return s.take_rest({sum[0], sum[1]}, sum[2]); }
};

/// p = s + beta p, not in the first iteration
template <Precision P>
struct CgDirectionStep {
    struct Work {
        static constexpr int numbers = 0;
        Axpby<P> others;
        bool none;
        __device__ void operator()(std::uint32_t i, double* sum) const {
            if (!none) others(i, sum);
        }
    };
    FieldView<P> s, p;
    __device__ Work with(const krylov::CgState& state) const {
        using V = Real<P>;
        if (state.iterations == 0) return {{{}, {}, s, p, true}, true};
        return {{{1, 0}, {static_cast<V>(state.course.beta()), 0}, s, p, true}, false};
    }
};
/// |image|^2, |p|^2
template <Precision P>
struct CurvatureStep {
    struct Work {
        static constexpr int numbers = 2;
        FieldView<P> image, p;
        bool shifted;
        __device__ void operator()(std::uint32_t i, double* sum) const {
            sum[0] += square(load_spinor<P>(image, i));
            if (shifted) sum[1] += square(load_spinor<P>(p, i));
        }
    };
    FieldView<P> image, p;
    double shift;
    __device__ Work with(const krylov::CgState&) const { return {image, p, shift != 0}; }
    __device__ bool take(krylov::CgState& s, const double* sum) const { return s.take_curvature(sum[0] + shift * sum[1]); }
};
/// y += alpha p, s -= alpha t
template <Precision P>
struct CgStep {
    using Work = Step<P>;
    FieldView<P> p, t, y, s;
    __device__ Work with(const krylov::CgState& state) const {
        const auto alpha = static_cast<Real<P>>(state.course.alpha);
        return {{alpha, 0}, {-alpha, 0}, p, t, y, s};
    }
    __device__ bool take(krylov::CgState& state, const double* sum) const { return state.take_step(sum[0]); }
};
/// Re s.t
template <Precision P>
struct AlongStep {
    using Work = Dot<P>;
    Work work;
    __device__ const Work& with(const krylov::CgState&) const { return work; }
    __device__ bool take(krylov::CgState& s, const double* sum) const { return s.take_along(sum[0]); }
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
    state_->launch(DirectionStep<P>{r.view(), v.view(), p.view()});
}
template <Precision P>
void ResidentBicgstab<P>::first_half(const Vector& shadow, const Vector& v, Vector& r) {
    state_->launch(ProductStep<P, false>{{v.view(), shadow.view()}});
    state_->launch(HalfStep<P>{v.view(), r.view()});
}
template <Precision P>
void ResidentBicgstab<P>::second_half(const Vector& p, const Vector& t, const Vector& shadow, Vector& x, Vector& r) {
    state_->launch(ProductStep<P, true>{{t.view(), r.view()}});
    state_->launch(FinishStep<P>{p.view(), t.view(), shadow.view(), x.view(), r.view()});
}
template <Precision P>
typename ResidentBicgstab<P>::State ResidentBicgstab<P>::wait(int iteration) {
    return state_->wait(iteration);
}

template <Precision P>
ResidentCg<P>::ResidentCg(std::shared_ptr<const Lattice<Cuda>> lattice)
    : state_(std::make_unique<ResidentState<State>>(std::move(lattice))) {}
template <Precision P>
ResidentCg<P>::~ResidentCg() = default;
template <Precision P>
void ResidentCg<P>::begin(const State& state) {
    state_->begin(state);
}
template <Precision P>
void ResidentCg<P>::direction(const Vector& s, Vector& p) {
    state_->launch(CgDirectionStep<P>{s.view(), p.view()});
}
template <Precision P>
void ResidentCg<P>::curvature(const Vector& image, double shift, const Vector& p) {
    state_->launch(CurvatureStep<P>{image.view(), p.view(), shift});
}
template <Precision P>
void ResidentCg<P>::step(const Vector& p, const Vector& t, Vector& y, Vector& s) {
    state_->launch(CgStep<P>{p.view(), t.view(), y.view(), s.view()});
}
template <Precision P>
void ResidentCg<P>::along(const Vector& s, const Vector& t) {
    state_->launch(AlongStep<P>{{s.view(), t.view()}});
}
template <Precision P>
typename ResidentCg<P>::State ResidentCg<P>::wait(int iteration) {
    return state_->wait(iteration);
}

template class ResidentBicgstab<Precision::half>;
template class ResidentBicgstab<Precision::single>;
template class ResidentBicgstab<Precision::double_>;
template class ResidentCg<Precision::half>;
template class ResidentCg<Precision::single>;
template class ResidentCg<Precision::double_>;

}  // namespace kasane::lattice
