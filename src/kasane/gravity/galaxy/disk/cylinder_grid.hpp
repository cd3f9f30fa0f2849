// Cells of the meridional plane. R and z are stretched by sinh: fine at the centre and the plane, logarithmic far away.
// Cells are numbered i * z.cells + j, i along R, j along z; the plane z = 0 and the axis R = 0 are faces.
#pragma once

#include <kasane/core/base/types.hpp>

#include <cmath>
#include <cstddef>

namespace kasane::gravity {

/// x(u) = core sinh(u step): faces at u = 0, 1, ..., cells; centres between them.
struct StretchedAxis {
    double core = 1, step = 0.05;  ///< core [length]
    std::size_t cells = 0;

    KS_FN double at(double u) const { return core * std::sinh(u * step); }
    KS_FN double slope(double x) const { return step * std::sqrt(core * core + x * x); }  ///< dx/du
    KS_FN double index(double x) const { return std::asinh(x / core) / step; }            ///< u
    double face(std::size_t i) const { return at(static_cast<double>(i)); }
    KS_FN double centre(std::size_t i) const { return at(static_cast<double>(i) + 0.5); }
    double end() const { return face(cells); }
};

struct CylinderGrid {
    StretchedAxis R, z;
    std::size_t size() const { return R.cells * z.cells; }
};

}  // namespace kasane::gravity
