// A picture as two layers that the page multiplies: lightness at full and colour at lower resolution. This takes a third of the bytes of
// RGB.
#pragma once

#include <kasane/report/paint.hpp>

#include <cstdint>
#include <vector>

namespace kasane::report {

inline constexpr int tint_factor = 8;  ///< a pixel of the colour layer covers 8 x 8 of the lightness layer

struct PictureLayers {
    std::vector<std::uint8_t> light;  ///< PNG, columns x rows
    std::vector<std::uint8_t> tint;   ///< PNG, smaller by `tint_factor`; empty: `light` carries the colour
};

/// One layer in the colours of the only group, or two layers with colour = light * tint / 255 in each channel.
/// @param parts  one per group of the palette, all of one size
PictureLayers encode_layers(const std::vector<Density>& parts, const Tone& tone, const Palette& palette);

}  // namespace kasane::report
