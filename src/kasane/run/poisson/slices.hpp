// Pictures of three planes through the middle of a box of cells, and the colours that stand for values in them.
// Invariant: a picture shows the values between cell centres, linearly interpolated, and constant beyond the outermost centres.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/report/image.hpp>

#include <array>
#include <string>
#include <vector>

namespace kasane::run {

/// Values on a box: [nz][ny][nx], with the faces of its cells along x, y, z from 0.
struct BoxField {
    std::array<std::vector<double>, 3> faces;  ///< [cells + 1] each
    const std::vector<double>* value = nullptr;
};

/// From values to colours, even to the eye. Values that go about as far to both sides of zero get two hues that meet there.
class ColorScale {
   public:
    /// @param least, greatest  finite, least <= greatest
    ColorScale(double least, double greatest);
    report::Rgb operator()(double value) const;  ///< grey for NaN
    double least() const { return least_; }
    double greatest() const { return greatest_; }
    /// Round values inside it, about `count`.
    std::vector<double> ticks(int count) const;
    /// Place on the bar, 0 to 1.
    double share(double value) const;

   private:
    double least_, greatest_;
    std::vector<report::Rgb> ramp_;
};

struct Slice {
    int across = 0, up = 1, normal = 2;  ///< directions: 0 x, 1 y, 2 z
    double position = 0;                 ///< of the plane along its normal
    double width = 0, height = 0;        ///< of the box across and up
    double least = 0, greatest = 0;      ///< of what is shown; NaN where nothing is finite
    bool stretched = false;              ///< not to scale, where the box is too long for a picture
    report::Image image;                 ///< with lines of equal value at the scale's ticks
};

/// x-y, x-z and y-z through the middle.
std::array<Slice, 3> middle_slices(const BoxField& field, const ColorScale& scale);

}  // namespace kasane::run
