// From surface densities to pixels: which densities a picture shows, how bright they are, and the colours of groups that mix.
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
    /// Widens it by one projection: nearly its brightest pixel, and where the outskirts begin.
    void include(std::vector<float> density);
    /// Between two and three and a half decades show both cores and tails; massless particles have no scale.
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
