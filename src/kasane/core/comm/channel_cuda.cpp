// Channels on CUDA devices. Devices wait for each other by events; the host waits only for hosts, except for staged messages.
// Invariant: an event is waited for only after it was recorded, and only by the workers of this message.
#include <kasane/core/comm/channel.hpp>

#if defined(KASANE_CUDA)
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel_messages.hpp>
#include <kasane/core/comm/channel_nccl.hpp>
#include <kasane/core/comm/channel_staged.hpp>
#include <kasane/core/device/stream_cuda.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace kasane::comm {
namespace {

// Events that a worker shares with the other workers of its rank. The others wait for an event only after hand() has reported that it was
// recorded. Two events of arrival alternate: a late sender must not read that of the next message.
struct CopyEnd {
    explicit CopyEnd(int number) : device(number), ready(number), arrived{cuda::Event(number), cuda::Event(number)} {}
    int device;
    cuda::Event ready;
    std::array<cuda::Event, 2> arrived;
    View<const std::byte> send;
};

}  // namespace

template <>
struct Channel<Cuda>::State {
    State(Cuda space, Worker& of, int number)
        : on(space),
          worker(&of),
          ranks(of, number),
          slot_of_posts(2 * number),
          slot_of_answers(2 * number + 1),
          stream(space.device),
          mine(std::make_shared<CopyEnd>(space.device)) {}

    Cuda on;
    Worker* worker;
    RankMessages ranks;
    int slot_of_posts, slot_of_answers;
    Engine engine = Engine::copy;
    std::string text;

    cuda::Stream stream;  ///< the events of the message that arrives
    std::shared_ptr<CopyEnd> mine;
    std::vector<std::shared_ptr<CopyEnd>> others;  ///< of this rank; kept, so that a late wait finds its event
    std::unique_ptr<NcclEnd> nccl;
    std::optional<StagedSend> staged_send;
    std::optional<StagedReceive> staged_receive;

    View<const std::byte> send;
    View<std::byte> receive;
    int to = 0, from = 0, span = -1;
    Timeline<Cuda>* timeline = nullptr;
    std::int64_t messages = 0;
    double bytes = 0;

    bool one_rank() const { return worker->communicator().workers_per_rank() == worker->size(); }
    cuda::Event& arrived() { return mine->arrived[static_cast<std::size_t>(messages & 1)]; }

    void meet_others();
    void begin_span() { span = timeline && receive.n > 0 ? timeline->begin(stream.space(), "message") : -1; }
    void end_span() {
        if (span >= 0) timeline->end(stream.space(), span);
    }

    void start_nccl();
    void start_send();
    void start_staged_receive();
    void copy_from_sender();
    void drive_staged();
};

/// Enables peer access to the devices of this rank, and exchanges the events.
void Channel<Cuda>::State::meet_others() {
    const int here = worker->communicator().workers_per_rank();
    for (int l = 0; l < here; ++l) worker->hand(l, slot_of_posts, &mine);
    bool direct = true;
    for (int l = 0; l < here; ++l) {
        others.push_back(*static_cast<const std::shared_ptr<CopyEnd>*>(worker->take(l, slot_of_posts)));
        direct = cuda::enable_peer_access(on.device, others.back()->device) && direct;
    }
    text = direct ? "peer copies" : "device copies without peer access";
    worker->barrier();  // the other workers hold pointers to this object
}

void Channel<Cuda>::State::start_nccl() {
    if (send.n == 0 && receive.n == 0) return;
    const auto in = stream.space();
    mine->ready.hold(in);
    begin_span();
    const std::string why =
        nccl->exchange(send.ptr, static_cast<std::size_t>(send.n), to, receive.ptr, static_cast<std::size_t>(receive.n), from, in.stream);
    if (!why.empty()) throw ComputationError(why);
    end_span();
    arrived().record(in);
}

void Channel<Cuda>::State::start_send() {
    if (send.n == 0) return;
    if (is_local(*worker, to)) {
        mine->send = send;
        worker->hand(worker->local_of(to), slot_of_posts, mine.get());
    } else {
        staged_send->start(mine->ready, send, to);
    }
}

/// The receiver copies, from the sender's memory into its own. In finish(), after the work that hides the message was given: the host may
/// wait here for the sender's host, never for a device.
void Channel<Cuda>::State::copy_from_sender() {
    if (receive.n == 0 || !is_local(*worker, from)) return;
    const auto in = stream.space();
    const int sender = worker->local_of(from);
    const auto& theirs = *static_cast<const CopyEnd*>(worker->take(sender, slot_of_posts));
    KS_EXPECT(theirs.send.n == receive.n);
    mine->ready.hold(in);
    theirs.ready.hold(in);
    begin_span();
    cuda::start_copy_from_device(in, receive.ptr, theirs.send.ptr, theirs.device, static_cast<std::size_t>(receive.n));
    end_span();
    arrived().record(in);
    worker->hand(sender, slot_of_answers, &arrived());
}

