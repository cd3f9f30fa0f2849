// Merges trees, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/merged_tree.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace kasane::gravity {
namespace {

/// The arrays of the merged tree.
struct MergedArrays {
    Body *body, *center;
    NodeTest* test;
    NodeLink* link;
    std::uint32_t* next;
    Quadrupole* quadrupole;
    float *body_term, *node_term;
};

MergedArrays merged_arrays(const OctreeView& v) {
    return {const_cast<Body*>(v.body),       const_cast<Body*>(v.center),        const_cast<NodeTest*>(v.test),
            const_cast<NodeLink*>(v.link),   const_cast<std::uint32_t*>(v.next), const_cast<Quadrupole*>(v.quadrupole),
            const_cast<float*>(v.body_term), const_cast<float*>(v.node_term)};
}

/// Place of a node of a part whose root and whose node 1 are there.
KS_FN std::uint32_t merged_place(std::uint32_t node, std::uint32_t root, std::uint32_t first) {
    return node == 0 ? root : first + node - 1;
}

/// An LET and its place in the merged tree: `begin` is the number of nodes and bodies of those before it.
struct PlacedPart {
    const Body *center, *body;
    const NodeTest* test;
    const NodeLink* link;
    const std::uint32_t* next;
    const Quadrupole* quadrupole;
    const float *node_term, *body_term;
    const Vec3<float>* node_motion;  ///< as of PartMotion
    const BodyMotion* body_motion;
    std::uint32_t nodes, begin;
    std::uint32_t root, behind;       ///< place of the root, and the node after its subtree
    std::uint32_t first, first_body;  ///< place of node 1, and of body 0

    KS_FN std::uint32_t place(std::uint32_t node) const { return merged_place(node, root, first); }
};

/// Several LETs, for one launch for the nodes and bodies of all of them.
struct PlacedParts {
    static constexpr int most = 32;  ///< 104 bytes for each of them in the 4 KiB that the arguments of a kernel may have
    PlacedPart part[most];
    int count = 0;
    std::uint32_t elements = 0;  ///< nodes and bodies

    /// The part of an element.
    KS_FN const PlacedPart& of(std::uint32_t element) const {
        int low = 0, high = count;  // part[low].begin <= element < part[high].begin
        while (high - low > 1) {
            const int half = (low + high) / 2;
            if (part[half].begin <= element)
                low = half;
            else
                high = half;
        }
        return part[low];
    }
};

struct MergeParts {
    PlacedParts parts;
    MergedArrays to;

    KS_FN void operator()(index_t element) const {
        const auto& part = parts.of(static_cast<std::uint32_t>(element));
        const std::uint32_t k = static_cast<std::uint32_t>(element) - part.begin;
        if (k >= part.nodes) {
            const std::uint32_t b = k - part.nodes, at = part.first_body + b;
            to.body[at] = part.body[b];
            if (to.body_term) to.body_term[at] = part.body_term[b];
            return;
        }
        const auto at = part.place(k);
        auto test = part.test[k];
        test.begin += part.first_body;
        const auto link = part.link[k];
        const auto next = part.next[k];
        to.center[at] = part.center[k];
        to.test[at] = test;
        to.link[at] = link == leaf ? leaf : part.place(first_child(link)) | (child_count(link) - 1) << 29;
        to.next[at] = next == part.nodes ? part.behind : part.place(next);
        if (to.quadrupole) to.quadrupole[at] = part.quadrupole[k];
        if (to.node_term) to.node_term[at] = part.node_term[k];
    }
};

struct MoveParts {
    PlacedParts parts;
    float elapsed;
    Body *center, *body;

