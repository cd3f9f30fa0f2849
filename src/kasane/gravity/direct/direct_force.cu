// DirectForce on a CUDA device. Calls are asynchronous, except the first add_pairs() with a source block, for which the host makes a table.
// Invariant: kernels of several calls may run at the same time on streams of one device: they read common arrays or add to them atomically.
#include <kasane/core/device/stream_cuda.hpp>
#include <kasane/gravity/direct/pair_tables.cuda.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/layout.hpp>
#include <kasane/gravity/direct/sums.cuda.hpp>
#include <kasane/gravity/direct/variants.hpp>

#include <algorithm>
#include <array>
#include <map>

namespace kasane::gravity {

template <>
struct DirectForce<Cuda>::State {
    Cuda on;
    Direct options;
    index_t total = 0;
    int multiprocessors = 0;
    PairShape shape;
    detail::Scale scale;
    detail::ClearedSums memory;

    detail::SumsMemory sums;   ///< of the targets, or of the own particles
    detail::TileLaunch begun;  ///< the arguments of begin()
    index_t first = 0;
    SourceBlock own;             ///< the argument of begin_pairs()
    cuda::Stream tables_copied;  ///< copies tables at once, while the caller's stream may wait for a message
    std::map<std::array<index_t, 5>, detail::PairTable> tables;
    Buffer<std::byte, Cuda> bodies;  ///< all particles packed, for whole evaluations
    Buffer<int, Cuda> arrived;       ///< of whole evaluations in one launch

    Buffer<std::byte, Cuda> peer_packets;  ///< written by other devices
    GroupSchedule with_peers;
    detail::PeerLaunch peer_call;
    std::vector<PeerMemory> peers;

    State(Cuda space, const Direct& chosen, index_t of)
        : on(space),
          options(chosen),
          total(of),
          multiprocessors(device_info(AnySpace{on}).units),
          shape(pair_shape(chosen.precision, of)),
          memory(on),
          tables_copied(on.device),
          bodies(on, 0),
          arrived(on, most_target_blocks(multiprocessors)),
          peer_packets(on, 0) {
        KS_CUDA(cudaMemsetAsync(arrived.data(), 0, static_cast<std::size_t>(arrived.size()) * sizeof(int), on.stream));
    }

    DirectLayout layout() const { return detail::layout_of(options); }

    /// Packs all particles into one source block.
    SourceBlock pack(const Sources& all) {
        const index_t n = all.position.n, padded = (n + shape.grain() - 1) / shape.grain() * shape.grain();
        KS_CUDA(cudaSetDevice(on.device));
        bodies.reserve_discarding(padded * layout().body_bytes());
        const auto block = bodies.view().subview(0, padded * layout().body_bytes());
        detail::launch_pack(on, options, all, scale.origin, block);
        return {block, n, 0};
    }

    /// Evaluates the accelerations in one launch if there are few pairs. @return false: there are many
    bool accelerate_in_one_launch(View<const Vec3<double>> targets, const Sources& all, View<Vec3<double>> acceleration) {
        if (all.position.n == 0 || layout().softenings) return false;
        if (!whole_in_one_launch(targets.n, all.position.n, options.precision, multiprocessors)) return false;
        KS_CUDA(cudaSetDevice(on.device));
        const auto cleared = memory.begin(on, options.precision, true, targets.n, 3);
        detail::launch_whole(on, multiprocessors, options, {targets, all.position, all.mass, acceleration, scale, cleared, arrived.data()});
        memory.taken();
        return true;
    }

    index_t reaction_bytes(index_t n) const { return layout().sums_bytes(n, 3, options.deterministic); }

