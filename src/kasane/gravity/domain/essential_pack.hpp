// How a node of a tree is written to the message of an LET: the same on the CPU and on CUDA, which select nodes in their own ways.
#pragma once

#include <kasane/core/device/hold_elements.hpp>
#include <kasane/gravity/domain/essential_tree.hpp>

namespace kasane::gravity {

/// A node of an LET and its numbers there.
struct EssentialPlace {
    std::uint32_t node;   ///< in the sender's tree
    std::uint32_t place;  ///< in the LET
    std::uint32_t next;   ///< OctreeView::next
    NodeLink link;        ///< OctreeView::link
    std::uint32_t begin;  ///< first body, of a leaf with bodies
};

/// The arrays of an LET, for writing.
struct EssentialOut {
    std::byte* message;
    EssentialSize size;
    EssentialNode* node;

    /// Writes a node and its bodies, by one or several lanes, which divide the arrays.
    KS_FN void write(const OctreeView& tree, const EssentialPlace& at, EssentialNode::Kind kind, std::uint32_t lane,
                     std::uint32_t lanes) const {
        const auto let = essential_view(message, size, {tree.quadrupole != nullptr, tree.node_term != nullptr}, tree.frame);
        const auto i = static_cast<index_t>(at.node), to = static_cast<index_t>(at.place);
        const auto test = tree.test[i];
        if (lane == 0) {
            put(let.center, to, tree.center[i]);
            node[to] = EssentialNode::make(at.node, kind);
        }
        if (lane == 1 % lanes) {
            const NodeTest open{test.radius2, test.weight, at.begin, kind == EssentialNode::inner ? inner_bodies : test.count};
            put(let.test, to, kind == EssentialNode::closed ? always_accepted(open) : open);
        }
        if (lane == 2 % lanes) {
            put(let.link, to, at.link);
            put(let.next, to, at.next);
            if (let.node_term) put(let.node_term, to, tree.node_term[i]);
        }
        if (lane == 3 % lanes && let.quadrupole) put(let.quadrupole, to, tree.quadrupole[i]);
        if (kind != EssentialNode::bodies) return;
        for (std::uint32_t k = lane; k < test.count; k += lanes) {
            put(let.body, at.begin + k, tree.body[test.begin + k]);
            if (let.body_term) put(let.body_term, at.begin + k, tree.body_term[test.begin + k]);
        }
    }

   private:
    template <class T>
    KS_FN static void put(const T* array, index_t i, const T& value) {
        const_cast<T*>(array)[i] = value;
    }
};

}  // namespace kasane::gravity
