// What one step of a reduction does to two values. Not a number on either side stays one, so that nothing is hidden by min and max.
#pragma once

#include <kasane/core/comm/communicator.hpp>

namespace kasane::comm {

template <class T>
T reduced(T a, T b, Reduce how) {
    switch (how) {
        case Reduce::sum: return a + b;
        case Reduce::min: return b < a || b != b ? b : a;
        case Reduce::max: return a < b || b != b ? b : a;
    }
    return a;
}

}  // namespace kasane::comm
