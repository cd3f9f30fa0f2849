// Channels on the CPU: copies between the workers of a rank, MPI between ranks, one message at a time.
// Invariant: memory that another worker may read does not change until that worker has answered.
#include <kasane/core/base/error.hpp>
#include <kasane/core/comm/channel.hpp>
#include <kasane/core/comm/channel_messages.hpp>

#include <cstring>

namespace kasane::comm {

// Within a rank the receiver copies from the sender's memory, which the sender does not change before the answer.
template <>
struct Channel<Cpu>::State {
    Worker* worker;
    RankMessages ranks;
    int slot_of_posts, slot_of_answers;
    std::string text;
    View<const std::byte> send;
    View<std::byte> receive;
    int to = 0, from = 0;
    RankMessages::Request sending = 0, receiving = 0;
    Timeline<Cpu>* timeline = nullptr;
    std::int64_t messages = 0;
    double bytes = 0;

    bool one_rank() const { return worker->communicator().workers_per_rank() == worker->size(); }
    bool sends_here() const { return send.n > 0 && is_local(*worker, to); }
    bool sends_away() const { return send.n > 0 && !is_local(*worker, to); }
    bool receives_here() const { return receive.n > 0 && is_local(*worker, from); }
    bool receives_away() const { return receive.n > 0 && !is_local(*worker, from); }
};

template <>
Channel<Cpu>::Channel(Cpu, Worker& worker, int number, Engine wanted)
    : state_(std::make_unique<State>(State{&worker, RankMessages(worker, number), 2 * number, 2 * number + 1, {}, {}, {}})) {
    KS_REQUIRE(number >= 0 && number < RankMessages::channels, "a channel has a number that its messages cannot carry");
    check_engine(worker, wanted);
    KS_VALIDATE(wanted != Engine::nccl, "the engine \"nccl\" goes between CUDA devices, and this run is on the CPU: take \"auto\"");
    state_->text = state_->one_rank() ? "copies in memory" : worker.ranks().engine();
}
template <>
Channel<Cpu>::~Channel() = default;
template <>
Channel<Cpu>::Channel(Channel&&) noexcept = default;
template <>
Channel<Cpu>& Channel<Cpu>::operator=(Channel&&) noexcept = default;

template <>
void Channel<Cpu>::start(Cpu, View<const std::byte> send, int to, View<std::byte> receive, int from) {
    auto& state = *state_;
    state.send = send, state.to = to;
    state.receive = receive, state.from = from;
    auto& worker = *state.worker;
    if (state.receives_away()) state.receiving = state.ranks.start_receive(receive.ptr, static_cast<std::size_t>(receive.n), from);
    if (state.sends_away()) state.sending = state.ranks.start_send(send.ptr, static_cast<std::size_t>(send.n), to);
    if (state.sends_here()) worker.hand(worker.local_of(to), state.slot_of_posts, &state.send);
}

template <>
void Channel<Cpu>::advance() {
    auto& state = *state_;
    if (state.receives_away()) state.ranks.advance(state.receiving);
    if (state.sends_away()) state.ranks.advance(state.sending);
}

template <>
void Channel<Cpu>::finish(Cpu then) {
    auto& state = *state_;
    auto& worker = *state.worker;
    const int span = state.timeline && state.receive.n > 0 ? state.timeline->begin(then, "message") : -1;
    if (state.receives_here()) {
        const int from = worker.local_of(state.from);
        const auto& sent = *static_cast<const View<const std::byte>*>(worker.take(from, state.slot_of_posts));
        KS_EXPECT(sent.n == state.receive.n);
        std::memcpy(state.receive.ptr, sent.ptr, static_cast<std::size_t>(state.receive.n));
        worker.hand(from, state.slot_of_answers, nullptr);
    }
    if (state.receives_away()) state.ranks.wait(state.receiving);
    if (state.sends_here()) worker.take(worker.local_of(state.to), state.slot_of_answers);
    if (state.sends_away()) state.ranks.wait(state.sending);
    if (span >= 0) state.timeline->end(then, span);
    ++state.messages;
    state.bytes += static_cast<double>(state.receive.n);
}

template <>
Engine Channel<Cpu>::engine() const {
    return state_->one_rank() ? Engine::copy : Engine::staged;
}
template <>
std::string Channel<Cpu>::text() const {
    return state_->text;
}
template <>
void Channel<Cpu>::keep(Timeline<Cpu>* timeline) {
    state_->timeline = timeline;
}
template <>
std::int64_t Channel<Cpu>::messages() const {
    return state_->messages;
}
template <>
double Channel<Cpu>::bytes() const {
    return state_->bytes;
}

}  // namespace kasane::comm
