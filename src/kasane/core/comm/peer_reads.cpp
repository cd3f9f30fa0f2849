#include <kasane/core/comm/peer_reads.hpp>

#if defined(KASANE_CUDA)
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/stream_cuda.hpp>
#endif

#include <utility>
#include <variant>

namespace kasane::comm {

#if defined(KASANE_CUDA)
struct PeerReads::State {
    // What a worker shares with the others. They read it between start() and the answer that they give in read(), and wait for `arrived`
    // before the next start(): one event of each kind is enough.
    struct Offer {
        explicit Offer(int number) : device(number), ready(number), arrived(number) {}
        int device;
        cuda::Event ready, arrived;
        std::vector<View<const std::byte>> send;
    };
    static constexpr int first_slot = 64;  ///< behind those of channels and of the kernels of direct summation

    State(Cuda space, Worker& of, int number)
        : on(space), worker(of), slot_of_offers(first_slot + 2 * number), slot_of_answers(slot_of_offers + 1), stream(space.device) {}

    template <class F>
    void for_others(F body) {
        for (int w = 0; w < worker.size(); ++w)
            if (w != worker.index()) body(w);
    }

    Cuda on;
    Worker& worker;
    int slot_of_offers, slot_of_answers;
    cuda::Stream stream;
    std::shared_ptr<Offer> mine = std::make_shared<Offer>(on.device);
    std::vector<std::shared_ptr<Offer>> others;  ///< kept, so that a late wait finds its event
    bool offered = false;                        ///< release() is due
};

std::unique_ptr<PeerReads> PeerReads::connect(const AnySpace& on, Worker& worker, int number) {
    KS_EXPECT(number >= 0 && number < 16);
    const auto* const cuda = std::get_if<Cuda>(&on);
    const bool here = worker.communicator().workers_per_rank() == worker.size();
    double able[1] = {cuda && here ? 1. : 0.};
    worker.all_reduce(View<double>(able, 1), Reduce::min);
    if (able[0] == 0) return nullptr;
    auto state = std::make_unique<State>(*cuda, worker, number);
    for (int w = 0; w < worker.size(); ++w) worker.hand(w, state->slot_of_offers, &state->mine);
    for (int w = 0; w < worker.size(); ++w) {
        state->others.push_back(*static_cast<const std::shared_ptr<State::Offer>*>(worker.take(w, state->slot_of_offers)));
        if (!cuda::enable_peer_access(cuda->device, state->others.back()->device)) able[0] = 0;
    }
    worker.all_reduce(View<double>(able, 1), Reduce::min);  // the others hold pointers to this object
    return able[0] > 0 ? std::unique_ptr<PeerReads>(new PeerReads(std::move(state))) : nullptr;
}

void PeerReads::start(const AnySpace& ready, const std::vector<View<const std::byte>>& send) {
    auto& state = *state_;
    KS_EXPECT(!state.offered);
    auto& mine = *state.mine;
    mine.send = send;
    mine.ready.record(std::get<Cuda>(ready));
    state.for_others([&](int w) { state.worker.hand(w, state.slot_of_offers, &mine); });
    state.offered = true;
}

void PeerReads::read(const AnySpace& then, const std::vector<View<std::byte>>& receive) {
    auto& state = *state_;
    auto& mine = *state.mine;
    const auto in = state.stream.space();
    std::vector<cuda::BlockCopy> copies;
    state.for_others([&](int w) {
        const auto& theirs = *static_cast<const State::Offer*>(state.worker.take(w, state.slot_of_offers));
        const auto& from = theirs.send[static_cast<std::size_t>(state.worker.index())];
        const auto& to = receive[static_cast<std::size_t>(w)];
        KS_EXPECT(from.n == to.n);
        if (to.n == 0) return;
        theirs.ready.hold(in);
        copies.push_back({to.ptr, from.ptr, static_cast<std::size_t>(to.n)});
    });
    if (!copies.empty()) {
        mine.ready.hold(in);
        cuda::start_block_copies(in, copies);
        mine.arrived.record(in);
        mine.arrived.hold(std::get<Cuda>(then));
    }
    state.for_others([&](int w) { state.worker.hand(w, state.slot_of_answers, &mine.arrived); });
}

void PeerReads::release() {
    auto& state = *state_;
    if (!std::exchange(state.offered, false)) return;
    state.for_others([&](int w) {
        const auto& arrived = *static_cast<const cuda::Event*>(state.worker.take(w, state.slot_of_answers));
        if (state.mine->send[static_cast<std::size_t>(w)].n > 0) arrived.wait();
    });
}
#else
struct PeerReads::State {};

std::unique_ptr<PeerReads> PeerReads::connect(const AnySpace&, Worker&, int) { return nullptr; }
void PeerReads::start(const AnySpace&, const std::vector<View<const std::byte>>&) {}
void PeerReads::read(const AnySpace&, const std::vector<View<std::byte>>&) {}
void PeerReads::release() {}
#endif

PeerReads::PeerReads(std::unique_ptr<State> state) : state_(std::move(state)) {}
PeerReads::~PeerReads() = default;

}  // namespace kasane::comm