    KS_FN void operator()(index_t element) const {
        const auto& part = parts.of(static_cast<std::uint32_t>(element));
        const std::uint32_t k = static_cast<std::uint32_t>(element) - part.begin;
        if (k >= part.nodes) {
            const std::uint32_t b = k - part.nodes;
            const Body then = part.body[b];
            const auto [v, a] = part.body_motion[b];
            const float half = 0.5f * elapsed;
            body[part.first_body + b] = {then.x + elapsed * (v.x + half * a.x), then.y + elapsed * (v.y + half * a.y),
                                         then.z + elapsed * (v.z + half * a.z), then.m};
            return;
        }
        const Body then = part.center[k];
        const auto v = part.node_motion[k];
        center[part.place(k)] = {then.x + elapsed * v.x, then.y + elapsed * v.y, then.z + elapsed * v.z, then.m};
    }
};

struct ReplaceBodies {
    View<const std::uint32_t> number;
    const Body* from;
    Body* to;
    KS_FN void operator()(index_t k) const { to[number[k]] = from[k]; }
};

/// Walks take the mass of a target itself from the masses at its place, and no node of the LETs has it: it is 0.
struct PlaceTargets {
    OctreeView own;
    const std::uint32_t* index;  ///< null: all bodies
    Body* body;
    float* term;
    KS_FN void operator()(index_t k) const {
        const index_t i = index ? static_cast<index_t>(index[k]) : k;
        const Body b = own.body_at(i);
        body[i] = {b.x, b.y, b.z, 0};
        if (term) term[i] = own.body_term[i];
    }
};

struct AddField {
    const std::uint32_t* index;  ///< null: all bodies
    WalkField more, to;
    KS_FN void operator()(index_t k) const {
        const index_t i = index ? static_cast<index_t>(index[k]) : k;
        if (!to.acceleration.empty()) to.acceleration[i] += more.acceleration[i];
        if (!to.potential.empty()) to.potential[i] += more.potential[i];
    }
};

/// The arrays of nodes that change when bodies move.
struct NodeValueArrays {
    Body* center;
    NodeTest* test;
    Quadrupole* quadrupole;
    KS_FN void write(std::uint32_t at, const NodeValues& values, bool closed) const {
        center[at] = values.center;
        const NodeTest found{values.radius2, values.weight, test[at].begin, test[at].count};
        test[at] = closed ? always_accepted(found) : found;
        if (quadrupole) quadrupole[at] = values.quadrupole;
    }
};

struct ReplaceNodes {
    const EssentialNode* number;
    const NodeValues* values;
    std::uint32_t root, first;
    NodeValueArrays to;
    KS_FN void operator()(index_t k) const {
        to.write(merged_place(number[k].node(), root, first), values[k], number[k].kind() == EssentialNode::closed);
    }
};

/// A node above the roots, which no criterion accepts.
struct MakeTop {
    const NodeLink* link;
    const std::uint32_t* next;
    std::uint32_t base, first_body, nodes;
    MergedArrays to;
    KS_FN void operator()(index_t k) const {
        const index_t at = base + k;
        to.center[at] = {0, 0, 0, 0};
        to.test[at] = {INFINITY, INFINITY, first_body, inner_bodies};
        to.link[at] = link[k] + base;
        to.next[at] = next[k] == TreeTop::end ? nodes : base + next[k];
        if (to.quadrupole) to.quadrupole[at] = {};
        if (to.node_term) to.node_term[at] = 0;
    }
};

struct WriteIndex {
    std::uint32_t* to;
    KS_FN void operator()(index_t i) const { to[i] = static_cast<std::uint32_t>(i); }
};

template <class T, Space S>
void hold(S on, Buffer<T, S>& buffer, index_t n) {
    if (buffer.size() >= n) return;
    buffer = {};
    buffer = Buffer<T, S>(on, n + n / 16);
}

}  // namespace

template <Space S>
void MergedTree<S>::begin(Octree<S>& octree, const EssentialArrays& arrays, const std::vector<EssentialSize>& parts, bool joins) {
    view_ = {};
    place_.clear();
    if (parts.empty()) return;
    const auto own = octree.view();
    joins = joins && own.nodes > 0;
    const auto roots = static_cast<std::uint32_t>(parts.size());
    const auto top = tree_top(roots);
    const auto base = static_cast<std::uint32_t>(joins ? own.nodes : 0), above = static_cast<std::uint32_t>(top.link.size());
    index_t nodes = static_cast<index_t>(base) + above, bodies = own.bodies;
    for (const auto& part : parts) nodes += static_cast<index_t>(part.nodes), bodies += static_cast<index_t>(part.bodies);
    if (nodes >= static_cast<index_t>(largest_node_count) || bodies >= index_t{1} << 31)
        throw ComputationError("the parts of the other workers' trees, with the particles of a worker, have " + std::to_string(nodes) +
                               " nodes and " + std::to_string(bodies) + " bodies, more than a tree can number: use more workers");
    if (joins) {
        octree.reserve_behind(nodes - own.nodes, bodies - own.bodies);
        view_ = octree.view();
        view_.second_root = base;
    } else {
        hold(on_, body_, bodies);
        hold(on_, center_, nodes);
        hold(on_, test_, nodes);
        hold(on_, link_, nodes);
        hold(on_, next_, nodes);
        if (arrays.quadrupole) hold(on_, quadrupole_, nodes);
        if (arrays.terms) hold(on_, node_term_, nodes), hold(on_, body_term_, bodies);
        view_.body = body_.data(), view_.center = center_.data(), view_.test = test_.data();
        view_.link = link_.data(), view_.next = next_.data();
        view_.quadrupole = arrays.quadrupole ? quadrupole_.data() : nullptr;
        view_.frame = own.frame;
        view_.body_term = arrays.terms ? body_term_.data() : nullptr, view_.node_term = arrays.terms ? node_term_.data() : nullptr;
        place_targets(own, {});  // walks on the CPU also read the positions of bodies between targets, to choose groups
    }
    view_.nodes = nodes, view_.bodies = bodies;

    auto first_body = static_cast<std::uint32_t>(own.bodies);
    const auto place_of = [&](std::uint32_t next) { return next == TreeTop::end ? static_cast<std::uint32_t>(nodes) : base + next; };
    if (above > 0) {
        if (top_.roots != roots) top_ = {roots, to_space(on_, top.link), to_space(on_, top.next)};
        parallel_for(
            on_, above,
            MakeTop{top_.link.data(), top_.next.data(), base, first_body, static_cast<std::uint32_t>(nodes), merged_arrays(view_)});
    }
    std::uint32_t first = base + above + roots;  // place of the next node that is no root
    for (std::uint32_t p = 0; p < roots; ++p) {
        const auto& part = parts[p];
        place_.push_back({base + above + p, first, first_body, place_of(top.next[above + p])});
        first += static_cast<std::uint32_t>(part.nodes) - 1;
        first_body += static_cast<std::uint32_t>(part.bodies);
    }
}