    const detail::PairTable& table(const SourceBlock& other, Share share) {
        const std::array<index_t, 5> key{own.first, own.count, other.first, other.count, static_cast<index_t>(share)};
        const auto known = tables.find(key);
        if (known != tables.end()) return known->second;
        return tables
            .try_emplace(key, tables_copied.space(), multiprocessors, shape, total, own.first, own.first + own.count, other.first,
                         other.first + other.count, share)
            .first->second;
    }
};

template <>
DirectForce<Cuda>::DirectForce(Cuda on, const Direct& options, index_t total) {
    detail::validate_cuda(options);
    KS_VALIDATE(total < detail::most_particles, "direct summation takes fewer than 2^30 particles");
    KS_CUDA(cudaSetDevice(on.device));
    state_ = std::make_unique<State>(on, options, total);
}

template <>
DirectForce<Cuda>::~DirectForce() = default;
template <>
DirectForce<Cuda>::DirectForce(DirectForce&&) noexcept = default;
template <>
DirectForce<Cuda>& DirectForce<Cuda>::operator=(DirectForce&&) noexcept = default;

template <>
index_t DirectForce<Cuda>::grain() const {
    return state_->shape.grain();
}

template <>
std::size_t DirectForce<Cuda>::body_bytes() const {
    return static_cast<std::size_t>(state_->layout().body_bytes());
}

template <>
index_t DirectForce<Cuda>::padded(index_t count) const {
    return (count + grain() - 1) / grain() * grain();
}

template <>
void DirectForce<Cuda>::set(const DirectFrame& frame) {
    auto& scale = state_->scale;
    const double softening = state_->options.softening;
    scale.origin = frame.origin;
    // With a softening far below the extent no pair comes as close as the softening; its bound would make the sums coarse.
    scale.acceleration_bound = std::min(frame.acceleration_bound(softening), frame.acceleration_bound(0));
    scale.potential_bound = std::min(frame.potential_bound(softening), frame.potential_bound(0));
}

template <>
void DirectForce<Cuda>::pack(Cuda on, View<const Vec3<double>> position, View<const double> mass, View<std::byte> bodies,
                             View<const double> softening) {
    KS_EXPECT(bodies.n == padded(position.n) * static_cast<index_t>(body_bytes()));
    KS_CUDA(cudaSetDevice(on.device));
    detail::launch_pack(on, state_->options, {position, mass, softening}, state_->scale.origin, bodies);
}

template <>
void DirectForce<Cuda>::begin(Cuda on, View<const Vec3<double>> targets, index_t first, bool acceleration, bool potential,
                              View<const double> softening) {
    auto& state = *state_;
    KS_EXPECT(!potential || first != Self::none);
    KS_CUDA(cudaSetDevice(on.device));
    state.begun.targets = targets;
    state.begun.softening = softening;
    state.first = first;
    state.begun.acceleration = acceleration;
    state.begun.potential = potential;
    state.begun.sums = state.sums = state.memory.begin(on, state.options.precision, true, targets.n, potential ? 4 : 3);
}

template <>
void DirectForce<Cuda>::add(Cuda on, const SourceBlock& sources) {
    auto& state = *state_;
    KS_CUDA(cudaSetDevice(on.device));
    auto call = state.begun;
    call.sources = sources.bodies;
    call.source_count = sources.count;
    call.has_self = state.first != Self::none;
    call.self_shift = state.first - sources.first;
    call.scale = state.scale;
    detail::launch_tiles(on, state.multiprocessors, state.options, call);
}

template <>
void DirectForce<Cuda>::end(Cuda on, const Field& out) {
    auto& state = *state_;
    KS_CUDA(cudaSetDevice(on.device));
    detail::launch_take(on, state.options, state.sums, out, nullptr);
    state.memory.taken();
}

template <>
bool DirectForce<Cuda>::both_sides(int workers) const {
    const auto& state = *state_;
    const auto variant = state.options.variant;
    return variant == DirectVariant::pair ||
           (variant == DirectVariant::automatic && both_sides_pay(state.options, state.total, state.multiprocessors, workers));
}

template <>
bool DirectForce<Cuda>::has_pairs(index_t begin, index_t end, index_t other_begin, index_t other_end) const {
    return count_tile_pairs(state_->shape, state_->total, begin, end, other_begin, other_end).strips > 0;
}

template <>
std::size_t DirectForce<Cuda>::reaction_bytes() const {
    return static_cast<std::size_t>(state_->reaction_bytes(1));
}

template <>
PeerMemory DirectForce<Cuda>::peer_memory(index_t first, index_t count) {
    auto& state = *state_;
    const auto& options = state.options;
    if (options.precision != Precision::single_ || detail::own_softening(detail::pair_softening(options)) ||
        (options.variant != DirectVariant::automatic && options.variant != DirectVariant::tile))
        return {};
    state.with_peers = peer_schedule(count, state.total, state.multiprocessors);
    if (!state.with_peers) return {};
    KS_CUDA(cudaSetDevice(state.on.device));
    const auto bytes = static_cast<std::size_t>(detail::whole_runs(state.total)) * peer_bytes;
    state.peer_packets.reserve_discarding(static_cast<index_t>(bytes));
    KS_CUDA(cudaMemset(state.peer_packets.data(), 0, bytes));
    // No memory is allocated and no code is loaded once kernels of different devices wait for each other.
    state.memory.begin(state.on, options.precision, true, count, 3);
    detail::load_peer_kernel(state.with_peers, options);
    cuda::synchronize(state.on);
    const PeerMemory own{state.on.device, state.peer_packets.data()};
    state.peer_call = {first, state.total, 0, own, {}};
    return own;
}

template <>
bool DirectForce<Cuda>::connect_peers(const std::vector<PeerMemory>& all) {
    auto& state = *state_;
    state.peers.clear();
    for (const auto& memory : all) {
        if (memory.device < 0) return false;
        if (memory.packets == state.peer_call.own.packets) continue;
        // Two kernels on one device might not be resident at the same time.
        if (memory.device == state.on.device || !cuda::enable_peer_access(state.on.device, memory.device)) return false;
        state.peers.push_back(memory);
    }
    state.peer_call.peers = view(state.peers);
    return state.peers.size() <= static_cast<std::size_t>(most_peers);
}

template <>
void DirectForce<Cuda>::accelerate_with_peers(Cuda on, const Sources& own, View<Vec3<double>> acceleration) {
    auto& state = *state_;
    KS_CUDA(cudaSetDevice(on.device));
    const auto cleared = state.memory.begin(on, state.options.precision, true, own.position.n, 3);
    ++state.peer_call.number;
    detail::launch_with_peers(on, state.with_peers, state.options,
                              {own.position, own.position, own.mass, acceleration, state.scale, cleared, state.arrived.data()},
                              state.peer_call);
    state.memory.taken();
}

template <>
void DirectForce<Cuda>::begin_pairs(Cuda on, const SourceBlock& own) {
    auto& state = *state_;
    KS_CUDA(cudaSetDevice(on.device));
    state.own = own;
    state.sums = state.memory.begin(on, state.options.precision, state.options.deterministic, own.count, 3);
}

template <>
void DirectForce<Cuda>::add_pairs(Cuda on, const SourceBlock& other, View<std::byte> reaction, Share share) {
    auto& state = *state_;
    KS_CUDA(cudaSetDevice(on.device));
    const bool is_own = other.first == state.own.first && other.count == state.own.count;
    KS_EXPECT(reaction.n == (is_own ? 0 : state.reaction_bytes(other.count)));
    if (state.own.count == 0 || other.count == 0) return;
    detail::PairLaunch call;
    call.shape = state.shape;
    call.own = state.own.bodies;
    call.other = other.bodies;
    call.own_count = state.own.count;
    call.other_count = other.count;
    state.table(other, share).set(call);
    call.scale = state.scale;
    call.own_sums = state.sums;
    call.other_sums = is_own ? state.sums : detail::SumsMemory{reaction.ptr, other.count, state.options.deterministic, nullptr, nullptr};
    detail::launch_pairs(on, state.options, call);
}

template <>
void DirectForce<Cuda>::clear(Cuda on, View<std::byte> reaction) {
    KS_CUDA(cudaSetDevice(on.device));
    detail::launch_clear(on, reaction);
}

template <>
void DirectForce<Cuda>::merge(Cuda on, View<const std::byte> reaction) {
    auto& state = *state_;
    KS_EXPECT(reaction.n == state.reaction_bytes(state.own.count));
    KS_CUDA(cudaSetDevice(on.device));
    detail::launch_merge(on, state.options.precision, state.sums, reaction.ptr);
}

template <>
void DirectForce<Cuda>::end_pairs(Cuda on, View<Vec3<double>> acceleration) {
    end(on, {acceleration, {}});
}

template <>
void DirectForce<Cuda>::accelerate(const Sources& all, View<Vec3<double>> acceleration) {
    if (all.position.n == 0) return;
    const bool both = both_sides();
    if (!both && state_->accelerate_in_one_launch(all.position, all, acceleration)) return;
    const Cuda on = state_->on;
    const auto block = state_->pack(all);
    if (both) {
        begin_pairs(on, block);
        add_pairs(on, block, {}, Share::all);
        end_pairs(on, acceleration);
    } else {
        begin(on, all.position, 0, true, false, all.softening);
        add(on, block);
        end(on, {acceleration, {}});
    }
}

template <>
void DirectForce<Cuda>::potential(const Sources& all, View<double> potential) {
    if (all.position.n == 0) return;
    const auto block = state_->pack(all);
    begin(state_->on, all.position, 0, false, true, all.softening);
    add(state_->on, block);
    end(state_->on, {{}, potential});
}

template <>
void DirectForce<Cuda>::accelerate_at(View<const Vec3<double>> targets, const Sources& all, View<Vec3<double>> acceleration,
                                      View<const double> softening) {
    if (targets.n == 0 || state_->accelerate_in_one_launch(targets, all, acceleration)) return;
    const auto block = state_->pack(all);
    begin(state_->on, targets, Self::none, true, false, softening);
    add(state_->on, block);
    end(state_->on, {acceleration, {}});
}

template class DirectForce<Cuda>;

namespace detail {

std::uint64_t cuda_force_bytes(index_t own, index_t largest_block, const Direct& options) {
    // Tables of the pairs: a few rows for every tile (of 128 particles or more) with every source block, and chunks of the work.
    const auto tiles = static_cast<std::uint64_t>(own + largest_block) / 128 + 1;
    return static_cast<std::uint64_t>(DirectLayout{options.precision}.sums_bytes(own, 4)) + 64 * tiles + (std::uint64_t{1} << 20);
}

}  // namespace detail
}  // namespace kasane::gravity
