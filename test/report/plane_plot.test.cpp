// Points in a plane.
#include <kasane/report/plane_plot.hpp>

#include <gtest/gtest.h>
#include <test/report/markup.hpp>

#include <complex>
#include <limits>
#include <string>
#include <vector>

namespace {

using namespace kasane;

std::string svg_of(std::vector<std::complex<double>> points) {
    return to_svg(report::PlanePlot{.title = "P < 1", .x_label = "Re P", .y_label = "Im P", .points = std::move(points), .rays = {0, 2}});
}

std::size_t dots(const std::string& svg) {
    std::size_t n = 0;
    for (auto at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++n;
    return n;
}

TEST(PlanePlot, DrawsOneDotPerFinitePoint) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_EQ(svg_of({}), "");
    EXPECT_EQ(svg_of({{nan, 0}}), "");
    const auto svg = svg_of({{0.1, 0.2}, {nan, 0.2}, {-0.1, 0}});
    EXPECT_EQ(test::markup_problem(svg, test::Dialect::xml), "");
    EXPECT_EQ(dots(svg), 2U);
    EXPECT_EQ(dots(svg_of({{0, 0}})), 1U) << "all at the origin";
    EXPECT_LE(dots(svg_of(std::vector<std::complex<double>>(5001, {0.1, 0.1}))), 2000U);
}

TEST(PlanePlot, HasTicksOnBothSidesOfZero) {
    for (double size = 0.01; size < 1; size *= 1.07) {
        const auto svg = svg_of({{size, 0}});
        std::size_t ticks = 0;
        for (auto at = svg.find("text-anchor=\"end\">"); at != std::string::npos; at = svg.find("text-anchor=\"end\">", at + 1)) ++ticks;
        EXPECT_GE(ticks, 1 + 3U) << size << ": the label of the axis and three ticks at least";
        EXPECT_LE(ticks, 1 + 6U) << size;
    }
}

}  // namespace
