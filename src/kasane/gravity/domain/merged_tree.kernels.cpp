// Merges trees, once per Space.
#include <kasane/core/base/error.hpp>
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/merged_tree.hpp>

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

struct MergeNodes {
    OctreeView part;
    std::uint32_t root, root_next;    ///< place of the root, and the node behind its subtree
    std::uint32_t first, first_body;  ///< place of node 1, and of body 0
    MergedArrays to;

    KS_FN std::uint32_t place(std::uint32_t node) const { return merged_place(node, root, first); }
    KS_FN void operator()(index_t k) const {
        const auto at = place(static_cast<std::uint32_t>(k));
        auto test = part.test[k];
        test.begin += first_body;
        const auto link = part.link[k];
        const auto next = part.next[k];
        to.center[at] = part.center[k];
        to.test[at] = test;
        to.link[at] = link == leaf ? leaf : place(first_child(link)) | (child_count(link) - 1) << 29;
        to.next[at] = next == static_cast<std::uint32_t>(part.nodes) ? root_next : place(next);
        if (to.quadrupole) to.quadrupole[at] = part.quadrupole[k];
        if (to.node_term) to.node_term[at] = part.node_term[k];
    }
};

struct MergeBodies {
    OctreeView part;
    index_t first_body;
    MergedArrays to;
    KS_FN void operator()(index_t k) const {
        to.body[first_body + k] = part.body[k];
        if (to.body_term) to.body_term[first_body + k] = part.body_term[k];
    }
};

struct MoveCenters {
    OctreeView part;
    const Vec3<float>* velocity;
    float elapsed;
    std::uint32_t root, first;
    Body* center;
    KS_FN void operator()(index_t k) const {
        const Body then = part.center[k];
        const auto v = velocity[k];
        center[merged_place(static_cast<std::uint32_t>(k), root, first)] = {then.x + elapsed * v.x, then.y + elapsed * v.y,
                                                                            then.z + elapsed * v.z, then.m};
    }
};

struct MoveBodies {
    const Body* then;
    const BodyMotion* motion;
    float elapsed;
    Body* to;
    KS_FN void operator()(index_t k) const {
        const Body b = then[k];
        const auto [v, a] = motion[k];
        const float half = 0.5f * elapsed;
        to[k] = {b.x + elapsed * (v.x + half * a.x), b.y + elapsed * (v.y + half * a.y), b.z + elapsed * (v.z + half * a.z), b.m};
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
void MergedTree<S>::add(std::size_t part, const OctreeView& let) {
    const auto& place = place_[part];
    const auto to = merged_arrays(view_);
    parallel_for(on_, let.nodes, MergeNodes{let, place.root, place.behind, place.first, place.first_body, to});
    parallel_for(on_, let.bodies, MergeBodies{let, place.first_body, to});
}

template <Space S>
void MergedTree<S>::move(const std::vector<OctreeView>& parts, const std::vector<PartMotion>& motion, double elapsed) {
    const auto since = static_cast<float>(elapsed);
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto& part = parts[p];
        const auto& place = place_[p];
        parallel_for(on_, part.nodes, MoveCenters{part, motion[p].node, since, place.root, place.first, center_.data()});
        parallel_for(on_, part.bodies, MoveBodies{part.body, motion[p].body, since, body_.data() + place.first_body});
    }
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
