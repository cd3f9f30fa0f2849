// Direct summation of all particles on those of one worker ([MTM13] sections 3 and 4), built from the force of one device and channels:
// first the own source block, then those of the other workers in the order of their arrival. Each message is under way while the kernels
// that were launched before it run. Accelerations of few particles on devices of one rank that reach each other's memory take one kernel on
// each device, which also exchanges the particles. Invariants: the host does not wait for the device (except in the channel of a staged
// message); a call is ordered on the worker's space after the work launched before it and before the work launched after it; all workers of
// the communicator make the same calls.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/core/comm/plan.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/side_stream.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
#include <kasane/gravity/direct/variants.hpp>
#include <kasane/gravity/distributed/exchange.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kasane::gravity {

template <Space S>
class DistributedForce {
   public:
    /// @param total  particles of all workers   @throws InputError as DirectForce, and for a form that this space does not have
    DistributedForce(S on, const Direct& options, index_t total, const Exchange& exchange, comm::Worker& worker)
        : on_(on),
          force_(on, options, total),
          worker_(worker),
          index_(worker.index()),
          partition_{total, force_.grain(), worker.size()},
          exchange_(exchange),
          plan_(comm::exchange_plan(partition_, index_, buffer_particles(exchange, force_.body_bytes(), total))),
          both_sides_(exchange.form != PairForm::one_sided && force_.both_sides(worker.size())) {
        if (exchange.form == PairForm::both_sides) {
            KS_VALIDATE(!detail::own_softening(detail::pair_softening(options)),
                        "the form \"both-sides\" of the exchange takes one Plummer softening for all particles: set the form to \"auto\"");
            both_sides_ = pairs_exist && (options.variant == DirectVariant::automatic || options.variant == DirectVariant::pair);
            KS_VALIDATE(both_sides_,
                        "the form \"both-sides\" of the exchange needs CUDA devices and the variant auto or pair: set the form to "
                        "\"auto\"");
        }
        for (const auto& hop : plan_.hops)
            if (hop.accumulates) joined_ *= 2;
        base_ = partition_.begin(index_ / joined_ * joined_);
        // Buffer 0 has the own slab, at its place among the slabs that accumulation joins to it.
        buffer_[0] = Buffer<std::byte, S>(on_, bytes(alone() ? count() : plan_.buffer));
    }

    /// Allocates the buffers and opens the channels of the exchange. Collective, after every worker has constructed its force.
    /// @throws InputError on every worker if the engine does not work on this communicator
    void connect() {
        if (alone()) return;
        plan_turns();
        buffer_[1] = Buffer<std::byte, S>(on_, bytes(std::max(plan_.buffer, partition_.largest())));
        if constexpr (pairs_exist) {
            if (both_sides_) {
                buffer_[2] = Buffer<std::byte, S>(on_, bytes(partition_.largest()));
                for (auto& buffer : reaction_) buffer = Buffer<std::byte, S>(on_, reaction_bytes(partition_.largest()));
            }
        }
        links_.emplace(on_, worker_, exchange_.engine, both_sides_);
        if constexpr (pairs_exist) connect_peers();
    }

    const comm::Partition& partition() const { return partition_; }
    const comm::ExchangePlan& plan() const { return plan_; }
    index_t first() const { return partition_.begin(index_); }
    index_t count() const { return partition_.count(index_); }
    index_t grain() const { return partition_.grain; }
    bool both_sides() const { return both_sides_; }
    /// Name of the engine of the messages of accelerate(); empty with one worker.
    std::string engine() const { return with_peers_ ? "peer memory" : links_ ? links_->positions.text() : std::string(); }

    /// Sets origin and scale of the following evaluations; they must be the same on all workers.
    void set(const DirectFrame& frame) { force_.set(frame); }

    /// True if accelerate() takes one kernel on each device, which also exchanges the particles.
    bool with_peers() const { return with_peers_; }

