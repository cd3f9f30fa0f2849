// The tree code on many workers ([OMBMN12] section 6): each has the particles of a domain, a range of the space-filling curve, and their
// tree; for a force it walks this tree while it receives the LETs of the other domains, and then the LETs. On GPUs whose messages take less
// time than the second walk costs, it receives the LETs first and walks all as one tree.
// In block steps of few particles nodes and LETs are kept: nodes and bodies move, only kicked ones are predicted by the caller.
// Invariants: all workers make the same calls in the same order; with one worker the tree is that of TreeForce, without copies; LETs have
// all that the criterion needs for the targets that use them.
#pragma once

#include <kasane/gravity/domain/common_frame.hpp>
#include <kasane/gravity/domain/curve_parts.hpp>
#include <kasane/gravity/domain/domain_parts.hpp>
#include <kasane/gravity/domain/essential_exchange.hpp>
#include <kasane/gravity/domain/move_particles.hpp>
#include <kasane/gravity/step/motion.hpp>
#include <kasane/gravity/step/kept_nodes.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <bit>
#include <utility>
#include <variant>
#include <vector>

namespace kasane::gravity {

template <Space S>
class DomainForce {
   public:
    /// Collective. @param channel  number of the first channel for messages (Channels)   @throws InputError: an option is out of range
    DomainForce(S on, const Tree& options, comm::Worker& worker, int channel = 0, comm::Engine engine = comm::Engine::automatic)
        : on_(on),
          options_(options),
          worker_(worker),
          work_(on),
          force_(on, options),
          parts_(on),
          exchange_(on, options, worker, channel, engine, parts_),
          joins_(!std::same_as<S, Cpu> && exchange_.messages_are_fast()),
          moves_(on),
          nodes_(on),
          spare_(on, 0) {}

    Octree<S>& octree() { return force_.octree(); }
    Walk<S>& walk() { return force_.walk(); }
    const ReceivedTrees& received() const { return exchange_.received(); }
    /// "peer copies", "MPI through host memory", ...
    std::string engine() const { return exchange_.engine(); }
    /// Times of this worker; the caller measures the refresh of moments.
    DomainParts<S>& parts() { return parts_; }

    /// Selects whether forces of many targets walk the LETs together with the own tree: one walk, after all messages. Else the own tree is
    /// walked while messages are transferred.
    void join_trees(bool joins) { joins_ = joins; }

    /// Moves the particles to the workers of their domains and builds the topology of the trees. The caller then writes the bodies again,
    /// in their new order. Collective.
    /// @param system  any particles of all workers with their numbers (`given`); becomes those of this worker's domain in curve order
    /// @param total   particles of all workers
    /// @param levels  the levels of the particles are their time steps, and their work is that of all their forces in dt_max
    /// @param place   writes the bodies of octree() from the system: for example, predicted ones
    /// @param divide  choose new domains, of equal work; the same on all workers. Else domains stay, if the frame of the tree still fits,
    /// which is examined in every eighth call
    /// @return domains were chosen   @throws ComputationError on every worker: positions are not finite, where the frame is examined
    template <class Place>
    bool rebuild(System<S, Vec3<float>>& system, index_t total, bool levels, Place place, bool divide = true) {
        auto& tree = octree();
        const auto sort = [&] {
            tree.sort_keys();
            system.reorder(tree.order());
        };
        parts_.tree.call([&] {
            if (divide || boundary_.empty() || ++frame_uses_ == largest_frame_uses) {
                const auto frame =
                    common_frame<S>(on_, work_, worker_, system.position.view(), system.mass.view(), system.given.view(), total);
                divide = divide || !fits(frame);
                if (divide) frame_ = frame;
                frame_uses_ = 0;
            }
            tree.use_frame(frame_, system.count());
            place();
            tree.make_keys();
            if (divide || worker_.size() == 1) sort();
        });
        if (worker_.size() > 1) {
            if (divide)
                parts_.domains.call([&] {
                    const auto level = levels ? View<const std::uint8_t>(system.level.view()) : View<const std::uint8_t>{};
                    const auto own = curve_parts<S>(on_, tree.keys(), level, work_per_force_, parts_per_worker(worker_.size()));
                    boundary_ = domain_boundaries(all_parts(own), worker_.size());
                });
            bool changed = false;
            parts_.domains.add([&] { changed = moves_(worker_, exchange_.channels(), system, tree.key_memory(), boundary_); });
            parts_.tree.add([&] {
                tree.use_frame(frame_, system.count());
                if (changed || !divide) sort();
            });
        }
        parts_.tree.add([&] {
            tree.build(system.softening.view());
            if (worker_.size() > 1) exchange_.choose_boxes(tree);
        });
        forget();
        return divide;
    }

