// The locally essential tree (LET) of a domain for another one: the nodes of its tree that no walk there can do without ([OMBMN12]
// section 6.3). A node that may be accepted for every target of the other domain is sent without its children; other nodes are sent with
// their children, leaves with their bodies.
// Invariants: an LET is a tree that walks accept as any other. A node without its children is a leaf of `equivalent_bodies` bodies with its
// mass, its centre of mass and its second moments: a group of targets that is not in one of the boxes of the domain may have to open it,
// and finds the same field to the order of the expansion. Children are contiguous and nodes in breadth-first order.
#pragma once

#include <kasane/core/device/algorithms.hpp>
#include <kasane/gravity/domain/target_boxes.hpp>

#include <cstddef>
#include <vector>

namespace kasane::gravity {

/// Numbers of an LET: they determine the size of its message.
struct EssentialSize {
    std::uint64_t nodes = 0, bodies = 0;
};

/// Arrays that an LET has besides its moments: those of the sender's tree.
struct EssentialArrays {
    bool quadrupole, terms;
};

/// Bytes of the message of an LET.
index_t essential_bytes(const EssentialSize& size, const EssentialArrays& arrays);
/// The LET in a message. Its nodes and bodies count from 0. @param message  [essential_bytes], aligned to 16 bytes
OctreeView essential_view(const std::byte* message, const EssentialSize& size, const EssentialArrays& arrays, const Frame& frame);

/// Bodies that replace the children of a node.
inline constexpr std::uint32_t equivalent_bodies(bool quadrupole) { return quadrupole ? 6 : 1; }

/// Selects and packs LETs of one tree.
template <Space S>
class EssentialTree {
   public:
    explicit EssentialTree(S on) : on_(on), work_(on) {}

    /// Makes the LET of a tree for the targets of these boxes; it is empty if they have no targets. Waits for the space.
    /// @param levels   Octree::levels()   @param box  [TargetBoxLayout::size]   @param spline  pairs have the spline kernel
    /// @param message  becomes the message, of essential_bytes(size) or more bytes
    EssentialSize make(const OctreeView& tree, const std::vector<std::uint32_t>& levels, View<const TargetBox> box, bool spline,
                       Buffer<std::byte, S>& message);

   private:
    S on_;
    Workspace<S> work_;
    Buffer<std::uint32_t, S> sent_, bodies_;  ///< [nodes + 1] flags and counts, then their sums
    Buffer<std::uint8_t, S> state_;
};

}  // namespace kasane::gravity
