#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/check.cuda.hpp>
#include <kasane/core/device/stream_cuda.hpp>
#include <kasane/lattice/dirac/cuda/hop_halo.cuda.hpp>
#include <kasane/lattice/distributed/halo_places.hpp>
#include <kasane/lattice/distributed/peer_halo.hpp>

#include <array>
#include <vector>

namespace kasane::lattice {

using namespace device;

namespace {

constexpr int slot_of_halos = 33;  // after those of channels
constexpr unsigned send_threads = 128;

/// Sends the faces where several workers have one device, whose hops follow each other.
template <Precision P>
__global__ void __launch_bounds__(send_threads)
    send_kernel(const FieldView<P> in, const __grid_constant__ SentSites<P> sent, const std::uint32_t ticket) {
    send_faces(in, sent, ticket, gridDim.x);
}

/// The memory of a worker into which its neighbours write.
struct HaloMemory {
    Cuda on;
    std::byte* bytes[2];
};

}  // namespace

struct PeerHalo::State {
    Cuda on;
    comm::Worker& worker;
    HaloPlaces places;
    Buffer<TileEntry, Cuda> neighbours;
    Buffer<SentSite, Cuda> sent[2];  ///< of each parity, face by face
    Buffer<std::byte, Cuda> memory[2];
    unsigned multiprocessors = 0;
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
          memory{{on, memory_bytes()}, {on, memory_bytes()}} {
        for (int p = 0; p < 2; ++p) {
            std::vector<SentSite> all;
            for (const auto& face : places.sent[p]) all.insert(all.end(), face.begin(), face.end());
            sent[p] = to_space(on, all);
        }
        for (auto& each : memory) KS_CUDA(cudaMemset(each.data(), 0, static_cast<std::size_t>(each.size())));  // no ticket
        int count = 0;
        KS_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, on.device));
        multiprocessors = static_cast<unsigned>(count);
        cuda::synchronize(on);
    }

    /// The halo begins within a block of places where the lattice ends within it.
    index_t first_block() const { return places.first / row; }
    index_t memory_bytes() const {
        const index_t blocks = (places.end + row - 1) / row - first_block();
        return blocks * row * halo_units<Precision::double_> * index_t{sizeof(Chunk)};
    }

    /// A view of such a memory that takes the places of the halo.
    template <Precision P>
    HaloView<P> view(std::byte* memory_of_halo) const {
        const index_t before = first_block() * halo_units<P> * row * index_t{sizeof(Chunk)};
        return {reinterpret_cast<Chunk*>(reinterpret_cast<std::uintptr_t>(memory_of_halo) - static_cast<std::uintptr_t>(before))};
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

    /// Sites of all faces; both parities have as many.
    index_t face_sites() const { return sent[0].size(); }

    template <Precision P>
    HopHalo<P> halo(Parity from) {
        HopHalo<P> made;
        made.neighbours = neighbours.data();
        made.sites = view<P>(memory[number % 2].data());
        made.ticket = number;
        made.of = HaloOf::time;
        if (begun) {
            made.begun = begun;
            made.more = hops_of_iteration;
            made.ticket -= begun_now * made.more;
        }
        made.sent.sites = sent[static_cast<int>(from)].data();
        std::uint32_t end = 0;
        for (std::size_t d = 0; d < directions; ++d) {
            const auto sites = static_cast<std::uint32_t>(places.sent[static_cast<int>(from)][d].size());
            if (sites == 0) continue;
            if (d / 2 != 3) made.of = HaloOf::every_direction;
            made.sent.end[made.sent.faces] = end += sites;
            made.sent.halo[made.sent.faces++] = view<P>(receiver[d].bytes[number % 2]);
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
    const HaloMemory mine{on, {state->memory[0].data(), state->memory[1].data()}};
    for (int m = 0; m < count; ++m) worker.hand(m, slot_of_halos, &mine);
    std::vector<HaloMemory> all;
    for (int m = 0; m < count; ++m) all.push_back(*static_cast<const HaloMemory*>(worker.take(m, slot_of_halos)));
    double reached = state->reach(all) ? 1 : 0;
    worker.all_reduce({&reached, 1}, comm::Reduce::min);  // also a barrier: the others have read `mine`
    if (reached == 0) return nullptr;
    return std::unique_ptr<PeerHalo>(new PeerHalo(std::move(state)));
}

template <Precision P>
HopHalo<P> PeerHalo::begin_hop(Parity from, [[maybe_unused]] const Field<Cuda, P>& in) {
    auto& state = *state_;
    ++state.number;
    const auto bytes = static_cast<double>(state.face_sites() * halo_units<P> * index_t{sizeof(Chunk)});
    state.bytes += bytes;
    if (state.begun) state.bytes_of_iteration += bytes;
    auto halo = state.halo<P>(from);
    if (state.owns_device) {
        halo.senders = state.multiprocessors;
    } else {
        KS_CUDA(cudaSetDevice(state.on.device));
        send_kernel<P><<<state.multiprocessors, send_threads, 0, in.lattice()->space().stream>>>(in.view(), halo.sent, halo.ticket);
        KS_CUDA(cudaGetLastError());
    }
    if (!state.begun) state.worker.barrier();
    return halo;
}
template HopHalo<Precision::half> PeerHalo::begin_hop(Parity, const Field<Cuda, Precision::half>&);
template HopHalo<Precision::single> PeerHalo::begin_hop(Parity, const Field<Cuda, Precision::single>&);
template HopHalo<Precision::double_> PeerHalo::begin_hop(Parity, const Field<Cuda, Precision::double_>&);

void PeerHalo::end_hop() {
    if (!state_->begun) state_->worker.barrier();
}

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
