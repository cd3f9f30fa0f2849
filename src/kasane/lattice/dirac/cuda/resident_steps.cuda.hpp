// The kernels of ResidentBicgstab, ResidentCg and PeerBicgstab: each operation of an iteration is one launch, which reads its factors
// from the state on the device. Where the state has ended, an operation does nothing. On one device the sums of an operation are left as
// one number for each block; the next operation that needs them adds them, in every block, and computes the next scalars: that is 2 us
// faster than a last block that adds them before the kernel can end (12^4, H200). Only the last operation of an iteration does it so,
// because the host receives its result. On several devices the last block adds the sums of its device and writes them into the memory of
// every device; the next operation that needs them waits for all, and adds them in the order of the workers (PeerSums). Sums that are not
// needed at once are added by the last block of the next product, together with its own. Included by .cu files alone.
#pragma once

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

/// Report to the host in pinned memory: after every iteration one store of 16 bytes, at the end of a run the state before it.
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

/// Arguments of a kernel in addition to its operation: the same in every run.
template <class State>
struct RunMemory {
    State* state[2];       ///< at the start of an iteration, and in the middle of it: an operation reads one and writes the other
    std::uint64_t* run;    ///< number of the run
    std::uint32_t* begun;  ///< iterations of the run that have begun, also those without effect
    double* partial;       ///< [1 + earlier_sums][operation_sums][blocks]
    unsigned* done;        ///< [2], of sums in slots and of the last ones; 0 before and after
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

/// Adds the blocks' sums in order, as grid_sums() does: true in the first warp of the last block to end, whose lanes all have the totals:
/// those of `earlier` numbers that precede `partial`, then those of value.
template <int earlier, int numbers>
__device__ bool last_block_sums(double (&value)[numbers], double* partial, unsigned* done, double (&total)[earlier + numbers]) {
    __shared__ bool last;
    block_sums(value);
    if (threadIdx.x == 0) {
        for (int k = 0; k < numbers; ++k) partial[k * gridDim.x + blockIdx.x] = value[k];
        __threadfence();
        last = is_last(done);
    }
    __syncthreads();
    if (!last) return false;
    __threadfence();
    add_blocks(total, partial - earlier * gridDim.x);
    return threadIdx.x < 32;
}

template <class State>
__global__ void begin_kernel(RunMemory<State> memory, const __grid_constant__ State first, const std::uint64_t run) {
    *memory.state[0] = *memory.state[1] = first;
    *memory.run = run;
    *memory.begun = 0;
}

/// The sums of one device.
struct OwnSums {};

/// An entry of the memory of PeerSums: a number, and the ticket of its iteration.
struct alignas(16) PeerEntry {
    std::uint64_t ticket;
    double value;
};
inline constexpr int most_peers = 8;                                          ///< devices
inline constexpr int peer_messages = 4;                                       ///< of an iteration: its sums
using PeerEntries = PeerEntry[2][peer_messages][most_peers][operation_sums];  ///< [run % 2]: a device may be a run ahead

/// The sums of several devices. Number and ticket are one store of 16 bytes, so that they need no fence between them.
/// Memory is used again after an iteration: a device writes a message of the next one after it has received a later message of this one
/// from every device, which each of them sends after it has read the first.
struct PeerSums {
    int count = 0, own = 0;                 ///< devices, number of this one
    PeerEntries* entries[most_peers] = {};  ///< memory of each device

