// Direct summation of all particles on those of one worker ([MTM13] sections 3 and 4), built from the force of one device and channels:
// first the own source block, then those of the other workers in the order of their arrival. Each message travels while the kernels run
// that were launched before it. Invariants: nothing here waits for the device (a staged message does, in its channel); work launched on the
// worker's space before a call is done before it, and work launched afterwards reads the result; all workers of the communicator make the
// same calls.
#pragma once

#include <kasane/core/comm/channel.hpp>
#include <kasane/core/comm/plan.hpp>
#include <kasane/core/device/buffer.hpp>
#include <kasane/core/device/side_stream.hpp>
#include <kasane/gravity/direct/direct_force.hpp>
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
          both_sides_(exchange.form != PairForm::one_sided && force_.both_sides()) {
        if (exchange.form == PairForm::both_sides) {
            both_sides_ = pairs_exist && (options.variant == DirectVariant::automatic || options.variant == DirectVariant::pair);
            KS_VALIDATE(both_sides_,
                        "both sides of each pair at once are summed on CUDA alone, by the variants auto and pair: leave the form of "
                        "the exchange to \"auto\"");
        }
        for (const auto& hop : plan_.hops)
            if (hop.accumulates) joined_ *= 2;
        base_ = partition_.begin(index_ / joined_ * joined_);
        // The own slab at its place among those that are joined to it.
        buffer_[0] = Buffer<std::byte, S>(on_, bytes(alone() ? count() : plan_.buffer));
    }

    /// Takes the memory and opens the channels of the exchange. Collective, after every worker has constructed its force.
    /// @throws InputError on every worker when the engine cannot serve this communicator
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
    }

    const comm::Partition& partition() const { return partition_; }
    const comm::ExchangePlan& plan() const { return plan_; }
    index_t first() const { return partition_.begin(index_); }
    index_t count() const { return partition_.count(index_); }
    index_t grain() const { return partition_.grain; }
    bool both_sides() const { return both_sides_; }
    /// Name of the engine of the messages; empty with one worker.
    std::string engine() const { return links_ ? links_->positions.text() : std::string(); }

    /// Origin and scale of the evaluations that follow; the same on all workers.
    void set(const DirectFrame& frame) { force_.set(frame); }

    /// Computes the acceleration of all particles of this worker. @param own, acceleration [count()]
    void accelerate(const Sources& own, View<Vec3<double>> acceleration) {
        pack(own);
        if constexpr (pairs_exist) {
            if (both_sides_) return both(acceleration);
        }
        one_sided(own.position, first(), {acceleration, {}});
    }
    void potential(const Sources& own, View<double> potential) {
        pack(own);
        one_sided(own.position, first(), {{}, potential});
    }
    /// Computes the acceleration at any number of targets, 0 too. @param own [count()], at the positions that act on all targets
    void accelerate_at(View<const Vec3<double>> targets, const Sources& own, View<Vec3<double>> acceleration) {
        pack(own);
        one_sided(targets, Self::none, {acceleration, {}});
    }

    /// Records spans "pairs" and "message" of the evaluations that follow; null: none.
    void keep(Timeline<S>* timeline) {
        timeline_ = timeline;
        if (!links_) return;
        links_->positions.keep(timeline);
        if (links_->reactions) links_->reactions->keep(timeline);
    }
    /// Messages with positions, and bytes of all messages, received so far.
    std::int64_t messages() const { return links_ ? links_->positions.messages() : 0; }
    double bytes_received() const {
        if (!links_) return 0;
        return links_->positions.bytes() + (links_->reactions ? links_->reactions->bytes() : 0);
    }

   private:
    static constexpr bool pairs_exist = !std::same_as<S, Cpu>;

    /// A message with positions, and one with reactions the other way.
    struct Turn {
        int to, from;       ///< of the positions
        bool gives, takes;  ///< are there any?
    };

    /// Streams and channels, where there are several workers.
    struct Links {
        Links(S on, comm::Worker& worker, comm::Engine engine, bool both_sides)
            : side{{on, both_sides ? Urgency::high : Urgency::usual}, {on, both_sides ? Urgency::high : Urgency::usual}},
              link(on, Urgency::high),
              home(on, Urgency::high),
              positions(on, worker, 0, engine) {
            if (both_sides) reactions.emplace(on, worker, 1, engine);
        }
        SideStream<S> side[2];     ///< kernels beside those on the space's own stream
        SideStream<S> link, home;  ///< in whose order messages with positions, and with reactions, are sent
        comm::Channel<S> positions;
        std::optional<comm::Channel<S>> reactions;
    };

    bool alone() const { return partition_.workers == 1; }
    index_t bytes(index_t particles) const { return force_.padded(particles) * static_cast<index_t>(force_.body_bytes()); }
    index_t reaction_bytes(index_t particles) const { return particles * static_cast<index_t>(force_.reaction_bytes()); }
    bool meets(int a, int b) const { return force_.meets(partition_.begin(a), partition_.end(a), partition_.begin(b), partition_.end(b)); }

    int neighbour(int away) const { return (index_ + partition_.workers + away) % partition_.workers; }

    /// Both sides are summed at once if every worker can. Workers exchange with those at each distance at which any worker has pairs.
    void plan_turns() {
        std::vector<double> needed(static_cast<std::size_t>(partition_.workers));
        needed[0] = both_sides_ ? 0 : 1;
        if constexpr (pairs_exist)
            for (int away = 1; both_sides_ && away < partition_.workers; ++away)
                needed[static_cast<std::size_t>(away)] = meets(index_, neighbour(away)) ? 1 : 0;
        worker_.all_reduce(view(needed), comm::Reduce::max);
        both_sides_ = needed[0] == 0;
        if constexpr (pairs_exist)
            for (int away = 1; both_sides_ && away < partition_.workers; ++away) {
                const int from = neighbour(away), to = neighbour(-away);
                if (needed[static_cast<std::size_t>(away)] > 0) turns_.push_back({to, from, meets(to, index_), meets(index_, from)});
            }
    }

    /// Slabs in a buffer whose first particle is number `base` of all.
    SourceBlock block(int buffer, index_t base, comm::Slabs slabs) {
        const index_t count = partition_.count(slabs.first, slabs.count), first = partition_.begin(slabs.first);
        if (count == 0) return {};
        return {buffer_[buffer].view().subview((first - base) * static_cast<index_t>(force_.body_bytes()), bytes(count)), count, first};
    }
    View<std::byte> writable(const SourceBlock& block) const { return {const_cast<std::byte*>(block.bodies.ptr), block.bodies.n}; }
    SourceBlock own_block() { return block(0, base_, {index_, 1}); }

    void pack(const Sources& own) {
        if (own.position.n > 0) force_.pack(on_, own.position, own.mass, writable(own_block()));
    }

    template <class F>
    void span(S on, F body) {
        if (!timeline_) return body();
        const int number = timeline_->begin(on, "pairs");
        body();
        timeline_->end(on, number);
    }

    /// Every source acts on every target: accumulation, then transport. The own slab is packed.
    void one_sided(View<const Vec3<double>> targets, index_t first_target, const Field& out) {
        const bool wanted = targets.n > 0;
        const auto add = [&](S stream, const SourceBlock& sources) {
            if (wanted && sources.count > 0) span(stream, [&] { force_.add(stream, sources); });
        };
        if (wanted) force_.begin(on_, targets, first_target, !out.acceleration.empty(), !out.potential.empty());
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
                    // In the ring: the next message overwrites the buffer that was sent before, once the kernels launched so far have read
                    // it.
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

    /// Each pair once: the positions of the other particle come from its worker, and the reaction on it returns there.
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

        // Own pairs run on the space's own stream, at the lowest priority. Pairs with other blocks run before them where both could, and
        // alternate between two streams: the kernel of one fills multiprocessors that the other's leaves idle at its end. NCCL's kernels
        // need these: with it there is one stream.
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
                if (k > 0) other.lead(link.space());  // the kernel that read the next buffer
                coming = start(k + 1);
            }
            const auto reaction = reaction_on(0, k, here.count);
            add(high.space(), here, reaction, Share::all);
            if (k > 0) {
                merge(k - 1);
                other.follow(home.space());  // the reactions in its buffer were sent
                clear(k + 1);
            }
            home.follow(high.space());
            const auto [to, from, gives, takes] = turn(k);
            reactions->start(home.space(), takes ? View<const std::byte>(reaction) : View<const std::byte>{}, from,
                             gives ? reaction_on(2, k, own.count) : View<std::byte>{}, to);
        }
        add(on_, own, {}, Share::after);
        merge(turns - 1);
        home.lead(on_);  // it follows the other streams
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
    std::vector<Turn> turns_;                       ///< of both sides at once
    Buffer<std::byte, S> buffer_[3], reaction_[4];  ///< reactions: two to send, two to receive
    std::optional<Links> links_;
    Timeline<S>* timeline_ = nullptr;
};

}  // namespace kasane::gravity