    /// Computes the acceleration of all particles of this worker. @param own, acceleration [count()]
    void accelerate(const Sources& own, View<Vec3<double>> acceleration) {
        if constexpr (pairs_exist) {
            if (with_peers_) return accelerate_with_peers(own, acceleration);
        }
        pack(own);
        if constexpr (pairs_exist) {
            if (both_sides_) return both(acceleration);
        }
        one_sided(own.position, own.softening, first(), {acceleration, {}});
    }
    void potential(const Sources& own, View<double> potential) {
        pack(own);
        one_sided(own.position, own.softening, first(), {{}, potential});
    }
    /// Computes the acceleration by all particles at any number of targets, 0 too. @param own [count()]
    /// @param softening  of the targets, where pairs combine softenings; empty: options.softening
    void accelerate_at(View<const Vec3<double>> targets, const Sources& own, View<Vec3<double>> acceleration,
                       View<const double> softening = {}) {
        pack(own);
        one_sided(targets, softening, Self::none, {acceleration, {}});
    }

    /// Records spans "pairs" and "message" of the following evaluations; null: none.
    void keep(Timeline<S>* timeline) {
        timeline_ = timeline;
        if (!links_) return;
        links_->positions.keep(timeline);
        if (links_->reactions) links_->reactions->keep(timeline);
    }
    /// Number of messages with positions received so far.
    std::int64_t messages() const { return peer_messages_ + (links_ ? links_->positions.messages() : 0); }
    /// Bytes of all messages received so far.
    double bytes_received() const {
        if (!links_) return 0;
        const auto other_bodies = static_cast<double>(bytes(partition_.n) - bytes(count()));
        return links_->positions.bytes() + (links_->reactions ? links_->reactions->bytes() : 0) +
               static_cast<double>(peer_messages_ / std::max(1, partition_.workers - 1)) * other_bodies;
    }

   private:
    static constexpr bool pairs_exist = !std::same_as<S, Cpu>;
    static constexpr int slot_of_peers = 32;  ///< after those of channels

    /// One exchange of positions, and of reactions in the opposite direction.
    struct Turn {
        int to, from;       ///< workers to which positions are sent and from which they are received
        bool gives, takes;  ///< positions are sent; positions are received
    };

    /// Streams and channels of several workers.
    struct Links {
        Links(S on, comm::Worker& worker, comm::Engine engine, bool both_sides)
            : side{{on, both_sides ? Urgency::high : Urgency::usual}, {on, both_sides ? Urgency::high : Urgency::usual}},
              link(on, Urgency::high),
              home(on, Urgency::high),
              positions(on, worker, 0, engine) {
            if (both_sides) reactions.emplace(on, worker, 1, engine);
        }
        SideStream<S> side[2];     ///< kernels beside those on the space's own stream
        SideStream<S> link, home;  ///< order of the messages with positions, and of those with reactions
        comm::Channel<S> positions;
        std::optional<comm::Channel<S>> reactions;
    };

    bool alone() const { return partition_.workers == 1; }
    index_t bytes(index_t particles) const { return force_.padded(particles) * static_cast<index_t>(force_.body_bytes()); }
    index_t reaction_bytes(index_t particles) const { return particles * static_cast<index_t>(force_.reaction_bytes()); }
    bool has_pairs(int a, int b) const {
        return force_.has_pairs(partition_.begin(a), partition_.end(a), partition_.begin(b), partition_.end(b));
    }

    int neighbour(int away) const { return (index_ + partition_.workers + away) % partition_.workers; }

    /// Chooses the form, both sides only if every worker can, and plans a turn for each distance at which any worker has pairs.
    void plan_turns() {
        std::vector<double> needed(static_cast<std::size_t>(partition_.workers));
        needed[0] = both_sides_ ? 0 : 1;
        if constexpr (pairs_exist)
            for (int away = 1; both_sides_ && away < partition_.workers; ++away)
                needed[static_cast<std::size_t>(away)] = has_pairs(index_, neighbour(away)) ? 1 : 0;
        worker_.all_reduce(view(needed), comm::Reduce::max);
        both_sides_ = needed[0] == 0;
        if constexpr (pairs_exist)
            for (int away = 1; both_sides_ && away < partition_.workers; ++away) {
                const int from = neighbour(away), to = neighbour(-away);
                if (needed[static_cast<std::size_t>(away)] > 0)
                    turns_.push_back({to, from, has_pairs(to, index_), has_pairs(index_, from)});
            }
    }

