// An order of elimination in the memory of a space.
#pragma once

#include <kasane/core/device/buffer.hpp>

#include <cstdint>
#include <vector>

namespace kasane::sparse {

/// A ColoredOrder (ordering.hpp) whose rows may be on a device.
template <Space S>
struct SpaceOrder {
    Buffer<std::int32_t, S> row;  ///< [color_begin.back()] as ColoredOrder::row
    std::vector<index_t> color_begin;
    int steps = 1;
};

}  // namespace kasane::sparse
