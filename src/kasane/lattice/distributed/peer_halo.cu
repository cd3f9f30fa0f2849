#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/stream_cuda.hpp>
#include <kasane/lattice/dirac/cuda/chained.cuda.hpp>
#include <kasane/lattice/distributed/halo_places.hpp>
#include <kasane/lattice/distributed/peer_halo.hpp>

#include <cuda/atomic>

#include <array>
#include <vector>

namespace kasane::lattice {

using namespace device;

namespace {

constexpr int slot_of_halos = 33;  // after those of channels
constexpr unsigned write_threads = 128;

/// The sites that are sent to one neighbour.
template <Precision P>
struct SentFace {
    const HaloPlaces::Sent* sites = nullptr;
    std::uint32_t count = 0, first_block = 0;
    FieldView<P> halo;                 ///< of the neighbour
    std::uint32_t* arrived = nullptr;  ///< its counter
};

template <Precision P>
struct SentFaces {
    FieldView<P> in;
    int faces = 0;
    SentFace<P> face[directions];
};

template <Precision P>
__global__ void __launch_bounds__(write_threads) write_halos(const __grid_constant__ SentFaces<P> task) {
    wait_for_end_of_earlier();
    allow_next();  // the hop reads the same field before it waits: not earlier
    int k = 0;
    while (k + 1 < task.faces && blockIdx.x >= task.face[k + 1].first_block) ++k;
    const auto& face = task.face[k];
    const std::uint32_t i = (blockIdx.x - face.first_block) * blockDim.x + threadIdx.x;
    if (i < face.count) {
        const auto site = face.sites[i];
        copy_to_halo<P>(task.in, site.from, face.halo, site.to);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    __threadfence_system();  // what the block wrote, before its count
    ::cuda::atomic_ref<std::uint32_t, ::cuda::thread_scope_system>(*face.arrived).fetch_add(1, ::cuda::memory_order_release);
}

/// The memory of a worker into which its neighbours write.
struct HaloMemory {
    Cuda on;
    std::byte* bytes[2];
    std::uint32_t* arrived;  ///< [directions]
};

unsigned blocks_of(index_t sites) { return static_cast<unsigned>((sites + write_threads - 1) / write_threads); }

}  // namespace

struct PeerHalo::State {
    Cuda on;
    comm::Worker& worker;
    HaloPlaces places;
    Buffer<TileEntry, Cuda> neighbours;
    Buffer<HaloPlaces::Sent, Cuda> sent[2][directions];
    Buffer<std::byte, Cuda> memory[2];
    Buffer<std::uint32_t, Cuda> arrived;
    std::array<HaloMemory, directions> receiver{};  ///< of each direction
    std::uint32_t number = 0;                       ///< of the hop
    double bytes = 0, bytes_of_iteration = 0;       ///< of the captured one
    bool owns_device = true;
    const std::uint32_t* begun = nullptr;  ///< while a graph is captured, as begin_capture() gets them
    std::uint32_t begun_now = 0, hops_of_iteration = 0;

    State(Cuda space, comm::Worker& of, const RankGrid& grid, const Tiling& tiling)
        : on(space),
          worker(of),
          places(halo_places(tiling, grid, of.index())),
          neighbours(to_space(on, places.neighbours)),
          memory{{on, memory_bytes()}, {on, memory_bytes()}},
          arrived(on, directions) {
        for (int p = 0; p < 2; ++p)
            for (int d = 0; d < directions; ++d) sent[p][d] = to_space(on, places.sent[p][d]);
        KS_CUDA(cudaMemset(arrived.data(), 0, directions * sizeof(std::uint32_t)));
        cuda::synchronize(on);
    }

    /// The halo begins within a block of places where the lattice ends within it.
    index_t first_block() const { return places.first / row; }
    index_t blocks() const { return (places.end + row - 1) / row - first_block(); }
    index_t memory_bytes() const {
        constexpr auto P = Precision::double_;
        return blocks() * row * (spinor_chunks<P> * index_t{sizeof(Chunk)} + index_t{sizeof(float)});
    }

    /// A view of such a memory that takes the places of the halo.
    template <Precision P>
    FieldView<P> view(std::byte* memory_of_halo) const {
        const auto shifted = [](std::byte* begin, index_t bytes) {
            return reinterpret_cast<std::uintptr_t>(begin) - static_cast<std::uintptr_t>(bytes);
        };
        constexpr index_t block_bytes = spinor_chunks<P> * row * index_t{sizeof(Chunk)}, scale_bytes = row * index_t{sizeof(float)};
        return {reinterpret_cast<Chunk*>(shifted(memory_of_halo, first_block() * block_bytes)),
                reinterpret_cast<float*>(shifted(memory_of_halo + blocks() * block_bytes, first_block() * scale_bytes))};
    }

