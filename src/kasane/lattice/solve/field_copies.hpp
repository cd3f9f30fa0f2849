// Quark fields in the order of SpinorField, in the memory of a space, from and to the order of its fields.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/lattice/solve/resident_field.hpp>

#include <complex>

namespace kasane::lattice {

/// Copies within the space, and waits. @param from, to  [12 volume] as SpinorField::values, in memory of the space
template <Space S>
void load(View<const std::complex<double>> from, ResidentField<S>& to);
template <Space S>
void store(const ResidentField<S>& from, View<std::complex<double>> to);

}  // namespace kasane::lattice