    /// Evaluates the force on targets of all workers, from the present bodies and the moments of the last refresh(), with LETs for these
    /// targets. Collective; a worker may have no targets. `all` means all bodies of this worker.
    void accelerate(const WalkTargets& targets, const WalkField& out) {
        accelerate(targets, out, [] {});
    }
    /// The same. @param refresh()  computes the moments of the present bodies; it hides messages
    template <class Refresh>
    void accelerate(const WalkTargets& targets, const WalkField& out, Refresh refresh) {
        forget();
        const auto walk = own_walk(targets, out);
        if (worker_.size() == 1) {
            refresh();
            walk(0);
            return parts_.walk.call([] {});
        }
        auto bodies = octree().view();
        bodies.drift = {};  // as after a refresh
        exchange_.measure(bodies, targets, refresh);
        if (joins_) {
            exchange_.make(octree(), true, NoWork{});
            return walk_joined(targets, out);
        }
        exchange_.make(octree(), false, walk);
        walk_received(targets, out);
    }

    /// Discards kept nodes and LETs.
    void forget() { kept_ = moved_ = updates_ = false; }
    /// True while nodes and LETs are kept: move() is possible.
    bool keeps() const { return kept_; }
    /// [n] memory for the positions of this worker's bodies at the last use of the next kept LETs. The caller writes them before keep().
    View<Body> later() {
        const index_t n = worker_.size() > 1 ? octree().bodies().n : 0;
        return {reinterpret_cast<Body*>(spare(n)), n};
    }
    /// Makes LETs, and keeps them and the nodes of the last refresh(). Bodies and moments are those of `time`. Collective.
    /// @param targets  all targets of this worker for which the LETs will be used; not read with one worker
    void keep(double time, const WalkTargets& targets) {
        if (worker_.size() > 1) {
            exchange_.promise(octree().view(), targets, later());
            exchange_.make(octree(), false, NoWork{});
        }
        kept_time_ = time, kept_ = true, moved_ = updates_ = false;
    }
    /// Computes the motion of everything that keep() has kept, once. Collective. @param bodies  at the time of keep()
    void begin_motion(const MovingBodies& bodies) {
        if (std::exchange(moved_, true)) return;
        parts_.moments.add([&] { nodes_.begin(octree(), bodies); });
        if (worker_.size() > 1) exchange_.begin_motion(octree().view(), nodes_.moving(), bodies);
    }
    /// Moves nodes and bodies from the time of keep(); the next force moves LETs. The caller has written the kicked bodies at `time`; nodes
    /// that hold some are computed anew. Collective, after begin_motion().
    void move(double time) {
        elapsed_ = time - kept_time_;
        parts_.moments.add([&] { nodes_.move(octree(), elapsed_); });
        updates_ = true;
    }
    /// The same as in KeptNodes, after begin_motion().
    View<const std::uint32_t> kicked_bodies() const { return nodes_.kicked_bodies(); }
    /// Evaluates the force with kept LETs. Collective. @return true where targets of this worker have left the boxes for which the LETs
    /// were made, or have used half of a margin: all workers must then call forget()
    bool accelerate_kept(const WalkTargets& targets, const WalkField& out) {
        const auto walk = own_walk(targets, out);
        if (worker_.size() > 1 && std::exchange(updates_, false))
            exchange_.move(octree().view(), elapsed_, walk);
        else
            for (int part = 0; part < walk.parts; ++part) walk(part);
        if (worker_.size() > 1 && exchange_.view().nodes > 0) exchange_.place_targets(octree().view(), targets);
        walk_received(targets, out);
        return worker_.size() > 1 && octree().bodies().n > 0 && exchange_.outgrown(octree().view(), targets);
    }

    /// accelerate() for all bodies, without a last acceleration. With the acceleration criterion, a geometric walk (theta = 0.5) comes
    /// first; the counts of the walk do not include it. Collective.
    void accelerate_first(const WalkField& out) {
        if (!std::holds_alternative<AccelerationMac>(options_.mac)) return accelerate({}, out);
        const index_t n = octree().bodies().n;
        Buffer<Vec3<float>, S> own(on_, out.acceleration.empty() ? n : 0);
        const auto acceleration = out.acceleration.empty() ? own.view() : out.acceleration;
        Buffer<float, S> size(on_, n);
        octree().set_mac(GeometricMac{0.5});
        accelerate({}, {acceleration, {}});
        static_cast<void>(walk().counts());
        targets_ = 0;
        octree().set_mac(options_.mac);
        measure(on_, View<const Vec3<float>>(acceleration), size.view());
        WalkTargets targets;
        targets.acceleration = size.view();
        accelerate(targets, out);
    }

    /// Counts of the walks of this worker since the last call; the mean of their interactions per target determines the next domains.
    WalkCounts counts() {
        const auto counted = walk().counts();
        if (targets_ > 0) work_per_force_ = counted.interactions() / std::exchange(targets_, 0);
        return counted;
    }

   private:
    /// Whether the frame of the domains, whose boundaries are keys in it, can stay where a new one would be this.
    bool fits(const Frame& frame) const {
        const auto off = frame.center - frame_.center;
        return !boundary_.empty() && frame.length == frame_.length && frame.mass == frame_.mass &&
               dot(off, off) <= frame.length * frame.length / (64 * 64);
    }

