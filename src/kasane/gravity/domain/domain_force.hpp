// The tree code on many workers ([OMBMN12] section 6): each has the particles of a domain, a range of the space-filling curve, and their
// tree; for a force it receives the LETs of the other domains and walks one tree of all parts.
// Invariants: all workers make the same calls in the same order; with one worker the tree is that of TreeForce, without copies; LETs belong
// to the bodies of one force, so that the criterion holds for every cell.
#pragma once

#include <kasane/gravity/domain/common_frame.hpp>
#include <kasane/gravity/domain/curve_parts.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>
#include <kasane/gravity/domain/merged_tree.hpp>
#include <kasane/gravity/domain/move_particles.hpp>
#include <kasane/gravity/step/motion.hpp>
#include <kasane/gravity/tree/tree_force.hpp>

#include <bit>
#include <utility>
#include <variant>
#include <vector>

namespace kasane::gravity {

/// Sizes of the LETs that a worker received for its last force.
struct ReceivedTrees {
    std::uint64_t nodes = 0, bodies = 0, bytes = 0;
};

template <Space S>
class DomainForce {
   public:
    /// Collective. @param channel  number of the channel for messages   @throws InputError: an option is out of range
    DomainForce(S on, const Tree& options, comm::Worker& worker, int channel = 0, comm::Engine engine = comm::Engine::automatic)
        : on_(on),
          options_(options),
          worker_(worker),
          channel_(on, worker, channel, engine),
          work_(on),
          force_(on, options),
          boxes_(on),
          all_boxes_(on, TargetBoxLayout::size * worker.size()),
          essential_(on),
          merged_(on),
          outgoing_(static_cast<std::size_t>(worker.size())),
          incoming_(outgoing_.size()) {}

    Octree<S>& octree() { return force_.octree(); }
    Walk<S>& walk() { return force_.walk(); }
    const ReceivedTrees& received() const { return received_; }
    /// "peer copies", "MPI through host memory", ...
    std::string engine() const { return channel_.text(); }

    /// Divides the particles into domains of equal work, moves them to their workers, and builds the topology of the trees. The caller then
    /// writes the bodies again, in their new order. Collective.
    /// @param system  any particles of all workers with their numbers (`given`); becomes those of this worker's domain in curve order
    /// @param total   particles of all workers
    /// @param levels  the levels of the particles are their time steps, and their work is that of all their forces in dt_max
    /// @param place   writes the bodies of octree() from the system: for example, predicted ones
    /// @throws ComputationError on every worker: positions are not finite
    template <class Place>
    void rebuild(System<S, Vec3<float>>& system, index_t total, bool levels, Place place) {
        auto& tree = octree();
        const auto frame = common_frame<S>(on_, work_, worker_, system.position.view(), system.mass.view(), system.given.view(), total);
        const auto sort = [&] {
            tree.use_frame(frame, system.count());
            place();
            tree.sort();
            system.reorder(tree.order());
        };
        sort();
        if (worker_.size() > 1) {
            const auto level = levels ? View<const std::uint8_t>(system.level.view()) : View<const std::uint8_t>{};
            const auto own = curve_parts<S>(on_, tree.keys(), level, work_per_force_, parts_per_worker(worker_.size()));
            const auto boundary = domain_boundaries(all_parts(own), worker_.size());
            move_particles(on_, worker_, channel_, system, domain_begins<S>(on_, tree.keys(), boundary));
            sort();
        }
        tree.build(system.softening.view());
        boxes_.choose(tree.view());
    }

    /// Evaluates the force on targets of all workers, from the present bodies and the moments of the last refresh(). Collective; a worker
    /// may have no targets. `all` means all bodies of this worker.
    void accelerate(const WalkTargets& targets, const WalkField& out) {
        if (worker_.size() == 1) {
            force_.accelerate(targets, out);
        } else {
            exchange(targets);
            if (const auto tree = merged_.view(); tree.nodes > 0) walk()(tree, numbered(targets), out);
        }
        targets_ += static_cast<double>(targets.all ? octree().bodies().n : targets.index.n);
    }

