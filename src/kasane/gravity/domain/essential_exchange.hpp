// LETs between the workers: every worker sends those of its tree to the others, and merges those that it receives. Messages are transferred
// while the worker executes the work that the caller gives: the walk of its own tree.
// LETs are made for the targets of one force, or for targets of several forces, until a later time. The latter are kept and move.
// Invariants: all workers make the same calls in the same order; kept LETs are valid for all targets within the promised boxes.
#pragma once

#include <kasane/core/device/side_stream.hpp>
#include <kasane/gravity/domain/all_to_all.hpp>
#include <kasane/gravity/domain/domain_parts.hpp>
#include <kasane/gravity/domain/essential_motion.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>
#include <kasane/gravity/domain/merged_tree.hpp>
#include <kasane/gravity/domain/target_boxes.hpp>

#include <string>
#include <vector>

namespace kasane::gravity {

/// Sizes of the LETs that a worker received for its last force.
struct ReceivedTrees {
    std::uint64_t nodes = 0, bodies = 0, bytes = 0;
};

template <Space S>
class EssentialExchange {
   public:
    /// Collective. @param channel  number of the first channel for messages (Channels)   @param parts  lets and messages are timed
    EssentialExchange(S on, const Tree& options, comm::Worker& worker, int channel, comm::Engine engine, DomainParts<S>& parts)
        : on_(on),
          options_(options),
          worker_(worker),
          parts_(parts),
          channels_(on, worker, channel, engine),
          ready_(on, Urgency::high),
          work_(on),
          boxes_(on),
          all_boxes_(on, TargetBoxLayout::size * worker.size()),
          essential_(on),
          merged_(on) {
        for (int w = 0; w < worker.size(); ++w) partner_.emplace_back(on);
    }

    Channels<S>& channels() { return channels_; }
    /// "peer copies", "MPI through host memory", ...
    std::string engine() const { return channels_.text(); }
    const ReceivedTrees& received() const { return received_; }
    /// The LETs of the other workers, joined with the own tree or alone; without nodes if there are no LETs. This worker's targets have
    /// their numbers in its own tree.
    OctreeView view() const { return merged_.view(); }
    /// Messages are copies between the memories of one host: they take less time than a second walk costs.
    bool messages_are_fast() const { return channels_.engine() == comm::Engine::copy; }
    void place_targets(const OctreeView& tree, const WalkTargets& targets) { merged_.place_targets(tree, targets); }

    /// Takes a new topology of this worker's tree.
    void choose_boxes(const Octree<S>& octree) { boxes_.choose(octree.view(), octree.levels()); }

    /// Measures the boxes of the targets of all workers. @param tree  its bodies are read   @param meanwhile()  is called during the
    /// messages
    template <class F>
    void measure(const OctreeView& tree, const WalkTargets& targets, const F& meanwhile) {
        parts_.lets.call([&] { boxes_.measure(tree, targets, options_.G); });
        exchange_boxes(OneWork<F>{meanwhile});
    }
    /// Measures boxes for the targets of all workers from the present positions to the later ones. @param later [bodies]
    void promise(const OctreeView& tree, const WalkTargets& targets, View<const Body> later) {
        parts_.lets.call([&] { boxes_.promise(tree, targets, later, options_.G); });
        exchange_boxes(NoWork{});
    }
    /// Makes LETs for the boxes of all workers. @param octree  the own tree   @param joins  view() has the particles of all workers, in the
    /// memory of the own tree
    /// @param work  executed during the messages, see all_to_all()
    template <class Work>
    void make(Octree<S>& octree, bool joins, const Work& work) {
        const auto workers = static_cast<std::size_t>(worker_.size()), me = static_cast<std::size_t>(worker_.index());
        std::vector<std::uint64_t> sizes(2 * workers);
        parts_.lets.add([&] {
            std::vector<EssentialRequest<S>> requests;
            for (std::size_t w = 0; w < workers; ++w)
                if (w != me) requests.push_back({boxes_of(static_cast<std::ptrdiff_t>(w)), &partner_[w].part});
            essential_.make(octree.view(), octree.levels(), requests, options_.softening_kernel == SofteningKernel::spline);
            for (std::size_t w = 0; w < workers; ++w)
                if (w != me) sizes[2 * w] = partner_[w].part.size.nodes, sizes[2 * w + 1] = partner_[w].part.size.bodies;
        });
        const auto all = gathered(sizes);
        received_ = {};
        std::vector<EssentialSize> parts;
        for (std::size_t w = 0; w < workers; ++w) {
            const auto* const words = all.data() + 2 * (w * workers + me);
            partner_[w].size = {words[0], words[1]};
            if (words[0] > 0) parts.push_back(partner_[w].size);
        }
        const auto begin = [&] { parts_.lets.add([&] { merged_.begin(octree, arrays(), parts, joins); }); };
        send_and_receive(
            [&](Partner& to) { return View<const std::byte>(to.part.message.data(), essential_bytes(to.part.size, arrays())); },
            [&](Partner& from) {
                const index_t bytes = essential_bytes(from.size, arrays());
                received_.nodes += from.size.nodes, received_.bodies += from.size.bodies;
                received_.bytes += static_cast<std::uint64_t>(bytes);
                return space_for(from.incoming, bytes);
            },
            BeginThenWork<Work, decltype(begin)>{work, begin});
        parts_.lets.add([&] { merged_.add(received_parts(octree.view())); });
    }
    /// Whether targets of this worker have left the boxes for which its LETs were made, or have used half of a margin.
    bool outgrown(const OctreeView& tree, const WalkTargets& targets) { return boxes_.exceed_promise(tree, targets, options_.G); }

