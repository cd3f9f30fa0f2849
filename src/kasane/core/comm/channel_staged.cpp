#include <kasane/core/comm/channel_staged.hpp>

#if defined(KASANE_CUDA)
#include <algorithm>

namespace kasane::comm {
namespace {

constexpr index_t chunk_bytes = index_t{4} << 20;

std::size_t chunks_of(index_t bytes) { return static_cast<std::size_t>((bytes + chunk_bytes - 1) / chunk_bytes); }

struct Chunk {
    index_t first;
    std::size_t bytes;
};
Chunk chunk_of(index_t bytes, std::size_t number) {
    const auto first = static_cast<index_t>(number) * chunk_bytes;
    return {first, static_cast<std::size_t>(std::min(chunk_bytes, bytes - first))};
}

}  // namespace

void StagedSend::start(const cuda::Event& ready, View<const std::byte> bytes, int to) {
    n_ = bytes.n, to_ = to;
    const auto on = stream_.space();
    ready.hold(on);
    host_.reserve_discarding(static_cast<std::size_t>(n_));
    while (copied_.size() < chunks()) copied_.emplace_back(on.device);
    for (std::size_t c = 0; c < chunks(); ++c) {
        const auto part = chunk_of(n_, c);
        cuda::start_copy_to_host(on, host_.data() + part.first, bytes.ptr + part.first, part.bytes);
        copied_[c].record(on);
    }
}

std::size_t StagedSend::chunks() const { return chunks_of(n_); }

void StagedSend::pass_on(std::size_t chunk, RankMessages& ranks) {
    const auto part = chunk_of(n_, chunk);
    copied_[chunk].wait();
    sending_.push_back(ranks.start_send(host_.data() + part.first, part.bytes, to_));
}

void StagedSend::end(RankMessages& ranks) {
    for (const auto request : sending_) ranks.wait(request);
    sending_.clear();
}

void StagedReceive::start(RankMessages& ranks, View<std::byte> bytes, int from) {
    to_ = bytes;
    receiving_.clear();
    copied_.wait();  // until then the device reads from the pinned memory; usually it has finished long before
    host_.reserve_discarding(static_cast<std::size_t>(bytes.n));
    for (std::size_t c = 0; c < chunks_of(bytes.n); ++c) {
        const auto part = chunk_of(bytes.n, c);
        receiving_.push_back(ranks.start_receive(host_.data() + part.first, part.bytes, from));
    }
}

void StagedReceive::pass_on(std::size_t chunk, RankMessages& ranks, Cuda on) {
    const auto part = chunk_of(to_.n, chunk);
    ranks.wait(receiving_[chunk]);
    cuda::start_copy_to_device(on, to_.ptr + part.first, host_.data() + part.first, part.bytes);
}

}  // namespace kasane::comm
#endif