    /// The sum over the devices, in their order, of what each has sent as this message; in the first `operation_sums` lanes of a warp,
    /// which calls it.
    __device__ double take(std::uint64_t run, int message, std::uint64_t ticket) const {
        const int lane = static_cast<int>(threadIdx.x % 32), k = lane / most_peers, from = lane % most_peers;
        double value = 0;
        if (k < operation_sums && from < count) value = await_entry(&(*entries[own])[run % 2][message][from][k], ticket);
        double sum = 0;
        for (int device = 0; device < count; ++device) {
            const double next = __shfl_sync(0xFFFFFFFFu, value, lane % operation_sums * most_peers + device);
            sum = device == 0 ? next : sum + next;
        }
        return sum;
    }
    /// Sends sums to all devices, by a warp whose lanes all have them.
    __device__ void send(std::uint64_t run, int message, std::uint64_t ticket, const double (&sum)[operation_sums]) const {
        const int lane = static_cast<int>(threadIdx.x % 32), k = lane / most_peers, to = lane % most_peers;
        if (k >= operation_sums || to >= count) return;
        const double value = k == 0 ? sum[0] : k == 1 ? sum[1] : sum[2];
        asm volatile("{.reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed.sys.global.b128 [%0], both;}" ::"l"(
                         &(*entries[to])[run % 2][message][own][k]),
                     "l"(ticket), "l"(__double_as_longlong(value))
                     : "memory");
    }

