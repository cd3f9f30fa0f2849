// The Polyakov loop in the complex plane as inline SVG, in the looks of the page's plots: one dot for each measurement.
#pragma once

#include <kasane/run/quenched/measurements.hpp>

#include <string>
#include <vector>

namespace kasane::run {

/// An <svg> element with equal scales of both axes, or an empty string when there is no finite point. Thousands of points are thinned
/// evenly to at most 2000.
std::string polyakov_plane(const std::vector<Measurement>& rows);

}  // namespace kasane::run