    /// Chooses evaluations in one kernel on each device, if every worker can. Collective.
    void connect_peers() {
        const auto engine = links_->positions.engine();
        if (worker_.communicator().workers_per_rank() != worker_.size() || engine != comm::Engine::copy || both_sides_) return;
        const auto mine = count() > 0 ? force_.peer_memory(first(), count()) : PeerMemory{};
        for (int m = 0; m < worker_.size(); ++m) worker_.hand(m, slot_of_peers, &mine);
        std::vector<PeerMemory> all;
        for (int m = 0; m < worker_.size(); ++m) all.push_back(*static_cast<const PeerMemory*>(worker_.take(m, slot_of_peers)));
        double able[1] = {force_.connect_peers(all) ? 1. : 0.};
        worker_.all_reduce(View<double>(able, 1), comm::Reduce::min);
        with_peers_ = able[0] > 0;
    }

    void accelerate_with_peers(const Sources& own, View<Vec3<double>> acceleration) {
        worker_.barrier();  // a worker that failed before must not leave the kernels of the others waiting
        span(on_, [&] { force_.accelerate_with_peers(on_, own, acceleration); });
        peer_messages_ += partition_.workers - 1;
    }

    /// The source block of some slabs in a buffer whose first particle has the number `base`.
    SourceBlock block(int buffer, index_t base, comm::Slabs slabs) {
        const index_t count = partition_.count(slabs.first, slabs.count), first = partition_.begin(slabs.first);
        if (count == 0) return {};
        return {buffer_[buffer].view().subview((first - base) * static_cast<index_t>(force_.body_bytes()), bytes(count)), count, first};
    }
    View<std::byte> writable(const SourceBlock& block) const { return {const_cast<std::byte*>(block.bodies.ptr), block.bodies.n}; }
    SourceBlock own_block() { return block(0, base_, {index_, 1}); }

    void pack(const Sources& own) {
        if (own.position.n > 0) force_.pack(on_, own.position, own.mass, writable(own_block()), own.softening);
    }

    template <class F>
    void span(S on, F body) {
        if (!timeline_) return body();
        const int number = timeline_->begin(on, "pairs");
        body();
        timeline_->end(on, number);
    }

    /// Every source acts on every target: accumulation, then transport. The own slab must be packed.
    void one_sided(View<const Vec3<double>> targets, View<const double> softening, index_t first_target, const Field& out) {
        const bool wanted = targets.n > 0;
        const auto add = [&](S stream, const SourceBlock& sources) {
            if (wanted && sources.count > 0) span(stream, [&] { force_.add(stream, sources); });
        };
        if (wanted) force_.begin(on_, targets, first_target, !out.acceleration.empty(), !out.potential.empty(), softening);
        if (alone()) {
            add(on_, own_block());
            if (wanted) force_.end(on_, out);
            return;
        }
        auto& [sides, link, home, positions, reactions] = *links_;
        auto& side = sides[0];
        const int hops = plan_.messages();
        const auto joins = [&](int h) { return plan_.hops[static_cast<std::size_t>(h)].accumulates; };
        int from = 0;  // the buffer with the next block to send
        const auto start = [&](int h) {
            const auto& hop = plan_.hops[static_cast<std::size_t>(h)];
            const auto base = [&](comm::Slabs slabs) { return hop.accumulates ? base_ : partition_.begin(slabs.first); };
            const auto sent = block(from, base(hop.sent), hop.sent);
            if (!hop.accumulates) from = 1 - from;
            const auto received = block(from, base(hop.received), hop.received);
            positions.start(link.space(), sent.bodies, hop.to, writable(received), hop.from);
            return received;
        };
        link.follow(on_);
        SourceBlock coming = start(0);
        add(on_, own_block());
        for (int h = 0; h < hops; ++h) {
            // Source blocks alternate between two streams: the kernel of one fills multiprocessors that the other's leaves idle at its end.
            const S stream = h % 2 == 0 ? side.space() : on_;
            positions.finish(link.space());
            link.lead(stream);
            const auto here = coming;
            if (h + 1 < hops) {
                if (!joins(h) && !joins(h + 1)) {
                    // In the ring, the next message overwrites the buffer that was sent before; it waits for the kernels that read that
                    // buffer.
                    link.follow(on_);
                    side.lead(link.space());
                }
                coming = start(h + 1);
            }
            add(stream, here);
        }
        side.lead(on_);
        if (wanted) force_.end(on_, out);
    }

