// Memory of a buffer whose number of elements changes from step to step.
#pragma once

#include <kasane/core/device/buffer.hpp>

namespace kasane {

/// Allocates memory for n elements, and for a sixteenth more so that slow growth allocates rarely; the content is lost then.
template <class T, Space S>
void hold_elements(Buffer<T, S>& buffer, index_t n) {
    if (buffer.size() < n) buffer.reserve_discarding(n + n / 16);
}

}  // namespace kasane
