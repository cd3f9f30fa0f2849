// Colours of the film. Made in OKLab (Ottosson 2020), where equal steps of lightness look equal, so that a ramp of lightness
// that is linear in log density is perceptually uniform.
#pragma once

#include <cstdint>
#include <vector>

namespace kasane::report {

struct Rgb {
    std::uint8_t r = 0, g = 0, b = 0;
    friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// Lightness in [0, 1] and the two opponent axes, about [-0.4, 0.4].
struct Oklab {
    double lightness = 0, a = 0, b = 0;
};

/// OKLab from lightness, chroma and hue in degrees.
Oklab oklch(double lightness, double chroma, double hue);

/// The nearest colour of the same lightness and hue that sRGB can show.
Oklab fit_gamut(const Oklab& color);

/// sRGB, 8 bits per channel; what lies outside its gamut is cut off.
Rgb to_srgb(const Oklab& color);

/// Colours of a film: brightness from night to glare at every mixture of groups.
/// One group is drawn in a ramp that wanders through the hues; several keep one hue each, and where they mix colours fade.
class Palette {
   public:
    static constexpr int levels = 256;

    /// @param hues one per group, degrees
    explicit Palette(const std::vector<double>& hues);

    /// @param level brightness in [0, levels)  @param share one weight per group, summing to 1
    Rgb operator()(int level, const double* share) const;

   private:
    std::vector<std::vector<Oklab>> ramp_;  // [group][level], inside the gamut of sRGB
};

}  // namespace kasane::report
