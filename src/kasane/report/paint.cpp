#include <kasane/report/paint.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace kasane::report {
namespace {

/// The smallest value such that all smaller ones add up to `sum` or more; the largest value if there is none. Reorders the values.
double above_share(std::vector<float>& values, double sum) {
    // Values below `low` are smaller than the others and add up to less than `sum`, those below `high` to `sum` or more.
    auto low = values.begin(), high = values.end();
    double below = 0;
    while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        std::nth_element(low, middle, high);
        const double part = std::accumulate(low, middle, 0.0, [](double a, float v) { return a + static_cast<double>(v); });
        if (below + part < sum)
            below += part, low = middle;
        else
            high = middle;
    }
    return static_cast<double>(high == values.end() ? *low : *high);
}

}  // namespace

void Exposure::include(std::vector<float> density) {
    double sum = 0;
    for (const float v : density) sum += static_cast<double>(v);
    if (!(sum > 0)) return;
    const auto bright = density.begin() + static_cast<std::ptrdiff_t>(0.9995 * static_cast<double>(density.size() - 1));
    std::nth_element(density.begin(), bright, density.end());
    brightest = std::max(brightest, static_cast<double>(*bright));
    const double faint = above_share(density, 0.06 * sum);
    faintest = faintest > 0 ? std::min(faintest, faint) : faint;
}

void Exposure::limit() {
    if (!(brightest > 0)) brightest = 1;
    faintest = std::clamp(faintest, brightest / 3000, brightest / 100);
}

Tone::Tone(const Exposure& exposure) : level_(1 << 16) {
    const double top = std::log1p(exposure.brightest / exposure.faintest);
    for (std::uint32_t k = 0; k < level_.size(); ++k) {
        const double density = std::max(0.0, static_cast<double>(std::bit_cast<float>(k << 16 | 0x8000U)));
        const double v = density >= exposure.brightest ? 1 : std::log1p(density / exposure.faintest) / top;  // NaN, the last codes: 1
        level_[k] = static_cast<std::uint8_t>(std::lround((Palette::levels - 1) * std::pow(std::clamp(v, 0.0, 1.0), 1.2)));
    }
}

/// Uses the upper half of the float: steps of 1/128 of the density, finer than a level.
int Tone::operator()(float density) const { return level_[std::bit_cast<std::uint32_t>(density) >> 16]; }

std::vector<float> total(const std::vector<Density>& parts) {
    auto sum = parts[0].value;
    for (std::size_t g = 1; g < parts.size(); ++g)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += parts[g].value[i];
    return sum;
}

Image paint(const std::vector<Density>& parts, const Tone& tone, const Palette& palette) {
    Image image{parts[0].columns, parts[0].rows, {}};
    if (parts.size() == 1) {
        const double all = 1;
        std::vector<Rgb> color;
        for (int level = 0; level < Palette::levels; ++level) color.push_back(palette(level, &all));
        image.pixel.reserve(parts[0].value.size());
        for (const float v : parts[0].value) image.pixel.push_back(color[static_cast<std::size_t>(tone(v))]);
        return image;
    }
    const auto sum = total(parts);
    image.pixel.reserve(sum.size());
    std::vector<double> share(parts.size(), 1.0 / static_cast<double>(parts.size()));
    for (std::size_t i = 0; i < sum.size(); ++i) {
        if (sum[i] > 0)
            for (std::size_t g = 0; g < parts.size(); ++g) share[g] = static_cast<double>(parts[g].value[i] / sum[i]);
        image.pixel.push_back(palette(tone(sum[i]), share.data()));
    }
    return image;
}

}  // namespace kasane::report