    /// Each pair once: positions are received from other workers, and the reactions on them are sent back.
    void both(View<Vec3<double>> acceleration) {
        const auto own = own_block();
        const bool some = own.count > 0;
        if (some) force_.begin_pairs(on_, own);
        const auto add = [&](S stream, const SourceBlock& other, View<std::byte> reaction, Share share) {
            if (some && other.count > 0) span(stream, [&] { force_.add_pairs(stream, other, reaction, share); });
        };
        if (turns_.empty()) {
            add(on_, own, {}, Share::all);
            if (some) force_.end_pairs(on_, acceleration);
            return;
        }
        auto& [side, link, home, positions, reactions] = *links_;
        const int turns = static_cast<int>(turns_.size());
        const auto turn = [&](int k) { return turns_[static_cast<std::size_t>(k)]; };
        const auto start = [&](int k) {
            const auto [to, from, gives, takes] = turn(k);
            const auto coming = takes ? block(1 + k % 2, partition_.begin(from), {from, 1}) : SourceBlock{};
            positions.start(link.space(), gives ? own.bodies : View<const std::byte>{}, to, writable(coming), from);
            return coming;
        };
        const auto reaction_on = [&](int buffer, int k, index_t count) {
            return reaction_[buffer + k % 2].view().subview(0, reaction_bytes(count));
        };
        const auto merge = [&](int k) {
            reactions->finish(home.space());
            if (turn(k).gives && some) force_.merge(home.space(), View<const std::byte>(reaction_on(2, k, own.count)));
        };

        // Own pairs run on the space's own stream, at the lowest priority. Pairs with other source blocks have priority and alternate
        // between two streams: the kernel of one fills multiprocessors that the other's leaves idle at its end. NCCL's kernels need these
        // multiprocessors, so with NCCL there is one stream.
        const int streams = positions.engine() == comm::Engine::nccl ? 1 : 2;
        const auto clear = [&](int k) {
            if (k < turns && turn(k).takes) force_.clear(side[k % streams].space(), reaction_on(0, k, partition_.count(turn(k).from)));
        };
        for (int k = 0; k < 2; ++k) {
            side[k].follow(on_);
            clear(k);
        }
        link.follow(on_);
        SourceBlock coming = start(0);
        add(on_, own, {}, Share::before);
        for (int k = 0; k < turns; ++k) {
            positions.finish(link.space());
            auto &high = side[k % streams], &other = side[(k + 1) % streams];
            high.follow(link.space());
            const auto here = coming;
            if (k + 1 < turns) {
                if (k > 0) other.lead(link.space());  // waits for the kernel that read the next buffer
                coming = start(k + 1);
            }
            const auto reaction = reaction_on(0, k, here.count);
            add(high.space(), here, reaction, Share::all);
            if (k > 0) {
                merge(k - 1);
                other.follow(home.space());  // waits until the reactions in its buffer are sent
                clear(k + 1);
            }
            home.follow(high.space());
            const auto [to, from, gives, takes] = turn(k);
            reactions->start(home.space(), takes ? View<const std::byte>(reaction) : View<const std::byte>{}, from,
                             gives ? reaction_on(2, k, own.count) : View<std::byte>{}, to);
        }
        add(on_, own, {}, Share::after);
        merge(turns - 1);
        home.lead(on_);  // `home` waited for the other streams
        if (some) force_.end_pairs(on_, acceleration);
    }

    S on_;
    DirectForce<S> force_;
    comm::Worker& worker_;
    int index_;
    comm::Partition partition_;
    Exchange exchange_;
    comm::ExchangePlan plan_;
    bool both_sides_;
    int joined_ = 1;                                ///< slabs that accumulation joins in buffer 0
    index_t base_ = 0;                              ///< number of the first particle of buffer 0, while slabs are joined there
    std::vector<Turn> turns_;                       ///< exchanges of the form both_sides
    Buffer<std::byte, S> buffer_[3], reaction_[4];  ///< packed slabs; reactions, two to send and two to receive
    std::optional<Links> links_;
    bool with_peers_ = false;
    std::int64_t peer_messages_ = 0;  ///< of evaluations in one kernel on each device
    Timeline<S>* timeline_ = nullptr;
};

}  // namespace kasane::gravity
