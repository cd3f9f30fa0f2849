// The 24 numbers of one place of a field on the CPU, in any precision. Invariant: [24] = (3 spin + colour) complex numbers.
#pragma once

#include <kasane/lattice/dirac/cpu/field.hpp>
#include <kasane/lattice/dirac/cpu/half.hpp>

#include <cstring>

namespace kasane::lattice {

/// @param data  group(0) of the field
template <Precision P>
void write_place(typename CpuReal<P>::Stored* data, index_t place, const double* values) {
    constexpr int lanes = group_lanes<P>;
    auto* const group = data + place / lanes * group_words<P>(24);
    const auto lane = place % lanes;
    if constexpr (P == Precision::half) {
        const float scale = encode_spinor(values, group + lane, lanes);
        std::memcpy(group + 24 * lanes + 2 * lane, &scale, sizeof scale);
    } else {
        for (int k = 0; k < 24; ++k) group[k * lanes + lane] = static_cast<typename CpuReal<P>::Stored>(values[k]);
    }
}

template <Precision P>
void read_place(const typename CpuReal<P>::Stored* data, index_t place, double* values) {
    constexpr int lanes = group_lanes<P>;
    const auto* const group = data + place / lanes * group_words<P>(24);
    const auto lane = place % lanes;
    if constexpr (P == Precision::half) {
        float scale;
        std::memcpy(&scale, group + 24 * lanes + 2 * lane, sizeof scale);
        for (int k = 0; k < 24; ++k) values[k] = static_cast<double>(decode_spinor(group[k * lanes + lane], scale));
    } else {
        for (int k = 0; k < 24; ++k) values[k] = static_cast<double>(group[k * lanes + lane]);
    }
}

}  // namespace kasane::lattice
