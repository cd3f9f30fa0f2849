// OKLab to sRGB and the ramps that the film is drawn in.
#include <kasane/report/color.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace kasane::report {
namespace {

struct Linear {
    double r, g, b;
    bool in_gamut() const {
        constexpr double slack = 1e-4;
        return std::min({r, g, b}) >= -slack && std::max({r, g, b}) <= 1 + slack;
    }
};

double cube(double x) { return x * x * x; }

/// Ottosson, "A perceptual color space for image processing" (2020): the inverse of M2, cubes, the inverse of M1.
Linear to_linear(const Oklab& c) {
    const double l = cube(c.lightness + 0.3963377774 * c.a + 0.2158037573 * c.b);
    const double m = cube(c.lightness - 0.1055613458 * c.a - 0.0638541728 * c.b);
    const double s = cube(c.lightness - 0.0894841775 * c.a - 1.2914855480 * c.b);
    return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s, -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
            -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

/// The transfer curve of IEC 61966-2-1, tabulated finely enough to hit every one of the 256 codes.
std::uint8_t encode(double linear) {
    static const auto table = [] {
        std::array<std::uint8_t, 8192> codes;
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const double x = static_cast<double>(i) / static_cast<double>(codes.size() - 1);
            const double y = x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055;
            codes[i] = static_cast<std::uint8_t>(std::lround(255 * y));
        }
        return codes;
    }();
    return table[static_cast<std::size_t>(std::clamp(linear, 0.0, 1.0) * (table.size() - 1) + 0.5)];
}

constexpr double night = 0.115;  // lightness of empty sky
constexpr double glare = 0.985;  // of the densest pixels

}  // namespace

Oklab oklch(double lightness, double chroma, double hue) {
    const double angle = hue * std::numbers::pi / 180;
    return {lightness, chroma * std::cos(angle), chroma * std::sin(angle)};
}

Oklab fit_gamut(const Oklab& color) {
    if (to_linear(color).in_gamut()) return color;
    double inside = 0, outside = 1;
    for (int i = 0; i < 20; ++i) {
        const double scale = (inside + outside) / 2;
        (to_linear({color.lightness, color.a * scale, color.b * scale}).in_gamut() ? inside : outside) = scale;
    }
    return {color.lightness, color.a * inside, color.b * inside};
}

Rgb to_srgb(const Oklab& color) {
    const auto rgb = to_linear(color);
    return {encode(rgb.r), encode(rgb.g), encode(rgb.b)};
}

std::string css_text(const Rgb& c) { return fmt::format("#{:02x}{:02x}{:02x}", c.r, c.g, c.b); }

std::string css_gradient(const std::vector<Rgb>& colors) {
    std::string stops;
    for (const auto& color : colors) stops += (stops.empty() ? "" : ",") + css_text(color);
    return "linear-gradient(90deg," + stops + ")";
}

Palette::Palette(const std::vector<double>& hues) {
    for (const double hue : hues) {
        auto& ramp = ramp_.emplace_back();
        for (int i = 0; i < levels; ++i) {
            const double v = i / (levels - 1.0);
            // Chroma is largest in the middle of the ramp, small at the bright end, and 0 in the empty sky, where the groups' shares jump.
            const double chroma = 0.02 * std::min(1.0, 8 * v) + 0.15 * std::sin(std::numbers::pi * std::pow(v, 0.85));
            const double turn = hues.size() == 1 ? 150 * v : 0;
            ramp.push_back(fit_gamut(oklch(night + (glare - night) * v, chroma, hue + turn)));
        }
    }
}

Rgb Palette::operator()(int level, const double* share) const {
    Oklab color;
    for (std::size_t g = 0; g < ramp_.size(); ++g) {
        const auto& own = ramp_[g][static_cast<std::size_t>(level)];
        color.lightness = own.lightness;  // the same in every ramp
        color.a += share[g] * own.a;
        color.b += share[g] * own.b;
    }
    return to_srgb(color);
}

std::vector<Rgb> Palette::ramp(std::size_t group) const {
    constexpr int length = 9;
    std::vector<double> share(ramp_.size(), 0.0);
    share[group] = 1;
    std::vector<Rgb> colors;
    for (int k = 0; k < length; ++k) colors.push_back((*this)(k * (levels - 1) / (length - 1), share.data()));
    return colors;
}

}  // namespace kasane::report