void Channel<Cuda>::State::start_staged_receive() {
    if (receive.n == 0 || is_local(*worker, from)) return;
    mine->ready.hold(stream.space());
    begin_span();
    staged_receive->start(ranks, receive, from);
}

void Channel<Cuda>::State::drive_staged() {
    const bool sends = send.n > 0 && !is_local(*worker, to), receives = receive.n > 0 && !is_local(*worker, from);
    const auto in = stream.space();
    const auto out_chunks = sends ? staged_send->chunks() : 0, in_chunks = receives ? staged_receive->chunks() : 0;
    // A chunk is sent before the next one is waited for, so that a ring of workers cannot wait for itself; meanwhile the device copies
    // the next chunk to the host and the chunk before to the device.
    for (std::size_t c = 0; c < std::max(out_chunks, in_chunks + 1); ++c) {
        if (c < out_chunks) staged_send->pass_on(c, ranks);
        if (c > 0 && c <= in_chunks) staged_receive->pass_on(c - 1, ranks, in);
    }
    if (sends) staged_send->end(ranks);
    if (!receives) return;
    staged_receive->end(in);
    end_span();
    arrived().record(in);
}

template <>
Channel<Cuda>::Channel(Cuda on, Worker& worker, int number, Engine wanted) : state_(std::make_unique<State>(on, worker, number)) {
    KS_REQUIRE(number >= 0 && number < RankMessages::channels, "a channel has a number that its messages cannot carry");
    check_engine(worker, wanted);
    auto& state = *state_;
    std::string no_nccl;
    if (wanted == Engine::nccl || (wanted == Engine::automatic && !state.one_rank())) {
        auto connection = connect_nccl(worker, on);
        if (connection.end) {
            state.engine = Engine::nccl;
            state.nccl = std::move(connection.end);
            state.text = connection.version;
            return;
        }
        KS_VALIDATE(wanted != Engine::nccl,
                    "the engine \"nccl\" cannot be used in this run: " + connection.why_not + ". Leave it to \"auto\"");
        no_nccl = " (no NCCL: " + connection.why_not + ")";
    }
    state.meet_others();
    if (state.one_rank()) return;
    state.engine = Engine::staged;
    state.text = "MPI through host memory" + no_nccl;
    state.staged_send.emplace(on.device);
    state.staged_receive.emplace(on.device);
}
template <>
Channel<Cuda>::~Channel() = default;
template <>
Channel<Cuda>::Channel(Channel&&) noexcept = default;
template <>
Channel<Cuda>& Channel<Cuda>::operator=(Channel&&) noexcept = default;

template <>
void Channel<Cuda>::start(Cuda ready, View<const std::byte> send, int to, View<std::byte> receive, int from) {
    auto& state = *state_;
    state.send = send, state.to = to;
    state.receive = receive, state.from = from;
    state.mine->ready.record(ready);
    if (state.nccl) return state.start_nccl();
    state.start_send();
    state.start_staged_receive();
}

template <>
void Channel<Cuda>::advance() {}

template <>
void Channel<Cuda>::finish(Cuda then) {
    auto& state = *state_;
    const bool sends = state.send.n > 0, receives = state.receive.n > 0;
    if (!state.nccl) state.copy_from_sender();
    if (state.engine == Engine::staged) state.drive_staged();
    if (receives || (state.nccl && sends)) state.arrived().hold(then);
    if (!state.nccl && sends && is_local(*state.worker, state.to)) {
        const int receiver = state.worker->local_of(state.to);
        static_cast<const cuda::Event*>(state.worker->take(receiver, state.slot_of_answers))->hold(then);
    }
    ++state.messages;
    state.bytes += static_cast<double>(state.receive.n);
}

template <>
Engine Channel<Cuda>::engine() const {
    return state_->engine;
}
template <>
std::string Channel<Cuda>::text() const {
    return state_->text;
}
template <>
void Channel<Cuda>::keep(Timeline<Cuda>* timeline) {
    state_->timeline = timeline;
}
template <>
std::int64_t Channel<Cuda>::messages() const {
    return state_->messages;
}
template <>
double Channel<Cuda>::bytes() const {
    return state_->bytes;
}

}  // namespace kasane::comm
#endif