    std::vector<CurvePart> all_parts(const std::vector<CurvePart>& own) {
        const auto most = static_cast<std::size_t>(parts_per_worker(worker_.size()));
        std::vector<std::uint64_t> words(1 + 2 * most);
        words[0] = own.size();
        for (std::size_t k = 0; k < own.size(); ++k)
            words[1 + 2 * k] = own[k].key, words[2 + 2 * k] = std::bit_cast<std::uint64_t>(own[k].work);
        const auto all = gather_words(worker_, words);
        std::vector<CurvePart> parts;
        for (auto from = all.begin(); from != all.end(); from += static_cast<std::ptrdiff_t>(words.size()))
            for (std::ptrdiff_t k = 0; k < static_cast<std::ptrdiff_t>(*from); ++k)
                parts.push_back({from[1 + 2 * k], std::bit_cast<double>(from[2 + 2 * k])});
        return parts;
    }

    /// The walk of this worker's own tree, in parts of its targets: several where there are several messages to hide, or where messages are
    /// transferred between parts alone (MPI on the CPU).
    struct OwnWalk {
        DomainForce& force;
        WalkTargets targets;
        WalkField out;
        index_t count;  ///< of the targets
        int parts;

        void operator()(int part) const {
            force.parts_.walk.add([&] {
                if (parts == 1) return force.force_.accelerate(targets, out);
                const index_t first = count * part / parts, end = count * (part + 1) / parts;
                const auto list = force.numbered(targets);
                force.force_.accelerate({list.index.subview(first, end - first), false, list.acceleration}, out);
            });
        }
    };
    OwnWalk own_walk(const WalkTargets& targets, const WalkField& out) {
        const index_t count = targets.all ? octree().bodies().n : targets.index.n;
        const int messages = worker_.size() - 1;
        const auto wanted = std::min<index_t>(std::same_as<S, Cpu> && messages > 0 ? std::max(messages, 8) : messages, count / least_part);
        targets_ += static_cast<double>(count);
        return {*this, targets, out, count, static_cast<int>(std::max<index_t>(wanted, 1))};
    }
    /// Targets of a part of the own walk: so many that they occupy the space.
    static constexpr index_t least_part = std::same_as<S, Cpu> ? 1024 : index_t{1} << 17;

    /// Evaluates the force of all particles, from LETs that are joined with the own tree.
    void walk_joined(WalkTargets targets, const WalkField& out) {
        const index_t n = octree().bodies().n;
        parts_.walk.call([&] {
            if (exchange_.view().nodes == 0) return force_.accelerate(targets, out);
            targets.leading = targets.all ? n : 0;
            if (n > 0) walk()(exchange_.view(), targets, out);
        });
    }

    /// Adds the force of the other workers' particles.
    void walk_received(const WalkTargets& targets, const WalkField& out) {
        const index_t n = octree().bodies().n;
        if (worker_.size() == 1 || exchange_.view().nodes == 0) return parts_.walk.call([] {});
        WalkField more;
        auto* const memory = spare(n);
        if (!out.acceleration.empty()) more.acceleration = {reinterpret_cast<Vec3<float>*>(memory), n};
        if (!out.potential.empty()) more.potential = {reinterpret_cast<float*>(memory + n * static_cast<index_t>(sizeof(Vec3<float>))), n};
        parts_.walk.call([&] {
            walk()(exchange_.view(), numbered(targets), more);
            add_field(on_, targets, more, out);
        });
    }
    /// Memory for later(), or for the field of a second walk, of n particles.
    std::byte* spare(index_t n) {
        static_assert(sizeof(Body) == sizeof(Vec3<float>) + sizeof(float));
        spare_.resize_discarding(n * static_cast<index_t>(sizeof(Body)));
        return spare_.data();
    }

    /// Targets of the tree of LETs: its first bodies are those of this worker.
    WalkTargets numbered(const WalkTargets& targets) {
        if (!targets.all) return targets;
        const index_t n = octree().bodies().n;
        if (number_.size() < n) number_ = ascending<S>(on_, n + n / 8);
        return {View<const std::uint32_t>(number_.view().subview(0, n)), false, targets.acceleration};
    }

    S on_;
    Tree options_;
    comm::Worker& worker_;
    Workspace<S> work_;
    TreeForce<S> force_;
    DomainParts<S> parts_;
    EssentialExchange<S> exchange_;
    bool joins_;
    ParticleMoves<S> moves_;
    /// Trees in a frame before it is examined again: particles move little meanwhile, and a frame of another size costs no accuracy.
    static constexpr int largest_frame_uses = 8;
    Frame frame_;                          ///< of the domains
    int frame_uses_ = 0;                   ///< trees since the frame was examined
    std::vector<std::uint64_t> boundary_;  ///< of the domains
    KeptNodes<S> nodes_;
    GrowingBuffer<std::byte, S> spare_;
    Buffer<std::uint32_t, S> number_;
    bool kept_ = false, moved_ = false;
    bool updates_ = false;  ///< LETs are older than nodes and bodies
    double kept_time_ = 0, elapsed_ = 0;
    double work_per_force_ = 1, targets_ = 0;
};

}  // namespace kasane::gravity
