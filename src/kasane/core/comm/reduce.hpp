// One step of a reduction of two values. NaN on either side stays NaN, so that min and max do not hide it.
#pragma once

#include <kasane/core/comm/communicator.hpp>

namespace kasane::comm {

/// The sum, the smaller or the larger of a and b.
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
