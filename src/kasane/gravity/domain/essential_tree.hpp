// The locally essential tree (LET) of a domain for another one: the nodes of its tree that walks there need ([OMBMN12] section 6.3). A node
// that may be accepted for every target of the other domain is sent without its children; other nodes are sent with their children, leaves
// with their bodies.
// Invariants: an LET is a tree that walks accept as any other. A node without its children is a leaf without bodies that any group of
// targets accepts: each target alone may accept it, and a group that is not in one of the boxes of the domain would have to open it only
// because of the box around the group. Children are contiguous and nodes in breadth-first order.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/domain/target_boxes.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace kasane::gravity {

/// Numbers of an LET: they determine the size of its message.
struct EssentialSize {
    std::uint64_t nodes = 0, bodies = 0;
};

/// The number of bodies that an inner node of an LET states. Walks read the bodies of small nodes instead of their children, but an LET has
/// no contiguous bodies of inner nodes.
inline constexpr std::uint32_t inner_bodies = 1u << 16;

/// Arrays that an LET has besides its moments: those of the sender's tree.
struct EssentialArrays {
    bool quadrupole, terms;
};

/// The LET in a message: arrays of 16 bytes per element first, so that all are aligned. Its nodes and bodies count from 0.
/// @param message  [essential_bytes], aligned to 16 bytes   @param end  becomes the end of the message
KS_FN OctreeView essential_view(const std::byte* message, const EssentialSize& size, const EssentialArrays& arrays, const Frame& frame,
                                const std::byte*& end) {
    const auto nodes = static_cast<index_t>(size.nodes), bodies = static_cast<index_t>(size.bodies);
    const auto place = [&]<class T>(const T*& array, index_t n) {
        array = n > 0 ? reinterpret_cast<const T*>(message) : nullptr;
        message += n * static_cast<index_t>(sizeof(T));
    };
    OctreeView view;
    place(view.center, nodes);
    place(view.test, nodes);
    place(view.body, bodies);
    place(view.quadrupole, arrays.quadrupole ? nodes : 0);
    place(view.link, nodes);
    place(view.next, nodes);
    place(view.node_term, arrays.terms ? nodes : 0);
    place(view.body_term, arrays.terms ? bodies : 0);
    view.nodes = nodes;
    view.bodies = bodies;
    view.frame = frame;
    end = message;
    return view;
}
KS_FN OctreeView essential_view(const std::byte* message, const EssentialSize& size, const EssentialArrays& arrays, const Frame& frame) {
    const std::byte* end = nullptr;
    return essential_view(message, size, arrays, frame, end);
}
/// Bytes of the message of an LET.
inline index_t essential_bytes(const EssentialSize& size, const EssentialArrays& arrays) {
    const std::byte *const begin = nullptr, *end = nullptr;
    essential_view(begin, size, arrays, {}, end);
    return end - begin;
}

/// A node of an LET: its number in the sender's tree (or in the LET), and the kind of its content.
struct EssentialNode {
    enum Kind : std::uint32_t {
        inner,   ///< its children
        bodies,  ///< its bodies
        closed,  ///< nothing: always_accepted()
    };
    std::uint32_t word;  ///< node | kind << 29

    KS_FN static EssentialNode make(std::uint32_t node, Kind kind) { return {node | static_cast<std::uint32_t>(kind) << 29}; }
    KS_FN std::uint32_t node() const { return word & (largest_node_count - 1); }
    KS_FN Kind kind() const { return static_cast<Kind>(word >> 29); }
};

/// The LET of a tree for one other domain, on the sender's side.
template <Space S>
struct EssentialPart {
    explicit EssentialPart(S on) : node(on, 0), message(on, 0) {}

    EssentialSize size;
    Buffer<EssentialNode, S> node;  ///< [size.nodes]
    Buffer<std::byte, S> message;   ///< essential_bytes(size) or more
};

/// A domain for which an LET is made: its boxes, and the LET.
template <Space S>
struct EssentialRequest {
    View<const TargetBox> box;  ///< [TargetBoxLayout::size]
    EssentialPart<S>* part;
};

/// Memory of a selection. CUDA makes at most selected_lets LETs at once, with selected_node_bytes for each of their nodes, and
/// unselected_node_bytes for each node of the tree and each LET. The CPU has tested_node_bytes for each node of the tree.
inline constexpr int selected_lets = 96, selected_node_bytes = 8, tested_node_bytes = 9;
inline constexpr double unselected_node_bytes = 0.5;

/// Selects and packs LETs of one tree.
template <Space S>
class EssentialTree {
   public:
    explicit EssentialTree(S on);
    ~EssentialTree();

    /// Makes the LETs of a tree for the targets of several domains; that of a domain without targets is empty. Waits for the space.
    /// @param levels   Octree::levels()   @param spline  pairs have the spline kernel
    void make(const OctreeView& tree, const std::vector<std::uint32_t>& levels, const std::vector<EssentialRequest<S>>& requests,
              bool spline);

   private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace kasane::gravity
