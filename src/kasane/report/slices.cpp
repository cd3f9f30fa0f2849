#include <kasane/report/plot.hpp>
#include <kasane/report/slices.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace kasane::report {

namespace {

constexpr int longest_side = 480;  ///< [pixels]
constexpr double longest_ratio = 5;

/// Two cells with weights, for a position along one direction.
struct Between {
    std::size_t first = 0, second = 0;
    double weight = 0;  ///< of the second
};

Between between(const std::vector<double>& faces, double at) {
    const auto n = faces.size() - 1;
    const auto centre = [&](std::size_t i) { return 0.5 * (faces[i] + faces[i + 1]); };
    const auto cell = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(std::ranges::upper_bound(faces, at) - faces.begin() - 1, 0, static_cast<std::ptrdiff_t>(n) - 1));
    const auto first = at < centre(cell) ? cell - (cell > 0) : cell;
    const auto second = std::min(first + 1, n - 1);
    if (first == second) return {first, second, 0};
    return {first, second, std::clamp((at - centre(first)) / (centre(second) - centre(first)), 0., 1.)};
}

/// Values in the pixels of a plane, row by row from the top.
std::vector<double> sample(const BoxField& field, const Slice& slice) {
    const auto& faces = field.faces;
    const std::array<std::size_t, 3> stride{1, faces[0].size() - 1, (faces[0].size() - 1) * (faces[1].size() - 1)};
    const auto along = [&](int direction, int pixels, bool down) {
        std::vector<Between> places;
        for (int p = 0; p < pixels; ++p) {
            const double share = (p + 0.5) / pixels, length = faces[static_cast<std::size_t>(direction)].back();
            places.push_back(between(faces[static_cast<std::size_t>(direction)], length * (down ? 1 - share : share)));
        }
        return places;
    };
    const auto columns = along(slice.across, slice.image.width, false), rows = along(slice.up, slice.image.height, true);
    const auto depth = between(faces[static_cast<std::size_t>(slice.normal)], slice.position);
    const auto a = stride[static_cast<std::size_t>(slice.across)], u = stride[static_cast<std::size_t>(slice.up)],
               n = stride[static_cast<std::size_t>(slice.normal)];
    const auto& v = *field.value;
    const auto mix = [](double first, double second, double weight) { return weight > 0 ? (1 - weight) * first + weight * second : first; };
    std::vector<double> values;
    for (const auto& r : rows)
        for (const auto& c : columns) {
            const auto line = [&](std::size_t row, std::size_t layer) {
                const auto base = row * u + layer * n;
                return mix(v[base + c.first * a], v[base + c.second * a], c.weight);
            };
            const auto plane = [&](std::size_t layer) { return mix(line(r.first, layer), line(r.second, layer), r.weight); };
            values.push_back(mix(plane(depth.first), plane(depth.second), depth.weight));
        }
    return values;
}

/// Draws thin smooth lines where the value is a multiple of the distance of ticks; their strength depends on the distance in pixels.
void draw_lines(Image& image, const std::vector<double>& value, double step) {
    const auto at = [&](int x, int y) {
        return value[static_cast<std::size_t>(std::clamp(y, 0, image.height - 1) * image.width + std::clamp(x, 0, image.width - 1))];
    };
    for (int y = 0; y < image.height; ++y)
        for (int x = 0; x < image.width; ++x) {
            const double slope = std::hypot(at(x + 1, y) - at(x - 1, y), at(x, y + 1) - at(x, y - 1)) / 2 / step;  // ticks per pixel
            const double level = at(x, y) / step, off = std::abs(level - std::round(level));
            if (!(slope > 1e-6) || !(slope < 0.25)) continue;  // flat, or too steep for separate lines
            const double strength = 0.38 * std::clamp(1.2 - off / slope, 0., 1.);
            if (strength <= 0) continue;
            auto& pixel = image.pixel[static_cast<std::size_t>(y * image.width + x)];
            const bool dark = pixel.r * 3 + pixel.g * 6 + pixel.b < 1000;  // of 2550
            const auto toward = [&](std::uint8_t c) {
                return static_cast<std::uint8_t>(std::lround(c + strength * ((dark ? 255 : 0) - c)));
            };
            pixel = {toward(pixel.r), toward(pixel.g), toward(pixel.b)};
        }
}

}  // namespace

ColorScale::ColorScale(double least, double greatest) : least_(least), greatest_(greatest) {
    const double larger = std::max(std::abs(least), std::abs(greatest)), smaller = std::min(std::abs(least), std::abs(greatest));
    const bool two_sided = least < 0 && greatest > 0 && smaller > 0.4 * larger;
    if (two_sided) {
        least_ = -larger, greatest_ = larger;
        for (int i = -127; i <= 127; ++i) {
            const double t = std::abs(i) / 127.;
            ramp_.push_back(
                to_srgb(fit_gamut(oklch(0.965 - 0.6 * t, 0.19 * std::sin(0.5 * std::numbers::pi * std::pow(t, 0.8)), i < 0 ? 255 : 45))));
        }
    } else {
        const Palette palette({262});
        const double whole = 1;
        for (int i = 0; i < Palette::levels; ++i) ramp_.push_back(palette(24 + i * (Palette::levels - 40) / Palette::levels, &whole));
    }
}

double ColorScale::share(double value) const {
    return greatest_ > least_ ? std::clamp((value - least_) / (greatest_ - least_), 0., 1.) : 0.5;
}

Rgb ColorScale::operator()(double value) const {
    if (std::isnan(value)) return {128, 128, 128};
    return ramp_[static_cast<std::size_t>(std::lround(share(value) * static_cast<double>(ramp_.size() - 1)))];
}

std::vector<double> ColorScale::ticks(int count) const { return nice_ticks(least_, greatest_, count); }

std::array<Slice, 3> middle_slices(const BoxField& field, const ColorScale& scale) {
    const auto length = [&](int direction) { return field.faces[static_cast<std::size_t>(direction)].back(); };
    const double longest = std::max({length(0), length(1), length(2)});
    const auto ticks = scale.ticks(10);
    std::array<Slice, 3> slices;
    for (const auto& [across, up, normal] : {std::array{0, 1, 2}, {0, 2, 1}, {1, 2, 0}}) {
        auto& slice = slices[static_cast<std::size_t>(2 - normal)];
        slice = {across, up, normal, length(normal) / 2, length(across), length(up), {}, {}, false, {}};
        // To one scale, except for sides that would be too thin.
        const auto pixels = [&](double side) { return std::max(1, static_cast<int>(std::lround(longest_side * side / longest))); };
        const int least = std::lround(longest_side / longest_ratio);
        auto& image = slice.image;
        image.width = std::max(pixels(slice.width), least), image.height = std::max(pixels(slice.height), least);
        slice.stretched = image.width != pixels(slice.width) || image.height != pixels(slice.height);
        const auto value = sample(field, slice);
        slice.least = std::numeric_limits<double>::infinity(), slice.greatest = -slice.least;
        for (const double v : value) {
            if (v < slice.least) slice.least = v;
            if (v > slice.greatest) slice.greatest = v;
            image.pixel.push_back(scale(v));
        }
        if (slice.least > slice.greatest) slice.least = slice.greatest = std::numeric_limits<double>::quiet_NaN();
        if (ticks.size() > 1) draw_lines(image, value, ticks[1] - ticks[0]);
    }
    return slices;
}

}  // namespace kasane::report
