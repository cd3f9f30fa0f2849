// Pictures: what libpng reads back is what was written; colours against values worked out elsewhere.
#include <kasane/core/base/error.hpp>
#include <kasane/report/image.hpp>

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <random>
#include <utility>

using namespace kasane::report;

namespace {

Image decode(const std::vector<std::uint8_t>& bytes) {
    png_image header{};
    header.version = PNG_IMAGE_VERSION;
    EXPECT_TRUE(png_image_begin_read_from_memory(&header, bytes.data(), bytes.size())) << header.message;
    header.format = PNG_FORMAT_RGB;
    Image image{static_cast<int>(header.width), static_cast<int>(header.height), {}};
    image.pixel.resize(static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height));
    EXPECT_TRUE(png_image_finish_read(&header, nullptr, image.pixel.data(), 0, nullptr)) << header.message;
    return image;
}

std::uint8_t byte(std::mt19937& random) { return static_cast<std::uint8_t>(random() & 255); }

TEST(ReportImage, RgbPngRoundTrip) {
    std::mt19937 random(1);
    Image image{37, 11, {}};
    for (int i = 0; i < 37 * 11; ++i) image.pixel.push_back({byte(random), byte(random), byte(random)});
    const auto back = decode(encode_png(image));
    EXPECT_EQ(back.width, 37);
    EXPECT_EQ(back.height, 11);
    EXPECT_EQ(back.pixel, image.pixel);
}

TEST(ReportImage, IndexedPngRoundTrip) {
    std::mt19937 random(2);
    IndexedImage image{13, 29, {}, {}};
    for (int i = 0; i < 256; ++i) image.color.push_back({byte(random), byte(random), static_cast<std::uint8_t>(i)});
    for (int i = 0; i < 13 * 29; ++i) image.pixel.push_back(byte(random));
    const auto back = decode(encode_png(image));
    ASSERT_EQ(back.pixel.size(), image.pixel.size());
    for (std::size_t i = 0; i < image.pixel.size(); ++i) ASSERT_EQ(back.pixel[i], image.color[image.pixel[i]]) << i;
}

TEST(ReportImage, PngOfOneRowColumnOrPixel) {
    std::mt19937 random(3);
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{1, 40}, std::pair{40, 1}}) {
        Image image{width, height, {}};
        for (int i = 0; i < width * height; ++i) image.pixel.push_back({byte(random), byte(random), byte(random)});
        EXPECT_EQ(decode(encode_png(image)).pixel, image.pixel);
    }
    EXPECT_THROW(encode_png(Image{}), kasane::ComputationError);
    EXPECT_THROW(encode_png(IndexedImage{0, 1, {{1, 2, 3}}, {}}), kasane::ComputationError);
}

TEST(ReportImage, ShrinkAverages) {
    Image image{5, 4, std::vector<Rgb>(20)};
    image.pixel[0] = {255, 40, 0}, image.pixel[1] = {1, 40, 0}, image.pixel[5] = {0, 40, 0}, image.pixel[6] = {0, 40, 8};
    const auto small = shrink(image, 2);
    EXPECT_EQ(small.width, 2);
    EXPECT_EQ(small.height, 2);
    EXPECT_EQ(small.pixel[0], (Rgb{64, 40, 2}));
    EXPECT_EQ(small.pixel[3], (Rgb{0, 0, 0}));
}

TEST(ReportImage, Base64OfRfc4648) {
    const auto encoded = [](const std::string& text) { return base64({text.begin(), text.end()}); };
    EXPECT_EQ(encoded(""), "");
    EXPECT_EQ(encoded("f"), "Zg==");
    EXPECT_EQ(encoded("fo"), "Zm8=");
    EXPECT_EQ(encoded("foo"), "Zm9v");
    EXPECT_EQ(encoded("foobar"), "Zm9vYmFy");
    EXPECT_EQ(base64({0xff, 0xef, 0xbe}), "/+++");
}

TEST(ReportColor, KnownColorsOfOklab) {
    EXPECT_EQ(to_srgb({0, 0, 0}), (Rgb{0, 0, 0}));
    EXPECT_EQ(to_srgb({1, 0, 0}), (Rgb{255, 255, 255}));
    // sRGB's primaries, by the forward transformation of Ottosson's page.
    EXPECT_EQ(to_srgb({0.627955, 0.224863, 0.125846}), (Rgb{255, 0, 0}));
    EXPECT_EQ(to_srgb({0.452014, -0.032457, -0.311528}), (Rgb{0, 0, 255}));
}

TEST(ReportColor, GamutFittingKeepsLightnessAndHue) {
    const auto wild = oklch(0.7, 0.5, 62);
    const auto fitted = fit_gamut(wild);
    EXPECT_EQ(fitted.lightness, wild.lightness);
    EXPECT_NEAR(std::atan2(fitted.b, fitted.a), std::atan2(wild.b, wild.a), 1e-12);
    EXPECT_LT(std::hypot(fitted.a, fitted.b), 0.3);
    EXPECT_GT(std::hypot(fitted.a, fitted.b), 0.1);
}

/// Relative luminance of WCAG 2, a reference that does not use OKLab.
double luminance(const Rgb& c) {
    const auto linear = [](double v) { return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4); };
    return 0.2126 * linear(c.r / 255.0) + 0.7152 * linear(c.g / 255.0) + 0.0722 * linear(c.b / 255.0);
}

TEST(ReportColor, RampsRiseFromNightToGlare) {
    for (const auto& hues : {std::vector<double>{280}, std::vector<double>{62, 240}, std::vector<double>{62, 240, 300}}) {
        const Palette palette(hues);
        std::vector<double> share(hues.size(), 1.0 / static_cast<double>(hues.size()));
        double before = -1;
        for (int level = 0; level < Palette::levels; level += 5) {
            const double now = luminance(palette(level, share.data()));
            EXPECT_GT(now, before) << level;
            before = now;
        }
        EXPECT_LT(luminance(palette(0, share.data())), 0.01);
        EXPECT_GT(luminance(palette(Palette::levels - 1, share.data())), 0.9);
    }
}

TEST(ReportColor, TheEmptySkyHasNoHue) {
    const Palette palette({62, 240});
    const double amber[] = {1, 0}, azure[] = {0, 1};
    EXPECT_EQ(palette(0, amber), palette(0, azure)) << "where next to nothing is, the shares of the groups jump from 0 to 1";
}

TEST(ReportColor, GroupsKeepTheirHue) {
    const Palette palette({62, 240});
    const double amber[] = {1, 0}, azure[] = {0, 1};
    const auto warm = palette(140, amber), cold = palette(140, azure);
    EXPECT_GT(warm.r, warm.b + 80);
    EXPECT_GT(cold.b, cold.r + 80);
}

}  // namespace
