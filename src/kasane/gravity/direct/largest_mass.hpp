// The largest mass of particles on a space, for the frame of direct summation (frame.hpp).
#pragma once

#include <kasane/core/device/buffer.hpp>

namespace kasane::gravity {

/// Returns the largest of the masses [mass]; waits for the work that was given to the space before. On Cuda a few kB are copied to the
/// host.
/// @param mass  at least one, finite
/// @param scratch  memory that is kept between calls; not used on Cpu
template <Space S>
double largest_mass(S on, View<const double> mass, Buffer<double, S>& scratch);

}  // namespace kasane::gravity
