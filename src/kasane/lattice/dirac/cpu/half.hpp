// Real numbers in 16 bits. An integer i of a spinor stands for (i + 1/2) / 32767.5 times the site's scale, its largest number. The range
// is symmetric and its ends are exact; zero is not in it (but every number is 0 where the scale is 0). An integer i of links, and of clover
// terms with a scale, stands for i / 32767: -1, 0 and 1 are exact.
#pragma once

#include <kasane/core/base/types.hpp>
#include <kasane/lattice/dirac/half_units.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace kasane::lattice {

inline float decode_spinor(std::int16_t i, float scale) { return (static_cast<float>(i) + 0.5f) * (scale * spinor_unit); }

/// 24 numbers, `stride` apart; returns their scale. NaN and infinity survive in the scale.
inline float encode_spinor(const double* values, std::int16_t* to, index_t stride) {
    double scale = 0, poison = 0;
    for (int k = 0; k < 24; ++k) {
        scale = std::max(scale, std::abs(values[k]));
        poison += 0 * values[k];
    }
    const bool usable = scale > 1e-33 && scale < 1e38;  // smaller numbers become zero: the range of floats and their inverses ends there
    const double per_unit = usable ? 32767.5 / scale : 0;
    for (int k = 0; k < 24; ++k) {
        const double units = usable && poison == 0 ? values[k] * per_unit : 0;
        int below = static_cast<int>(units);  // floor() without a call
        if (below > units) --below;
        to[k * stride] = static_cast<std::int16_t>(std::clamp(below, -32768, 32767));
    }
    return static_cast<float>((scale > 1e-33 ? scale : 0) + poison);
}

/// Encodes a number of [-1, 1].
inline std::int16_t encode_integer(double value) {
    return static_cast<std::int16_t>(std::clamp(std::nearbyint(value * 32767), -32767., 32767.));
}

}  // namespace kasane::lattice