    /// Sends the motion of kept LETs, from the time at which they were made.
    /// @param nodes   those of the tree, at that time   @param bodies  those above the deep levels have not been kicked since
    void begin_motion(const OctreeView& tree, const MovingNodes& nodes, const MovingBodies& bodies) {
        const auto workers = static_cast<std::size_t>(worker_.size()), me = static_cast<std::size_t>(worker_.index());
        std::vector<std::uint64_t> listed(2 * workers);
        parts_.lets.add([&] {
            for (std::size_t w = 0; w < workers; ++w) {
                if (w == me) continue;
                auto& to = partner_[w];
                measure_motion(on_, work_, tree, to.part, nodes, bodies, to.motion);
                listed[2 * w] = static_cast<std::uint64_t>(to.motion.listed.bodies);
                listed[2 * w + 1] = static_cast<std::uint64_t>(to.motion.listed.nodes);
            }
        });
        const auto all = gathered(listed);
        for (std::size_t w = 0; w < workers; ++w) {
            const auto* const words = all.data() + 2 * (w * workers + me);
            partner_[w].listed = {static_cast<index_t>(words[0]), static_cast<index_t>(words[1])};
        }
        send_and_receive(
            [&](Partner& to) {
                return View<const std::byte>(to.motion.message.data(), essential_motion_bytes(to.part.size, to.motion.listed));
            },
            [&](Partner& from) { return space_for(from.incoming_motion, essential_motion_bytes(from.size, from.listed)); }, NoWork{});
    }

    /// Moves nodes and bodies of LETs to the present time, and sends the values of those that are listed.
    /// @param tree     with the present bodies and nodes
    /// @param elapsed  time since LETs were made   @param work  executed meanwhile, see all_to_all()
    template <class Work>
    void move(const OctreeView& tree, double elapsed, const Work& work) {
        send_and_receive(
            [&](Partner& to) {
                pack_update(on_, tree, to.part, to.motion);
                return View<const std::byte>(to.motion.update.data(), update_bytes(to.motion.listed));
            },
            [&](Partner& from) { return space_for(from.incoming_update, update_bytes(from.listed)); }, work);
        parts_.lets.add([&] {
            std::vector<PartMotion> motion;
            for (auto& from : partner_)
                if (from.size.nodes > 0) motion.push_back(essential_motion(from.incoming_motion.data(), from.size));
            merged_.move(received_parts(tree), motion, elapsed);
            std::size_t part = 0;
            for (auto& from : partner_) {
                if (from.size.nodes == 0) continue;
                const auto *const numbers = from.incoming_motion.data(), *const values = from.incoming_update.data();
                merged_.replace_bodies(part, listed_bodies(numbers, from.size, from.listed), updated_bodies(values, from.listed));
                merged_.replace_nodes(part++, listed_nodes(numbers, from.size, from.listed), updated_nodes(values, from.listed));
            }
        });
    }