   private:
    /// Ends the kernel with an error where that takes 20 s: another device failed.
    __device__ static double await_entry(const PeerEntry* entry, std::uint64_t ticket) {
        constexpr unsigned long long longest = 20'000'000'000ull;  // [ns]
        unsigned long long begin = 0;
        for (unsigned tries = 0;; ++tries) {
            std::uint64_t there;
            long long bits;
            asm volatile("{.reg .b128 both; ld.relaxed.sys.global.b128 both, [%2]; mov.b128 {%0, %1}, both;}"
                         : "=l"(there), "=l"(bits)
                         : "l"(entry)
                         : "memory");
            if (there == ticket) return __longlong_as_double(bits);
            if (tries % 1024 != 1023) continue;
            unsigned long long now;
            asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
            if (begin == 0) begin = now;
            if (now - begin > longest) __trap();
        }
    }
};

/// The message of the sums in a slot, where an operation that reads this state sends or takes them. Sums of the first product are read with
/// the first state, those of the second with the second one.
constexpr int message_of(int slot, int state) { return slot == 0 ? 0 : slot == 1 ? 1 + state : 3; }

/// Whether sums of this slot are left as one number for each block where there are several devices, for the next product (`adds`).
constexpr bool left_for_product(int slot) { return slot == 0; }

/// An operation of an iteration. Step has `Work`, the operation of a site, and with(state), the same with its factors. It first adds the
/// sums of `takes` earlier operations, from `first_slot` on, in all blocks: take(state, slot, sums). Its own sums go to `slot`; at -1 the
/// last block adds them, take(state, -1, sums), and the host receives the state. It reads state `reads` and writes state `writes` (-1:
/// none). `adds`: on several devices its last block also adds and sends the sums in slot 0. @tparam Peers  OwnSums, or PeerSums
/// @tparam ahead  a thread has one site at most, whose spinors it reads while state and sums arrive
template <bool ahead, class Step, class State, class Peers>
__device__ void execute(const Step& step, const std::uint32_t sites, const RunMemory<State>& memory, const Peers& peers) {
    constexpr bool many = std::is_same_v<Peers, PeerSums>;
    constexpr int numbers = Step::Work::numbers;
    __shared__ double total[operation_sums];
    [[maybe_unused]] const std::uint32_t own = blockIdx.x * blockDim.x + threadIdx.x;
    typename Step::Work::Site site;
    if (ahead && own < sites) site = step.load(own);
    State state = *memory.state[Step::reads];
    const bool was_active = state.active();
    const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
    if (Step::begins && first_thread) ++*memory.begun;
    [[maybe_unused]] std::uint64_t run = 0, ticket = 0;
    if constexpr (many) {
        run = *memory.run;
        ticket = ticket_of(run, state.iterations - Step::reads + 1);  // the second state counts the present iteration
    }
    for (int slot = Step::first_slot; slot < Step::first_slot + Step::takes; ++slot) {
        if (!state.active()) break;
        double sum[operation_sums];
        if constexpr (many) {
            if (threadIdx.x < 32) {
                const double mine = peers.take(run, message_of(slot, Step::reads), ticket);
                if (threadIdx.x < operation_sums) total[threadIdx.x] = mine;
            }
        } else {
            add_blocks(sum, memory.sums(slot));
            if (threadIdx.x == 0)
                for (int k = 0; k < operation_sums; ++k) total[k] = sum[k];
        }
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
    if constexpr (ahead) {
        if (own < sites) work(own, site, sum);
    } else {
        for (std::uint32_t i = own; i < sites; i += gridDim.x * blockDim.x) work(i, sum);
    }
    if constexpr (numbers > 0 && many && !left_for_product(Step::slot)) {
        constexpr bool last = Step::slot == -1;
        constexpr int earlier = Step::adds ? operation_sums : 0;
        double total_of[earlier + numbers], all[operation_sums] = {};
        if (!last_block_sums<earlier>(sum, memory.sums(last ? earlier_sums : 1), memory.done + (last ? 1 : 0), total_of)) return;
        if constexpr (Step::adds) {
            for (int k = 0; k < operation_sums; ++k) all[k] = total_of[k];
            peers.send(run, message_of(0, Step::reads), ticket, all);
        }
        for (int k = 0; k < numbers; ++k) all[k] = total_of[earlier + k];
        constexpr int message = message_of(Step::slot, Step::reads);
        peers.send(run, message, ticket, all);
        if constexpr (last) {
            const double mine = peers.take(run, message, ticket);
            for (int k = 0; k < operation_sums; ++k) all[k] = __shfl_sync(0xFFFFFFFFu, mine, k);
            if (threadIdx.x != 0) return;
            step.take(state, -1, all);
            *memory.state[Step::writes] = state;
            report(memory, state);
        }
    } else if constexpr (numbers > 0 && Step::slot >= 0) {
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

template <bool ahead, class Step, class State, class Peers>
__global__ void __launch_bounds__(operation_threads) step_kernel(const __grid_constant__ Step step, const std::uint32_t sites,
                                                                 const RunMemory<State> memory, const __grid_constant__ Peers peers) {
    wait_for_earlier();
    execute<ahead>(step, sites, memory, peers);
}
/// A product on several devices, and the operation that needs it: all blocks are resident, and wait for the sums of the first step. With
/// large blocks a thread that reads ahead would need the registers of another block.
template <bool ahead, class First, class Second, class State>
__global__ void __launch_bounds__(ahead ? small_threads : operation_threads, ahead ? 4 : 3)
    two_steps_kernel(const __grid_constant__ First first, const __grid_constant__ Second second, const std::uint32_t sites,
                     const RunMemory<State> memory, const __grid_constant__ PeerSums peers) {
    wait_for_earlier();
    execute<true>(first, sites, memory, peers);
    __syncthreads();
    execute<ahead>(second, sites, memory, peers);
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
    /// Does the work of the first launch that precedes its submission.
    void upload(cudaStream_t stream) const { KS_CUDA(cudaGraphUpload(ready_, stream)); }

   private:
    cudaStream_t stream_{};
    cudaGraphExec_t ready_{};
};

/// @tparam Peers  as for step_kernel
template <class State, class Peers = OwnSums>
class RunOnDevice {
    static_assert(std::is_trivially_copyable_v<State> && sizeof(State) % 8 == 0);

   public:
    explicit RunOnDevice(std::shared_ptr<const Lattice<Cuda>> on_lattice, const Peers& peers = {})
        : lattice_(std::move(on_lattice)), peers_(peers) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        shape_ = grid_for(on, lattice_->sites());
        partial_ = Buffer<double, Cuda>(on, (1 + earlier_sums) * operation_sums * index_t{shape_.blocks});
        done_ = to_space(on, std::vector<unsigned>(2, 0u));
        states_ = Buffer<std::uint64_t, Cuda>(on, 2 * sizeof(State) / 8 + 2);
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
        if (launched_ == 0) {
            submit();
        } else {
            if (launched_ == 1) capture(submit);
            graph_.launch(lattice_->space().stream);
        }
        ++launched_;
    }
    // The parts of iterate().
    int launched() const { return launched_; }  ///< iterations of the run
    void count_launch() { ++launched_; }
    void capture(const std::function<void()>& submit) {
        graph_.capture([&](cudaStream_t stream) { lattice_->submit_to(stream, submit); });
    }
    const IterationGraph& graph() const { return graph_; }
    /// Iterations of the run that have begun, on the device; an iteration adds 1 at its begin.
    const std::uint32_t* begun() { return memory().begun; }
    const Lattice<Cuda>& lattice() const { return *lattice_; }

    template <class Step>
    void launch(const Step& step) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        const auto start = [&]<bool ahead>() {
            launch_chained({shape_.blocks, shape_.threads}, on.stream, step_kernel<ahead, Step, State, Peers>, step, lattice_->sites(),
                           memory(), peers_);
        };
        if (few_sites())
            start.template operator()<true>();
        else
            start.template operator()<false>();
    }
    /// Whether all blocks of a launch of both steps are resident at once.
    template <class First, class Second>
    bool fits_together() const {
        if (lattice_->sites() > shape_.blocks * shape_.threads) return false;
        const int device = lattice_->space().device;
        int blocks = 0, multiprocessors = 0;
        KS_CUDA(cudaSetDevice(device));
        KS_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
        const auto kernel = few_sites() ? two_steps_kernel<true, First, Second, State> : two_steps_kernel<false, First, Second, State>;
        KS_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, static_cast<int>(shape_.threads), 0));
        return shape_.blocks <= static_cast<unsigned>(blocks * multiprocessors);
    }
    template <class First, class Second>
    void launch(const First& first, const Second& second) {
        const Cuda on = lattice_->space();
        KS_CUDA(cudaSetDevice(on.device));
        const auto kernel = few_sites() ? two_steps_kernel<true, First, Second, State> : two_steps_kernel<false, First, Second, State>;
        launch_chained({shape_.blocks, shape_.threads}, on.stream, kernel, first, second, lattice_->sites(), memory(), peers_);
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
    /// Whether a thread has one site at most and blocks are small: then all blocks of a kernel that reads ahead are resident at once.
    /// Blocks of 256 threads would run in two or three turns (106 to 236 registers).
    bool few_sites() const { return shape_.threads == small_threads && lattice_->sites() <= shape_.blocks * shape_.threads; }
    RunMemory<State> memory() {
        auto* const first = reinterpret_cast<State*>(states_.data());
        auto* const behind = states_.data() + 2 * sizeof(State) / 8;
        return {{first, first + 1}, behind, reinterpret_cast<std::uint32_t*>(behind + 1), partial_.data(), done_.data(), mail_.get()};
    }

    std::shared_ptr<const Lattice<Cuda>> lattice_;
    Peers peers_;
    LaunchShape shape_{};
    Buffer<double, Cuda> partial_;
    Buffer<unsigned, Cuda> done_;
    Buffer<std::uint64_t, Cuda> states_;  ///< two states, the number of the run, and its iterations that have begun
    Pinned<RunMail<State>> mail_;
    IterationGraph graph_;
    std::uint64_t run_ = 0;
    int launched_ = 0;  ///< iterations of the run
    bool ended_ = false;
};

/// Steps of a run on one device.
template <class State>
class ResidentState : public RunOnDevice<State> {
   public:
    using RunOnDevice<State>::RunOnDevice;
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
    static constexpr bool begins = false;  ///< an iteration
    static constexpr bool adds = false;
    static constexpr int reads = reads_state, writes = writes_state, slot = slot_of_sums, first_slot = first_of_earlier, takes = earlier;
};
constexpr int no_state = -1, last_block = -1, no_sums = -2;

/// p = r, or p = r + beta (p - omega v)
template <Precision P>
struct DirectionStep : Place<0, no_state, no_sums> {
    static constexpr bool begins = true;
    struct Work {
        static constexpr int numbers = 0;
        using Site = typename Direction<P>::Site;
        Direction<P> others;
        bool fresh;
        __device__ void operator()(std::uint32_t i, const Site& at, double* sum) const {
            if (fresh)
                copy_site(others.r, others.p, i);
            else
                others(i, at, sum);
        }
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
    __device__ typename Work::Site load(std::uint32_t i) const { return Direction<P>{{}, {}, r, v, p}.load(i); }
    __device__ void take(BicgstabOnDevice&, int, const double*) const {}
};
/// v.shadow, |v|^2
template <Precision P>
struct FirstProductStep : Place<0, no_state, 1> {
    using Work = DotNorm2<P>;
    Work work;
    FirstProductStep(FieldView<P> v, FieldView<P> shadow) : work{v, shadow} {}
    __device__ typename Work::Site load(std::uint32_t i) const { return work.load(i); }
    __device__ const Work& with(const BicgstabOnDevice&) const { return work; }
    __device__ void take(BicgstabOnDevice&, int, const double*) const {}
};
/// alpha; r -= alpha v
template <Precision P>
struct HalfStep : Place<0, 1, 0, 1, 1> {
    using Work = AxpyNorm2<P>;
    FieldView<P> v, r;
    HalfStep(FieldView<P> v_, FieldView<P> r_) : v(v_), r(r_) {}
    __device__ typename Work::Site load(std::uint32_t i) const { return Work{{}, v, r}.load(i); }
    __device__ Work with(const BicgstabOnDevice& s) const { return {factor<Real<P>>(-s.scalars.alpha()), v, r}; }
    __device__ void take(BicgstabOnDevice& s, int, const double* sum) const { s.take_v({sum[0], sum[1]}, sum[2]); }
};
/// t.r, |t|^2
template <Precision P>
struct SecondProductStep : Place<1, no_state, 1> {
    static constexpr bool adds = true;  ///< |r|^2 of the half step
    using Work = DotNorm2<P>;
    Work work;
    SecondProductStep(FieldView<P> t, FieldView<P> r) : work{t, r} {}
    __device__ typename Work::Site load(std::uint32_t i) const { return work.load(i); }
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
    __device__ typename Work::Site load(std::uint32_t i) const { return Work{{}, {}, {}, p, t, shadow, x, r}.load(i); }
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
        using Site = typename Axpby<P>::Site;
        Axpby<P> others;
        bool none;
        __device__ void operator()(std::uint32_t i, const Site& at, double* sum) const {
            if (!none) others(i, at, sum);
        }
        __device__ void operator()(std::uint32_t i, double* sum) const {
            if (!none) others(i, sum);
        }
    };
    FieldView<P> s, p;
    CgDirectionStep(FieldView<P> s_, FieldView<P> p_) : s(s_), p(p_) {}
    __device__ typename Work::Site load(std::uint32_t i) const { return Axpby<P>{{}, {}, s, p, true}.load(i); }
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
        struct Site {
            Spinor<Real<P>> image;
        };
        __device__ Site load(std::uint32_t i) const { return {load_spinor<P>(image, i)}; }
        __device__ void operator()(std::uint32_t i, const Site& at, double* sum) const {
            sum[0] += square(at.image);
            if (shifted) sum[1] += square(load_spinor<P>(p, i));
        }
        __device__ void operator()(std::uint32_t i, double* sum) const { (*this)(i, load(i), sum); }
    };
    Work work;
    CurvatureStep(FieldView<P> image, FieldView<P> p, bool shifted) : work{image, p, shifted} {}
    __device__ typename Work::Site load(std::uint32_t i) const { return work.load(i); }
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
    __device__ typename Work::Site load(std::uint32_t i) const { return Work{{}, {}, p, t, y, s}.load(i); }
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
    __device__ typename Work::Site load(std::uint32_t i) const { return work.load(i); }
    __device__ const Work& with(const krylov::CgState&) const { return work; }
    __device__ void take(krylov::CgState& s, int slot, const double* sum) const { slot == 1 ? s.take_step(sum[0]) : s.take_along(sum[0]); }
};

}  // namespace device

}  // namespace kasane::lattice