template <Space S>
template <class Make>
void MergedTree<S>::for_parts(const std::vector<OctreeView>& lets, const std::vector<PartMotion>& motion, Make make) const {
    for (std::size_t first = 0; first < lets.size(); first += PlacedParts::most) {
        PlacedParts parts;
        for (std::size_t p = first; p < std::min(first + PlacedParts::most, lets.size()); ++p) {
            const auto& let = lets[p];
            const auto& place = place_[p];
            const PartMotion moves = motion.empty() ? PartMotion{} : motion[p];
            const auto nodes = static_cast<std::uint32_t>(let.nodes);
            parts.part[parts.count++] = {let.center,    let.body,      let.test,    let.link,        let.next, let.quadrupole,
                                         let.node_term, let.body_term, moves.node,  moves.body,      nodes,    parts.elements,
                                         place.root,    place.behind,  place.first, place.first_body};
            parts.elements += nodes + static_cast<std::uint32_t>(let.bodies);
        }
        parallel_for(on_, parts.elements, make(parts));
    }
}

template <Space S>
void MergedTree<S>::add(const std::vector<OctreeView>& lets) {
    for_parts(lets, {}, [&](const PlacedParts& parts) { return MergeParts{parts, merged_arrays(view_)}; });
}

template <Space S>
void MergedTree<S>::move(const std::vector<OctreeView>& lets, const std::vector<PartMotion>& motion, double elapsed) {
    for_parts(lets, motion,
              [&](const PlacedParts& parts) { return MoveParts{parts, static_cast<float>(elapsed), center_.data(), body_.data()}; });
}

template <Space S>
void MergedTree<S>::replace_bodies(std::size_t part, View<const std::uint32_t> number, View<const Body> body) {
    parallel_for(on_, number.n, ReplaceBodies{number, body.ptr, body_.data() + place_[part].first_body});
}

template <Space S>
void MergedTree<S>::replace_nodes(std::size_t part, View<const EssentialNode> number, View<const NodeValues> values) {
    const NodeValueArrays to{center_.data(), test_.data(), view_.quadrupole ? quadrupole_.data() : nullptr};
    parallel_for(on_, number.n, ReplaceNodes{number.ptr, values.ptr, place_[part].root, place_[part].first, to});
}

template <Space S>
void MergedTree<S>::place_targets(const OctreeView& own, const WalkTargets& targets) {
    parallel_for(on_, targets.all ? own.bodies : targets.index.n,
                 PlaceTargets{own, targets.all ? nullptr : targets.index.ptr, body_.data(), view_.body_term ? body_term_.data() : nullptr});
}

template <Space S>
Buffer<std::uint32_t, S> ascending(S on, index_t n) {
    Buffer<std::uint32_t, S> index(on, n);
    parallel_for(on, n, WriteIndex{index.data()});
    return index;
}

template <Space S>
void add_field(S on, const WalkTargets& targets, const WalkField& more, const WalkField& to) {
    const index_t n = !targets.all ? targets.index.n : to.acceleration.empty() ? to.potential.n : to.acceleration.n;
    parallel_for(on, n, AddField{targets.all ? nullptr : targets.index.ptr, more, to});
}

template class MergedTree<KS_SPACE>;
template Buffer<std::uint32_t, KS_SPACE> ascending(KS_SPACE, index_t);
template void add_field(KS_SPACE, const WalkTargets&, const WalkField&, const WalkField&);

}  // namespace kasane::gravity
