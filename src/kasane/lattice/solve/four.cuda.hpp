// Four numbers that are neighbours in memory, read by as few instructions as a device allows.
#pragma once

namespace kasane::lattice::coherent {

template <class T>
struct alignas(16) Four {
    T v[4];
};

/// @param from  on a boundary of 16 bytes
template <class T>
__device__ inline Four<T> load_four(const T* from) {
    return *reinterpret_cast<const Four<T>*>(from);
}

}  // namespace kasane::lattice::coherent
