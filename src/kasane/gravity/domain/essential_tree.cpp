#include <kasane/gravity/domain/essential_tree.hpp>

namespace kasane::gravity {
namespace {

/// Calls f(type, elements) for the arrays of a message in their order: those of 16 bytes per element first, so that all are aligned.
template <class F>
void for_each_array(const EssentialSize& size, const EssentialArrays& arrays, F f) {
    const auto nodes = static_cast<index_t>(size.nodes), bodies = static_cast<index_t>(size.bodies);
    f(Body{}, nodes);
    f(NodeTest{}, nodes);
    f(Body{}, bodies);
    f(Quadrupole{}, arrays.quadrupole ? nodes : 0);
    f(NodeLink{}, nodes);
    f(std::uint32_t{}, nodes);
    f(float{}, arrays.terms ? nodes : 0);
    f(float{}, arrays.terms ? bodies : 0);
}

}  // namespace

index_t essential_bytes(const EssentialSize& size, const EssentialArrays& arrays) {
    index_t bytes = 0;
    for_each_array(size, arrays, [&]<class T>(T, index_t n) { bytes += n * static_cast<index_t>(sizeof(T)); });
    return bytes;
}

OctreeView essential_view(const std::byte* message, const EssentialSize& size, const EssentialArrays& arrays, const Frame& frame) {
    const std::byte* start[8] = {};
    int array = 0;
    for_each_array(size, arrays, [&]<class T>(T, index_t n) {
        start[array++] = n > 0 ? message : nullptr;
        message += n * static_cast<index_t>(sizeof(T));
    });
    OctreeView view;
    view.center = reinterpret_cast<const Body*>(start[0]);
    view.test = reinterpret_cast<const NodeTest*>(start[1]);
    view.body = reinterpret_cast<const Body*>(start[2]);
    view.quadrupole = reinterpret_cast<const Quadrupole*>(start[3]);
    view.link = reinterpret_cast<const NodeLink*>(start[4]);
    view.next = reinterpret_cast<const std::uint32_t*>(start[5]);
    view.node_term = reinterpret_cast<const float*>(start[6]);
    view.body_term = reinterpret_cast<const float*>(start[7]);
    view.nodes = static_cast<index_t>(size.nodes);
    view.bodies = static_cast<index_t>(size.bodies);
    view.frame = frame;
    return view;
}

}  // namespace kasane::gravity
