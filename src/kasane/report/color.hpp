// Colours of films and pictures, computed in OKLab (Ottosson 2020), where equal steps of lightness look equal, so that a ramp of lightness
// that is linear in log density is perceptually uniform.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kasane::report {

struct Rgb {
    std::uint8_t r = 0, g = 0, b = 0;
    friend bool operator==(const Rgb&, const Rgb&) = default;
};

/// "#rrggbb".
std::string css_text(const Rgb& color);

/// "linear-gradient(90deg,#rrggbb,...)".
std::string css_gradient(const std::vector<Rgb>& colors);

/// Lightness in [0, 1] and the two opponent axes, about [-0.4, 0.4].
struct Oklab {
    double lightness = 0, a = 0, b = 0;
};

/// OKLab from lightness, chroma and hue in degrees.
Oklab oklch(double lightness, double chroma, double hue);

/// The nearest colour of the same lightness and hue that sRGB can show.
Oklab fit_gamut(const Oklab& color);

/// sRGB, 8 bits per channel; colours outside its gamut are clamped.
Rgb to_srgb(const Oklab& color);

/// Colours of a film: brightness from night to glare at every mixture of groups.
/// One group is drawn in a ramp of changing hue; several groups keep one hue each, and their mixtures have less chroma.
class Palette {
   public:
    static constexpr int levels = 256;

    /// @param hues one per group, degrees
    explicit Palette(const std::vector<double>& hues);

    /// @param level brightness in [0, levels)  @param share one weight per group, summing to 1
    Rgb operator()(int level, const double* share) const;
    /// Colours of one group alone, from dark to bright.
    std::vector<Rgb> ramp(std::size_t group) const;

   private:
    std::vector<std::vector<Oklab>> ramp_;  // [group][level], inside the gamut of sRGB
};

}  // namespace kasane::report
