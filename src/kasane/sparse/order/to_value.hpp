// One value of a device, on the host.
#pragma once

#include <kasane/core/device/space_cuda.hpp>

namespace kasane::sparse {

/// Waits for the work before it.   @param there  memory of the device
template <class T>
T to_value(Cuda on, const T* there) {
    T value;
    copy_to_host(on, View<T>(&value, 1), View<const T>(there, 1));
    return value;
}

}  // namespace kasane::sparse
