#include <kasane/report/image.hpp>
#include <kasane/report/picture_layers.hpp>

#include <algorithm>
#include <cmath>

namespace kasane::report {
namespace {

/// Quantises lightness: fine steps in the dark, where pictures are smooth and an edge is visible, coarse steps in the light, where they are
/// grainy and need many bytes. step(level) is the nearest step; level(step) is its inverse.
class LightnessSteps {
   public:
    static constexpr int count = 80;
    LightnessSteps() {
        for (int s = 0; s < count; ++s) level_.push_back(static_cast<std::uint8_t>(std::lround(255 * std::pow(s / (count - 1.0), 1.6))));
        for (int v = 0, s = 0; v < 256; ++v) {
            while (s + 1 < count && std::abs(level_[s + 1] - v) <= std::abs(level_[s] - v)) ++s;
            step_.push_back(static_cast<std::uint8_t>(s));
        }
    }
    std::uint8_t step(int level) const { return step_[static_cast<std::size_t>(level)]; }
    std::uint8_t level(int step) const { return level_[static_cast<std::size_t>(step)]; }

   private:
    std::vector<std::uint8_t> level_, step_;
};

std::uint8_t brightest_channel(const Rgb& c) { return std::max({c.r, c.g, c.b}); }

}  // namespace

PictureLayers encode_layers(const std::vector<Density>& parts, const Tone& tone, const Palette& palette) {
    static const LightnessSteps steps;
    IndexedImage light{parts[0].columns, parts[0].rows, {}, {}};
    if (parts.size() == 1) {
        const double all = 1;
        for (int s = 0; s < LightnessSteps::count; ++s) light.color.push_back(palette(steps.level(s), &all));
        for (const float v : parts[0].value) light.pixel.push_back(steps.step(tone(v)));
        return {encode_png(light), {}};
    }
    const auto image = paint(parts, tone, palette);
    for (int s = 0; s < LightnessSteps::count; ++s) light.color.push_back({steps.level(s), steps.level(s), steps.level(s)});
    for (const auto& c : image.pixel) light.pixel.push_back(steps.step(brightest_channel(c)));
    auto tint = shrink(image, tint_factor);
    for (auto& c : tint.pixel) {
        const int top = std::max<int>(1, brightest_channel(c));
        const auto full = [&](int channel) { return static_cast<std::uint8_t>(channel * 255 / top); };
        c = {full(c.r), full(c.g), full(c.b)};
    }
    return {encode_png(light), encode_png(tint)};
}

}  // namespace kasane::report
