// Selection and packing of LETs, once per Space: count, scan and fill.
#include <kasane/core/device/kernels.hpp>
#include <kasane/gravity/domain/equivalent_bodies.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>

namespace kasane::gravity {
namespace {

enum NodeState : std::uint8_t {
    left_out,
    closed,  ///< sent without its children or bodies
    opened,  ///< sent with its children or bodies
};

/// An inner node of an LET has at least so many bodies for the walks, which read the bodies of small nodes instead of their children:
/// an LET has no contiguous bodies of inner nodes.
constexpr std::uint32_t inner_count = 1u << 16;

struct ClearSelection {
    const TargetBox* box;
    std::uint32_t *sent, *bodies;
    KS_FN void operator()(index_t i) const {
        sent[i] = i == 0 && !box[0].empty() ? 1 : 0;
        bodies[i] = 0;
    }
};

/// Decides on the nodes of a level; the levels above it are decided.
struct SelectNodes {
    OctreeView tree;
    const TargetBox* box;
    NodeCriterion by;
    index_t first;
    std::uint32_t *sent, *bodies;
    std::uint8_t* state;
    KS_FN void operator()(index_t k) const {
        const index_t i = first + k;
        if (!sent[i]) {
            state[i] = left_out;
            return;
        }
        const auto test = tree.test[i];
        const auto link = tree.link[i];
        if (accepts_for_all(box, tree.center[i], test, tree.node_term ? tree.node_term[i] : 0.f, by)) {
            state[i] = closed;
            bodies[i] = equivalent_bodies(by.quadrupole);
            return;
        }
        state[i] = opened;
        if (link == leaf)
            bodies[i] = test.count;
        else
            for (std::uint32_t child = 0; child < child_count(link); ++child) sent[first_child(link) + child] = 1;
    }
};

/// The arrays of a message, for writing.
struct EssentialOut {
    Body *center, *body;
    NodeTest* test;
    NodeLink* link;
    std::uint32_t* next;
    Quadrupole* quadrupole;
    float *node_term, *body_term;
};

EssentialOut writable(const OctreeView& v) {
    return {const_cast<Body*>(v.center),     const_cast<Body*>(v.body),          const_cast<NodeTest*>(v.test),
            const_cast<NodeLink*>(v.link),   const_cast<std::uint32_t*>(v.next), const_cast<Quadrupole*>(v.quadrupole),
            const_cast<float*>(v.node_term), const_cast<float*>(v.body_term)};
}

struct PackNodes {
    OctreeView tree;
    const std::uint32_t *index, *first_body;  ///< in the LET
    const std::uint8_t* state;
    EssentialNode* node;
    EssentialOut out;
    KS_FN void operator()(index_t i) const {
        if (state[i] == left_out) return;
        const std::uint32_t to = index[i], begin = first_body[i];
        const auto link = tree.link[i];
        const bool inner = state[i] == opened && link != leaf;
        auto test = tree.test[i];
        const std::uint32_t from = test.begin;
        test.begin = begin;
        test.count = inner ? inner_count : first_body[i + 1] - begin;
        node[to] = EssentialNode::make(static_cast<std::uint32_t>(i), inner                ? EssentialNode::inner
                                                                      : state[i] == opened ? EssentialNode::bodies
                                                                                           : EssentialNode::closed);
        out.center[to] = tree.center[i];
        out.test[to] = test;
        out.link[to] = inner ? index[first_child(link)] | (child_count(link) - 1) << 29 : leaf;
        out.next[to] = index[tree.next[i]];
        if (out.quadrupole) out.quadrupole[to] = tree.quadrupole[i];
        if (out.node_term) out.node_term[to] = tree.node_term[i];
        if (inner) return;
        if (state[i] == opened) {
            for (std::uint32_t k = 0; k < test.count; ++k) {
                out.body[begin + k] = tree.body[from + k];
                if (out.body_term) out.body_term[begin + k] = tree.body_term[from + k];
            }
            return;
        }
        write_equivalent(tree.center[i], out.quadrupole ? tree.quadrupole + i : nullptr, out.body + begin);
        if (out.body_term)
            for (std::uint32_t k = 0; k < test.count; ++k) out.body_term[begin + k] = tree.node_term[i];
    }
};

}  // namespace

template <Space S>
void EssentialTree<S>::make(const OctreeView& tree, const std::vector<std::uint32_t>& levels, View<const TargetBox> box, bool spline,
                            EssentialPart<S>& part) {
    const index_t nodes = tree.nodes;
    part.size = {};
    if (nodes == 0) return;
    sent_.reserve_discarding(nodes + 1);
    bodies_.reserve_discarding(nodes + 1);
    state_.reserve_discarding(nodes);
    const auto sent = sent_.view().subview(0, nodes + 1), bodies = bodies_.view().subview(0, nodes + 1);
    const NodeCriterion by{tree.quadrupole != nullptr, spline};
    parallel_for(on_, nodes + 1, ClearSelection{box.ptr, sent.ptr, bodies.ptr});
    for (std::size_t level = 0; level + 1 < levels.size(); ++level)
        parallel_for(on_, levels[level + 1] - levels[level],
                     SelectNodes{tree, box.ptr, by, levels[level], sent.ptr, bodies.ptr, state_.data()});
    exclusive_scan(on_, work_, View<const std::uint32_t>(sent), sent);
    exclusive_scan(on_, work_, View<const std::uint32_t>(bodies), bodies);
    std::uint32_t total[2] = {};
    copy_to_host(on_, View<std::uint32_t>(total, 1), View<const std::uint32_t>(sent).subview(nodes, 1));
    copy_to_host(on_, View<std::uint32_t>(total + 1, 1), View<const std::uint32_t>(bodies).subview(nodes, 1));
    part.size = {total[0], total[1]};
    if (part.size.nodes == 0) return;
    const EssentialArrays arrays{by.quadrupole, tree.node_term != nullptr};
    const auto sent_nodes = static_cast<index_t>(part.size.nodes);
    if (const index_t bytes = essential_bytes(part.size, arrays); part.message.size() < bytes)
        part.message.reserve_discarding(bytes + bytes / 8);
    if (part.node.size() < sent_nodes) part.node.reserve_discarding(sent_nodes + sent_nodes / 8);
    const auto out = writable(essential_view(part.message.data(), part.size, arrays, tree.frame));
    parallel_for(on_, nodes, PackNodes{tree, sent.ptr, bodies.ptr, state_.data(), part.node.data(), out});
}

template class EssentialTree<KS_SPACE>;

}  // namespace kasane::gravity
