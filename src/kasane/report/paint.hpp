// Converts surface densities to pixels: range of densities, brightness, and the colours of mixed groups.
#pragma once

#include <kasane/report/color.hpp>
#include <kasane/report/image.hpp>
#include <kasane/report/projection.hpp>

#include <cstdint>
#include <vector>

namespace kasane::report {

/// Surface densities where brightness begins and ends, [mass / length^2].
struct Exposure {
    double faintest = 0, brightest = 0;
    /// Extends the range by one projection: nearly its brightest pixel, and the density of the outskirts.
    void include(std::vector<float> density);
    /// Limits the range to between 2 and 3.5 decades, which show both cores and tails; sets a range where all masses are 0.
    void limit();
};

/// Brightness of a surface density as a level of the palette: logarithmic above `faintest`, fading to 0 below;
/// the power keeps the sky dark.
class Tone {
   public:
    explicit Tone(const Exposure& exposure);
    int operator()(float density) const;

   private:
    std::vector<std::uint8_t> level_;
};

/// The groups' densities together.
std::vector<float> total(const std::vector<Density>& parts);

/// The picture in full colour. @param parts one per group of the palette, all of one size
Image paint(const std::vector<Density>& parts, const Tone& tone, const Palette& palette);

}  // namespace kasane::report
