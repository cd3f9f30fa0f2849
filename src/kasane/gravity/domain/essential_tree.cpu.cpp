// Selection and packing of LETs on the CPU, one LET after the other: count, scan and fill over all nodes of the tree.
#include <kasane/core/device/parallel.hpp>
#include <kasane/gravity/domain/essential_pack.hpp>

namespace kasane::gravity {
namespace {

enum NodeState : std::uint8_t {
    left_out,
    closed,  ///< sent without its children or bodies
    opened,  ///< sent with its children or bodies
};

/// The selection for a domain.
struct Selection {
    OctreeView tree;
    NodeCriterion by;
    const TargetBox* box;
    std::uint32_t *sent, *bodies;  ///< [nodes + 1] flags of the nodes that are sent, and numbers of their bodies; then sums of all before
    std::uint8_t* state;           ///< [nodes]
};

struct ClearSelection {
    Selection of;
    void operator()(index_t i) const {
        of.sent[i] = i == 0 ? 1 : 0;
        of.bodies[i] = 0;
    }
};

/// Decides on the nodes of a level; the levels above it are decided.
struct SelectNodes {
    Selection of;
    index_t first;
    void operator()(index_t k) const {
        const index_t i = first + k;
        const auto& tree = of.tree;
        if (!of.sent[i]) {
            of.state[i] = left_out;
            return;
        }
        const bool accepted = accepts_for_all(of.box, tree.center[i], tree.test[i], tree.node_term ? tree.node_term[i] : 0.f, of.by);
        of.state[i] = accepted ? closed : opened;
        if (accepted) return;
        if (const auto link = tree.link[i]; link == leaf)
            of.bodies[i] = tree.test[i].count;
        else
            for (std::uint32_t child = 0; child < child_count(link); ++child) of.sent[first_child(link) + child] = 1;
    }
};

/// Writes the nodes and their bodies to a message.
struct PackNodes {
    Selection of;
    EssentialOut out;
    void operator()(index_t i) const {
        const auto state = of.state[i];
        if (state == left_out) return;
        const auto& tree = of.tree;
        const auto link = tree.link[i];
        EssentialPlace at{static_cast<std::uint32_t>(i), of.sent[i], of.sent[tree.next[i]], leaf, of.bodies[i]};
        if (state == opened && link != leaf) at.link = of.sent[first_child(link)] | (child_count(link) - 1) << 29;
        out.write(tree, at, state == closed ? EssentialNode::closed : link == leaf ? EssentialNode::bodies : EssentialNode::inner, 0, 1);
    }
};

}  // namespace

template <>
struct EssentialTree<Cpu>::State {
    Cpu on;
    Workspace<Cpu> work{on};
    Buffer<std::uint32_t, Cpu> offset{on, 0};
    Buffer<std::uint8_t, Cpu> state{on, 0};
};

template <>
EssentialTree<Cpu>::EssentialTree(Cpu on) : state_(new State{on}) {}
template <>
EssentialTree<Cpu>::~EssentialTree() = default;

template <>
void EssentialTree<Cpu>::make(const OctreeView& tree, const std::vector<std::uint32_t>& levels,
                              const std::vector<EssentialRequest<Cpu>>& requests, bool spline) {
    const index_t nodes = tree.nodes;
    auto& s = *state_;
    const EssentialArrays arrays{tree.quadrupole != nullptr, tree.node_term != nullptr};
    for (const auto& request : requests) {
        auto& part = *request.part;
        part.size = {};
        if (nodes == 0 || request.box[0].empty()) continue;
        hold_elements(s.offset, 2 * (nodes + 1));
        hold_elements(s.state, nodes);
        const Selection of{tree,          {arrays.quadrupole, spline}, request.box.ptr, s.offset.data(), s.offset.data() + nodes + 1,
                           s.state.data()};
        parallel_for(s.on, nodes + 1, ClearSelection{of});
        for (std::size_t level = 0; level + 1 < levels.size(); ++level)
            parallel_for(s.on, levels[level + 1] - levels[level], SelectNodes{of, levels[level]});
        for (auto* const sums : {of.sent, of.bodies}) {
            const View<std::uint32_t> all(sums, nodes + 1);
            exclusive_scan(s.on, s.work, View<const std::uint32_t>(all), all);
        }
        part.size = {of.sent[nodes], of.bodies[nodes]};
        hold_elements(part.message, essential_bytes(part.size, arrays));
        hold_elements(part.node, static_cast<index_t>(part.size.nodes));
        parallel_for(s.on, nodes, PackNodes{of, {part.message.data(), part.size, part.node.data()}});
    }
}

}  // namespace kasane::gravity