   private:
    /// The LETs and messages to and from another worker.
    struct Partner {
        explicit Partner(S on) : part(on), motion(on), incoming(on, 0), incoming_motion(on, 0), incoming_update(on, 0) {}
        EssentialPart<S> part;
        EssentialMotion<S> motion;
        EssentialSize size;      ///< of the LET that was received
        EssentialListed listed;  ///< numbers of its bodies and nodes that arrive for every force
        Buffer<std::byte, S> incoming, incoming_motion, incoming_update;
    };

    EssentialArrays arrays() const { return {options_.multipole == Multipole::quadrupole, combines_softenings(options_)}; }

    /// Work that is hidden by the messages of LETs: the beginning of the merged tree, then the work of the caller.
    template <class Work, class Begin>
    struct BeginThenWork {
        const Work& work;
        const Begin& begin;
        int parts = work.parts + 1;
        void operator()(int part) const { part == 0 ? begin() : work(part - 1); }
    };

    template <class Work>
    void exchange_boxes(const Work& work) {
        const auto own = boxes_.boxes();
        send_and_receive(
            [&](Partner&) { return View<const std::byte>(reinterpret_cast<const std::byte*>(own.ptr), box_bytes); },
            [&](Partner& from) { return View<std::byte>(reinterpret_cast<std::byte*>(boxes_of(&from - partner_.data()).ptr), box_bytes); },
            work);
    }

    /// The LETs that this worker received, without those that are empty.
    std::vector<OctreeView> received_parts(const OctreeView& tree) const {
        std::vector<OctreeView> all;
        for (const auto& from : partner_)
            if (from.size.nodes > 0) all.push_back(essential_view(from.incoming.data(), from.size, arrays(), tree.frame));
        return all;
    }

    std::vector<std::uint64_t> gathered(const std::vector<std::uint64_t>& own) {
        std::vector<std::uint64_t> all;
        parts_.messages.add([&] { all = gather_words(worker_, own); });
        return all;
    }

    /// Exchanges messages with all other workers. @param outgoing, incoming  give the bytes to and from a partner
    template <class Out, class In, class Work>
    void send_and_receive(Out outgoing, In incoming, const Work& work) {
        std::vector<View<const std::byte>> send(partner_.size());
        std::vector<View<std::byte>> receive(partner_.size());
        for (std::size_t w = 0; w < partner_.size(); ++w) {
            if (static_cast<int>(w) == worker_.index()) continue;
            send[w] = outgoing(partner_[w]);
            receive[w] = incoming(partner_[w]);
        }
        ready_.follow(on_);  // messages do not wait for the work that hides them
        all_to_all(ready_.space(), on_, worker_, channels_, send, receive, work, [&](auto finish) { parts_.messages.call(finish); });
    }

    static View<std::byte> space_for(Buffer<std::byte, S>& buffer, index_t bytes) {
        if (buffer.size() < bytes) buffer.reserve_discarding(bytes + bytes / 16);
        return {buffer.data(), bytes};
    }

    View<TargetBox> boxes_of(std::ptrdiff_t worker) {
        return all_boxes_.view().subview(TargetBoxLayout::size * worker, TargetBoxLayout::size);
    }
    static constexpr index_t box_bytes = TargetBoxLayout::size * static_cast<index_t>(sizeof(TargetBox));

    S on_;
    Tree options_;
    comm::Worker& worker_;
    DomainParts<S>& parts_;
    Channels<S> channels_;
    SideStream<S> ready_;
    Workspace<S> work_;
    TargetBoxes<S> boxes_;
    Buffer<TargetBox, S> all_boxes_;
    EssentialTree<S> essential_;
    MergedTree<S> merged_;
    std::vector<Partner> partner_;  ///< of each worker; that of this one is not used
    ReceivedTrees received_;
};

}  // namespace kasane::gravity