    /// @return whether the kernels of this worker can write to its neighbours and wait for them
    bool reach(const std::vector<HaloMemory>& all) {
        // Waiting kernels of one stream of a device might keep the writing ones of another stream from running.
        int here = 0;
        for (const auto& other : all) {
            if (other.on.device == on.device && other.on.stream != on.stream) return false;
            here += other.on.device == on.device ? 1 : 0;
        }
        owns_device = here == 1;
        for (int d = 0; d < directions; ++d) {
            receiver[static_cast<std::size_t>(d)] = all[static_cast<std::size_t>(places.receiver[static_cast<std::size_t>(d)])];
            if (!cuda::enable_peer_access(on.device, receiver[static_cast<std::size_t>(d)].on.device)) return false;
        }
        return true;
    }

    template <Precision P>
    void write(Cuda stream, Parity from, const FieldView<P>& in) {
        SentFaces<P> task;
        task.in = in;
        unsigned blocks = 0;
        for (int d = 0; d < directions; ++d) {
            const auto& sites = sent[static_cast<int>(from)][d];
            if (sites.size() == 0) continue;
            const auto& theirs = receiver[static_cast<std::size_t>(d)];
            task.face[task.faces++] = {sites.data(), static_cast<std::uint32_t>(sites.size()), blocks, view<P>(theirs.bytes[number % 2]),
                                       theirs.arrived + d};
            blocks += blocks_of(sites.size());
        }
        launch_chained({blocks, write_threads}, stream.stream, write_halos<P>, task);
    }

    template <Precision P>
    HopHalo<P> halo() {
        HopHalo<P> made;
        made.neighbours = neighbours.data();
        made.sites = view<P>(memory[number % 2].data());
        made.arrived = arrived.data();
        made.of = HaloOf::time;
        made.begun = begun;
        for (int d = 0; d < directions; ++d) {
            const auto sites = sent[0][d].size();  // both parities have as many on a face
            made.awaited[d] = number * blocks_of(sites);
            if (begun) {
                made.more[d] = hops_of_iteration * blocks_of(sites);
                made.awaited[d] -= begun_now * made.more[d];
            }
            if (sites > 0 && d / 2 != 3) made.of = HaloOf::every_direction;
        }
        return made;
    }
};

PeerHalo::PeerHalo(std::unique_ptr<State> state) : state_(std::move(state)) {}
PeerHalo::~PeerHalo() = default;

std::unique_ptr<PeerHalo> PeerHalo::connect(Cuda on, comm::Worker& worker, const RankGrid& grid) {
    const int count = worker.size();
    if (count == 1 || worker.communicator().workers_per_rank() != count) return nullptr;
    KS_CUDA(cudaSetDevice(on.device));
    auto state = std::make_unique<State>(on, worker, grid, lattice_tiling(grid.local()));
    const HaloMemory mine{on, {state->memory[0].data(), state->memory[1].data()}, state->arrived.data()};
    for (int m = 0; m < count; ++m) worker.hand(m, slot_of_halos, &mine);
    std::vector<HaloMemory> all;
    for (int m = 0; m < count; ++m) all.push_back(*static_cast<const HaloMemory*>(worker.take(m, slot_of_halos)));
    double reached = state->reach(all) ? 1 : 0;
    worker.all_reduce({&reached, 1}, comm::Reduce::min);  // also a barrier: the others have read `mine`
    if (reached == 0) return nullptr;
    return std::unique_ptr<PeerHalo>(new PeerHalo(std::move(state)));
}

template <Precision P>
HopHalo<P> PeerHalo::write(Parity from, const Field<Cuda, P>& in) {
    auto& state = *state_;
    KS_CUDA(cudaSetDevice(state.on.device));
    ++state.number;
    state.write<P>(in.lattice()->space(), from, in.view());
    if (!state.begun) state.worker.barrier();
    index_t sites = 0;
    for (const auto& face : state.places.sent[0]) sites += static_cast<index_t>(face.size());
    const auto bytes =
        static_cast<double>(sites * (spinor_chunks<P> * index_t{sizeof(Chunk)} + (P == Precision::half ? index_t{sizeof(float)} : 0)));
    state.bytes += bytes;
    if (state.begun) state.bytes_of_iteration += bytes;
    return state.halo<P>();
}
template HopHalo<Precision::half> PeerHalo::write(Parity, const Field<Cuda, Precision::half>&);
template HopHalo<Precision::single> PeerHalo::write(Parity, const Field<Cuda, Precision::single>&);
template HopHalo<Precision::double_> PeerHalo::write(Parity, const Field<Cuda, Precision::double_>&);

void PeerHalo::begin_capture(const std::uint32_t* begun, std::uint32_t now, std::uint32_t hops) {
    KS_EXPECT(hops % 2 == 0);
    state_->begun = begun;
    state_->begun_now = now;
    state_->hops_of_iteration = hops;
    state_->bytes_of_iteration = 0;
}
void PeerHalo::end_capture() { state_->begun = nullptr; }
void PeerHalo::repeat(std::uint32_t hops) {
    state_->number += hops;
    state_->bytes += state_->bytes_of_iteration;
}
std::uint32_t PeerHalo::hops() const { return state_->number; }
comm::Worker& PeerHalo::worker() const { return state_->worker; }
bool PeerHalo::owns_device() const { return state_->owns_device; }
double PeerHalo::bytes() const { return state_->bytes; }

}  // namespace kasane::lattice
