// Pictures of a scalar field on a box of cells: three planes through its middle, and the colour scale of their values.
// Invariant: values are interpolated linearly between cell centres and are constant beyond the outermost centres.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/report/image.hpp>

#include <array>
#include <string>
#include <vector>

namespace kasane::report {

/// Values on a box: [nz][ny][nx], with the faces of its cells along x, y, z from 0.
struct BoxField {
    std::array<std::vector<double>, 3> faces;  ///< [cells + 1] each
    const std::vector<double>* value = nullptr;
};

/// Maps values to colours that are perceptually uniform. Values with similar extremes on both sides of zero get two hues that meet at zero.
class ColorScale {
   public:
    /// @param least, greatest  finite, least <= greatest
    ColorScale(double least, double greatest);
    Rgb operator()(double value) const;  ///< grey for NaN
    double least() const { return least_; }
    double greatest() const { return greatest_; }
    /// About `count` round values inside the scale.
    std::vector<double> ticks(int count) const;
    /// Position on the colour bar, 0 to 1.
    double share(double value) const;

   private:
    double least_, greatest_;
    std::vector<Rgb> ramp_;
};

struct Slice {
    int across = 0, up = 1, normal = 2;  ///< directions: 0 x, 1 y, 2 z
    double position = 0;                 ///< of the plane along its normal
    double width = 0, height = 0;        ///< of the box across and up
    double least = 0, greatest = 0;      ///< of the values in the picture; NaN where none is finite
    bool stretched = false;              ///< not to scale, because the box is too long for a picture
    Image image;                         ///< with lines of equal value at the scale's ticks
};

/// x-y, x-z and y-z through the middle.
std::array<Slice, 3> middle_slices(const BoxField& field, const ColorScale& scale);

}  // namespace kasane::report