    /// The same for all bodies, without a last acceleration. With the acceleration criterion, a geometric walk (theta = 0.5) comes first;
    /// the counts of the walk do not include it. Collective.
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

    /// Sends the LETs of this domain, receives those of the others and merges all parts.
    void exchange(const WalkTargets& targets) {
        const auto workers = static_cast<std::size_t>(worker_.size()), me = static_cast<std::size_t>(worker_.index());
        const auto tree = octree().view();
        boxes_.measure(tree, targets, options_.G);
        std::vector<View<const std::byte>> send(workers, as_bytes(boxes_.boxes()));
        std::vector<View<std::byte>> receive;
        for (std::size_t w = 0; w < workers; ++w) receive.push_back(as_bytes(boxes_of(w)));
        all_to_all(on_, worker_, channel_, send, receive);

        std::vector<std::uint64_t> sizes(2 * workers);
        for (std::size_t w = 0; w < workers; ++w) {
            if (w == me) continue;
            const bool spline = options_.softening_kernel == SofteningKernel::spline;
            const auto size = essential_.make(tree, octree().levels(), boxes_of(w), spline, outgoing_[w]);
            sizes[2 * w] = size.nodes, sizes[2 * w + 1] = size.bodies;
        }
        const auto all = gather_words(worker_, sizes);
        const EssentialArrays arrays{options_.multipole == Multipole::quadrupole, combines_softenings(options_)};
        const auto size_of = [&](std::size_t from, std::size_t to) {
            const auto* const words = all.data() + 2 * (from * workers + to);
            return EssentialSize{words[0], words[1]};
        };
        received_ = {};
        std::vector<OctreeView> parts;
        if (tree.nodes > 0) parts.push_back(tree);
        for (std::size_t w = 0; w < workers; ++w) {
            const auto size = size_of(w, me);
            const index_t out = essential_bytes(size_of(me, w), arrays), in = essential_bytes(size, arrays);
            incoming_[w].reserve_discarding(in);
            send[w] = {outgoing_[w].data(), out};
            receive[w] = {incoming_[w].data(), in};
            if (size.nodes > 0) parts.push_back(essential_view(incoming_[w].data(), size, arrays, tree.frame));
            received_.nodes += size.nodes, received_.bodies += size.bodies, received_.bytes += static_cast<std::uint64_t>(in);
        }
        all_to_all(on_, worker_, channel_, send, receive);
        merged_.merge(parts);
    }

    /// Targets of the merged tree: its first bodies are those of this worker.
    WalkTargets numbered(const WalkTargets& targets) {
        if (!targets.all) return targets;
        const index_t n = octree().bodies().n;
        if (number_.size() < n) number_ = ascending<S>(on_, n);
        return {View<const std::uint32_t>(number_.view().subview(0, n)), false, targets.acceleration};
    }

    View<TargetBox> boxes_of(std::size_t w) {
        return all_boxes_.view().subview(TargetBoxLayout::size * static_cast<index_t>(w), TargetBoxLayout::size);
    }
    static View<const std::byte> as_bytes(View<const TargetBox> of) {
        return {reinterpret_cast<const std::byte*>(of.ptr), of.n * static_cast<index_t>(sizeof(TargetBox))};
    }
    static View<std::byte> as_bytes(View<TargetBox> of) {
        return {reinterpret_cast<std::byte*>(of.ptr), of.n * static_cast<index_t>(sizeof(TargetBox))};
    }

    S on_;
    Tree options_;
    comm::Worker& worker_;
    comm::Channel<S> channel_;
    Workspace<S> work_;
    TreeForce<S> force_;
    TargetBoxes<S> boxes_;
    Buffer<TargetBox, S> all_boxes_;
    EssentialTree<S> essential_;
    MergedTree<S> merged_;
    std::vector<Buffer<std::byte, S>> outgoing_, incoming_;
    Buffer<std::uint32_t, S> number_;
    ReceivedTrees received_;
    double work_per_force_ = 1, targets_ = 0;
};

}  // namespace kasane::gravity
