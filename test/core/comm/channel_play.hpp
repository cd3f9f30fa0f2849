// Exchanges that a channel must do correctly on any communicator and engine, for the tests with one rank and with several. Every byte that
// is sent is a function of its sender, the turn and its place, so that each receiver can compute it. On a device nothing waits for
// the host between the first turn and the last: delays and overwriting are copies in the stream's order.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/core/device/buffer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace kasane::comm {

inline std::uint64_t mixed(std::uint64_t x) {  // splitmix64
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

inline std::vector<std::byte> contents(int sender, int turn, index_t bytes) {
    std::vector<std::byte> made(static_cast<std::size_t>(bytes));
    const auto seed = mixed(static_cast<std::uint64_t>(sender) * 1000 + static_cast<std::uint64_t>(turn));
    for (std::size_t i = 0; i < made.size(); i += sizeof(std::uint64_t)) {
        const auto word = mixed(seed + i);
        std::memcpy(made.data() + i, &word, std::min(sizeof word, made.size() - i));
    }
    return made;
}

inline void copy_in_order(Cpu, std::byte* to, const std::byte* from, index_t bytes) {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}
inline void delay(Cpu, View<std::byte>, int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }
#if defined(KASANE_CUDA)
inline void copy_in_order(Cuda on, std::byte* to, const std::byte* from, index_t bytes) {
    if (bytes > 0) cuda::copy_on_device(on, to, from, static_cast<std::size_t>(bytes));
}
/// Occupies the stream for about that long: copies of 16 MiB take some 10 us.
inline void delay(Cuda on, View<std::byte> scratch, int microseconds) {
    for (int passed = 0; passed < microseconds; passed += 10) copy_in_order(on, scratch.ptr, scratch.ptr + scratch.n / 2, scratch.n / 2);
}
#endif

/// The space of a worker: the CPU, or the available devices in turn.
template <Space S>
S space_of_worker([[maybe_unused]] const Worker& worker) {
    if constexpr (std::same_as<S, Cpu>) return Cpu{1};
#if defined(KASANE_CUDA)
    else
        return Cuda{worker.index() % cuda::device_count(), nullptr};
#endif
}

/// Bytes that a worker sends in a turn: very different sizes, so that workers also wait for empty messages, or for a long one beside short
/// ones.
inline index_t bytes_in_turn(int sender, int turn, index_t largest) {
    const std::array<index_t, 5> sizes{4096, 0, largest, 1, largest / 2 + 3};
    return sizes[static_cast<std::size_t>(sender + turn) % sizes.size()];
}

/// In each turn every worker sends to the worker `shift` further on and receives from the one `shift` back, or both with its partner, the
/// worker XOR shift; shifts change from turn to turn. Then it overwrites at once the sent and the received bytes.
/// @param delayed  workers are delayed in some turns, each in different ones
template <Space S>
void play_turns(Worker& worker, Engine engine, index_t largest, int turns, bool delayed) {
    const S on = space_of_worker<S>(worker);
    Channel<S> channel(on, worker, 3, engine);
    const int size = worker.size(), me = worker.index();
    const auto n = static_cast<std::size_t>(largest);
    Buffer<std::byte, S> made(on, largest * turns), came(on, largest * turns), sent(on, largest), received(on, largest);
    Buffer<std::byte, S> scratch(on, std::same_as<S, Cpu> || !delayed ? 1 : index_t{32} << 20);
    for (int t = 0; t < turns; ++t) {
        const auto whole = contents(me, t, largest);
        copy_from_host(on, made.view().subview(t * largest, largest), view(whole));
    }

    const auto shift = [&](int turn) { return size == 1 ? 0 : 1 + turn % (size - 1); };
    const bool pairs = (size & (size - 1)) == 0;
    const auto to = [&](int turn) { return pairs && turn % 2 == 0 ? me ^ shift(turn) : (me + shift(turn)) % size; };
    const auto from = [&](int turn) { return pairs && turn % 2 == 0 ? me ^ shift(turn) : (me + size - shift(turn)) % size; };
    const auto hold_up = [&](int turn, int place) {
        const auto chance = mixed(static_cast<std::uint64_t>((me * turns + turn) * 2 + place));
        if (delayed && chance % 3 == 0) delay(on, scratch.view(), static_cast<int>(chance % 500));
    };
    double bytes = 0;
    for (int t = 0; t < turns; ++t) {
        const auto out = bytes_in_turn(me, t, largest), in = bytes_in_turn(from(t), t, largest);
        hold_up(t, 0);
        copy_in_order(on, sent.data(), made.data() + t * largest, out);
        channel.start(on, sent.view().subview(0, out), to(t), received.view().subview(0, in), from(t));
        hold_up(t, 1);
        channel.advance();
        channel.finish(on);
        copy_in_order(on, came.data() + t * largest, received.data(), in);
        bytes += static_cast<double>(in);
    }
    const auto found = to_host(came);
    for (int t = 0; t < turns; ++t) {
        const auto in = bytes_in_turn(from(t), t, largest);
        const auto expected = contents(from(t), t, largest);
        EXPECT_TRUE(std::equal(expected.begin(), expected.begin() + in, found.begin() + static_cast<std::ptrdiff_t>(n) * t))
            << "worker " << me << " of " << size << " had other bytes from " << from(t) << " in turn " << t << ", " << channel.text();
    }
    EXPECT_EQ(channel.messages(), turns);
    EXPECT_EQ(channel.bytes(), bytes);
    worker.barrier();
}

/// The ring of [MTM13] fig. 4 with two buffers and a second channel that goes the other way meanwhile, started and finished between the
/// first's.
template <Space S>
void play_two_rings(Worker& worker, Engine engine, index_t bytes) {
    const S on = space_of_worker<S>(worker);
    const int size = worker.size(), me = worker.index();
    struct Ring {
        Channel<S> channel;
        int to, from;
        std::array<Buffer<std::byte, S>, 2> buffers;
        Buffer<std::byte, S> came;
    };
    const auto ring = [&](int number, int step) {
        Ring made{Channel<S>(on, worker, number, engine),
                  (me + step + size) % size,
                  (me - step + size) % size,
                  {Buffer<std::byte, S>(on, bytes), Buffer<std::byte, S>(on, bytes)},
                  Buffer<std::byte, S>(on, bytes * size)};
        const auto slab = contents(me, number, bytes);
        copy_from_host(on, made.buffers[0].view(), view(slab));
        return made;
    };
    Ring up = ring(0, 1), down = ring(15, -1);
    for (int t = 0; t < size; ++t) {
        const auto now = static_cast<std::size_t>(t % 2);
        for (Ring* r : {&up, &down}) r->channel.start(on, r->buffers[now].view(), r->to, r->buffers[1 - now].view(), r->from);
        for (Ring* r : {&up, &down})
            copy_in_order(on, r->came.data() + t * bytes, r->buffers[now].data(), bytes);  // the force of this turn
        if (t % 2 == 0) {
            up.channel.finish(on);
            down.channel.finish(on);
        } else {
            down.channel.finish(on);
            up.channel.finish(on);
        }
    }
    for (Ring* r : {&up, &down}) {
        const auto found = to_host(r->came);
        const int number = r == &up ? 0 : 15, step = r == &up ? 1 : -1;
        for (int t = 0; t < size; ++t) {
            const int owner = (me - step * t + size * size) % size;
            const auto expected = contents(owner, number, bytes);
            EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin() + t * bytes))
                << "worker " << me << " of " << size << ", turn " << t << ", slab of " << owner;
        }
    }
    worker.barrier();
}

}  // namespace kasane::comm
