// Slices of a box: right values in the right places, to one scale, whatever the cells' widths.
#include <kasane/report/slices.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace kasane::report;

/// Values f(x, y, z) at the cell centres.
template <class F>
std::vector<double> fill(const std::array<std::vector<double>, 3>& faces, F f) {
    const auto centre = [&](std::size_t d, std::size_t i) { return (faces[d][i] + faces[d][i + 1]) / 2; };
    std::vector<double> values;
    for (std::size_t k = 0; k + 1 < faces[2].size(); ++k)
        for (std::size_t j = 0; j + 1 < faces[1].size(); ++j)
            for (std::size_t i = 0; i + 1 < faces[0].size(); ++i) values.push_back(f(centre(0, i), centre(1, j), centre(2, k)));
    return values;
}

const Rgb& pixel(const Slice& slice, double right, double up) {
    const auto x = static_cast<int>(right * slice.image.width), y = static_cast<int>((1 - up) * slice.image.height);
    return slice.image.pixel[static_cast<std::size_t>(y * slice.image.width + x)];
}

TEST(Slices, ALinearFieldIsDrawnExactly) {
    const std::array<std::vector<double>, 3> faces{{{0, 1, 3, 4}, {0, 0.5, 1, 1.5, 2}, {0, 3, 4}}};
    const auto values = fill(faces, [](double x, double y, double z) { return x + 10 * y + 100 * z; });
    const ColorScale scale(0, 500);
    const auto slices = middle_slices({faces, &values}, scale);
    // Between the outermost centres, x 0.5 to 3.5, y 0.25 to 1.75, z 1.5 to 3.5, and constant beyond.
    const double x[] = {0.5, 3.5}, y[] = {0.25, 1.75}, z[] = {1.5, 3.5};
    EXPECT_EQ(slices[0].normal, 2);
    EXPECT_EQ(slices[0].position, 2);
    EXPECT_NEAR(slices[0].least, x[0] + 10 * y[0] + 100 * 2, 1e-9);
    EXPECT_NEAR(slices[0].greatest, x[1] + 10 * y[1] + 100 * 2, 1e-9);
    EXPECT_EQ(slices[1].normal, 1);
    EXPECT_NEAR(slices[1].least, x[0] + 10 * 1 + 100 * z[0], 1e-9);
    EXPECT_NEAR(slices[1].greatest, x[1] + 10 * 1 + 100 * z[1], 1e-9);
    EXPECT_EQ(slices[2].normal, 0);
    EXPECT_NEAR(slices[2].least, 2 + 10 * y[0] + 100 * z[0], 1e-9);
    EXPECT_NEAR(slices[2].greatest, 2 + 10 * y[1] + 100 * z[1], 1e-9);
    // Up is up: brighter, as the value grows.
    EXPECT_GT(pixel(slices[1], 0.5, 0.95).r, pixel(slices[1], 0.5, 0.05).r);
}

TEST(Slices, SidesHaveOneScaleUnlessTheyAreTooThin) {
    const std::array<std::vector<double>, 3> faces{{{0, 2}, {0, 1}, {0, 100}}};
    const std::vector<double> values{1};
    const auto slices = middle_slices({faces, &values}, ColorScale(1, 1));
    EXPECT_TRUE(slices[1].stretched);
    EXPECT_EQ(slices[1].image.height, 480);
    EXPECT_EQ(slices[1].image.width, 96);
    const std::array<std::vector<double>, 3> wide{{{0, 2}, {0, 1}, {0, 1}}};
    const auto plain = middle_slices({wide, &values}, ColorScale(1, 1));
    EXPECT_FALSE(plain[0].stretched);
    EXPECT_EQ(plain[0].image.width, 480);
    EXPECT_EQ(plain[0].image.height, 240);
    EXPECT_EQ(plain[2].image.width, 240);
}

TEST(Slices, NanIsGrey) {
    const std::array<std::vector<double>, 3> faces{{{0, 1, 2}, {0, 1}, {0, 1}}};
    const std::vector<double> values{std::numeric_limits<double>::quiet_NaN(), 3};
    const auto slices = middle_slices({faces, &values}, ColorScale(0, 3));
    EXPECT_EQ(pixel(slices[0], 0.1, 0.5), (Rgb{128, 128, 128}));
    EXPECT_NE(pixel(slices[0], 0.9, 0.5), (Rgb{128, 128, 128}));
    EXPECT_EQ(slices[0].least, 3);
}

TEST(Slices, ColorsMeetAtZeroForValuesOfBothSigns) {
    const ColorScale both(-2, 3);
    EXPECT_EQ(both.least(), -3);
    EXPECT_EQ(both.greatest(), 3);
    EXPECT_GT(both(-3).b, both(-3).r);
    EXPECT_GT(both(3).r, both(3).b);
    const auto middle = both(0);
    EXPECT_LT(std::max({middle.r, middle.g, middle.b}) - std::min({middle.r, middle.g, middle.b}), 12) << "no hue";
    const ColorScale one(-0.1, 3);  // a little below zero does not count as a second side
    EXPECT_EQ(one.least(), -0.1);
    EXPECT_EQ(ColorScale(5, 5).share(5), 0.5);
    EXPECT_TRUE(ColorScale(5, 5).ticks(5).empty());
}

}  // namespace
