// Curves: round ticks, gaps where there is no number, SVG that is XML.
#include <kasane/report/plot.hpp>
#include "markup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <sstream>

using namespace kasane::report;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Plot simple(std::vector<double> x, std::vector<double> y) {
    Plot p;
    p.title = "a <title> & \"more\"";
    p.x_label = "time [Gyr]";
    p.y_label = "y < 1";
    p.series.push_back({"c & d", std::move(x), std::move(y)});
    return p;
}

std::string on_log_axis(Plot plot) {
    plot.log_y = true;
    return to_svg(plot);
}

std::size_t count(const std::string& text, const std::string& what) {
    std::size_t n = 0;
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
}

/// The path data of the first curve.
std::string path(const std::string& svg) {
    const auto first = svg.find("<path class=\"curve s0\" d=\"") + 26;
    return svg.substr(first, svg.find('"', first) - first);
}

TEST(ReportPlot, NiceTicks) {
    EXPECT_EQ(nice_ticks(0, 10, 5), (std::vector<double>{0, 2, 4, 6, 8, 10}));
    EXPECT_EQ(nice_ticks(-1, 1, 4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
    EXPECT_TRUE(nice_ticks(1, 1, 5).empty());
    EXPECT_TRUE(nice_ticks(0, std::numeric_limits<double>::infinity(), 5).empty());
    for (const double span : {1e-12, 0.37, 9.99, 123456.0, 1e30})
        for (const double low : {-0.5 * span, 0.0, 3.3 * span}) {
            const auto ticks = nice_ticks(low, low + span, 6);
            EXPECT_GE(ticks.size(), 2U) << low << " " << span;
            EXPECT_LE(ticks.size(), 7U) << low << " " << span;
            EXPECT_GE(ticks.front(), low - 1e-5 * span);
            EXPECT_LE(ticks.back(), low + span * (1 + 1e-5));
        }
}

TEST(ReportPlot, LogTicks) {
    const auto near = [](const std::vector<double>& a, const std::vector<double>& b) {
        return a.size() == b.size() &&
               std::equal(a.begin(), a.end(), b.begin(), [](double x, double y) { return std::abs(x - y) < 1e-9 * y; });
    };
    EXPECT_TRUE(near(log_ticks(0.5, 20), {0.5, 1, 2, 5, 10, 20}) || near(log_ticks(0.5, 20), {1, 10}));
    EXPECT_TRUE(near(log_ticks(1e-6, 1e-2), {1e-6, 1e-5, 1e-4, 1e-3, 1e-2}));
    EXPECT_LE(log_ticks(1e-30, 1).size(), 8U);
    EXPECT_GE(log_ticks(2, 7).size(), 2U);
    for (const double low : {1., 1.1, 2.1, 3.3, 5.1, 7.7})
        for (const double factor : {2.25, 2.4, 3.}) EXPECT_GE(log_ticks(low, factor * low).size(), 2U) << low << " " << factor;
    const std::vector<double> x{0, 1};
    for (const double y : {2250., 1.5e-3, 5.}) {  // an axis of one value
        const auto svg = on_log_axis(simple(x, {y, y}));
        EXPECT_GE(count(svg, "text-anchor=\"end\">"), 1 + 2U) << "a label and two ticks in " << svg;
    }
    EXPECT_NE(on_log_axis(simple(x, {3e-3, 3e-3})).find("2.5×10⁻³"), std::string::npos);
}

TEST(ReportPlot, WholeNumbersHaveWholeTicks) {
    const auto svg = to_svg(simple({0, 1, 2, 3}, {1, 2, 3, 4}));
    for (const char* tick : {">0<", ">1<", ">2<", ">3<"})
        EXPECT_NE(svg.find("text-anchor=\"middle\"" + std::string(tick)), std::string::npos);
    EXPECT_EQ(count(svg, "text-anchor=\"middle\""), 4U) << svg;
    const auto one = to_svg(simple({1}, {2}));
    EXPECT_EQ(count(one, "text-anchor=\"middle\">"), 1U) << one;
    EXPECT_NE(one.find("text-anchor=\"middle\">1<"), std::string::npos) << one;
    const auto many = to_svg(simple({16, 12345}, {1, 2}));
    for (const char* words : {"at time [Gyr] 16<", "at time [Gyr] 12,345<"}) EXPECT_NE(many.find(words), std::string::npos) << many;
    const auto parts = to_svg(simple({0, 0.5, 1}, {1, 2, 3}));
    EXPECT_NE(parts.find(">0.2<"), std::string::npos);
}

TEST(ReportPlot, DoublingTicks) {
    EXPECT_EQ(doubling_ticks(1, 8), (std::vector<double>{1, 2, 4, 8}));
    EXPECT_EQ(doubling_ticks(1.1, 7.9), (std::vector<double>{2, 4}));
    EXPECT_EQ(doubling_ticks(1. / 8192, 1. / 8).size(), 6U);  // every second of eleven
    EXPECT_LE(doubling_ticks(1e-30, 1e30).size(), 10U);
}

/// Where the points of the first curve lie, from left to right.
std::vector<double> abscissae(const std::string& svg) {
    const auto d = path(svg);
    std::vector<double> x;
    for (auto at = d.find_first_of("ML"); at != std::string::npos; at = d.find_first_of("ML", at + 1))
        x.push_back(std::stod(d.substr(at + 1)));
    return x;
}

TEST(ReportPlot, LogarithmicAbscissa) {
    for (const auto scale : {Scale::decades, Scale::doublings}) {
        auto p = simple({1, 4, 16, 64}, {1, 2, 3, 4});
        p.x_scale = scale, p.marks = true;
        const auto svg = to_svg(p);
        EXPECT_EQ(kasane::test::markup_problem(svg, kasane::test::Dialect::xml), "") << svg;
        EXPECT_EQ(count(svg, "class=\"mark s0\""), 4U);
        const auto x = abscissae(svg);
        ASSERT_EQ(x.size(), 4U);
        for (std::size_t i = 2; i < 4; ++i) EXPECT_NEAR(x[i] - x[i - 1], x[1] - x[0], 0.21) << "equal ratios, equal distances";
    }
    auto small = simple({std::ldexp(1., -9), std::ldexp(1., -8), 1 << 20}, {1, 2, 3});
    small.x_scale = Scale::doublings;
    EXPECT_NE(to_svg(small).find("2⁻⁹"), std::string::npos);
    auto bad = simple({0, 1, 2}, {1, 2, 3});
    bad.x_scale = Scale::decades;
    EXPECT_EQ(abscissae(to_svg(bad)).size(), 2U) << "0 has no place on a logarithmic axis";
    auto single = simple({8}, {1});
    single.x_scale = Scale::doublings;
    EXPECT_EQ(to_svg(single).find("nan"), std::string::npos);
}

TEST(ReportPlot, IsXmlWithTextsEscaped) {
    for (const bool log_y : {false, true}) {
        auto p = simple({0, 1, 2, 3}, {1, 2, 4, 8});
        p.log_y = log_y;
        p.reference = 3;
        p.reference_name = "a<b";
        const auto svg = to_svg(p);
        EXPECT_EQ(kasane::test::markup_problem(svg, kasane::test::Dialect::xml), "") << svg;
        EXPECT_NE(svg.find("c &amp; d"), std::string::npos);
        EXPECT_EQ(svg.find("<title> &"), std::string::npos);
    }
}

TEST(ReportPlot, BadNumbersLeaveGaps) {
    const double inf = std::numeric_limits<double>::infinity();
    const auto d = path(to_svg(simple({0, 1, 2, 3, 4, 5, nan, 7}, {1, 2, nan, 4, 5, inf, 6, 7})));
    EXPECT_EQ(count(d, "M"), 3U) << d;
    EXPECT_EQ(count(d, "L"), 2U) << d;
    EXPECT_EQ(d.find("nan"), std::string::npos);
    EXPECT_EQ(d.find("inf"), std::string::npos);
    auto logarithmic = simple({0, 1, 2, 3}, {0, 1, -1, 10});
    logarithmic.log_y = true;
    EXPECT_EQ(count(path(to_svg(logarithmic)), "M"), 2U);
}

TEST(ReportPlot, MarksAloneHaveNoCurve) {
    auto p = simple({1, 2, 3}, {4, 5, 6});
    p.series.push_back({"marks", {1, 2}, {5, 6}, 4, Stroke::none, 1});
    const auto svg = to_svg(p);
    EXPECT_EQ(count(svg, "class=\"curve"), 1U);
    EXPECT_EQ(count(svg, "class=\"mark s4\""), 2U) << "marks of the one series, though the plot has none";
    EXPECT_EQ(count(svg, "<path class=\"mark s4\""), 2U) << "squares";
    p.marks = true;
    EXPECT_EQ(count(to_svg(p), "class=\"mark"), 5U);
}

TEST(ReportPlot, NothingToDraw) {
    EXPECT_EQ(to_svg(simple({}, {})), "");
    EXPECT_EQ(to_svg(simple({0, 1}, {nan, nan})), "");
    EXPECT_EQ(to_svg(simple({nan, nan}, {0, 1})), "");
    auto logarithmic = simple({0, 1}, {0, 0});
    logarithmic.log_y = true;
    EXPECT_EQ(to_svg(logarithmic), "");
}

TEST(ReportPlot, FlatAndSingleCurvesHaveFiniteCoordinates) {
    for (const auto& y : {std::vector<double>{5}, {0, 0, 0}, {1e-300, 1e-300}, {-3, -3}, {1e300, -1e300}})
        for (const bool log_y : {false, true}) {
            std::vector<double> x;
            for (std::size_t i = 0; i < y.size(); ++i) x.push_back(static_cast<double>(i));
            auto p = simple(x, y);
            p.log_y = log_y;
            const auto svg = to_svg(p);
            EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
            EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
        }
}

TEST(ReportPlot, LongTablesKeepTheirPeaks) {
    std::vector<double> x, y;
    for (int i = 0; i < 100'000; ++i) x.push_back(i), y.push_back(i == 54'321 ? 100 : 1);
    const auto svg = to_svg(simple(x, y));
    EXPECT_LT(svg.size(), 60'000U);
    // The peak is the only point near the top; the frame reaches 6% above it.
    const auto d = path(svg);
    double highest = 1e9;
    for (auto at = d.find_first_of("ML"); at != std::string::npos; at = d.find_first_of("ML", at + 1)) {
        const auto space = d.find(' ', at);
        highest = std::min(highest, std::stod(d.substr(space + 1)));
    }
    EXPECT_LT(highest, 60);
}

struct Text {
    double left, top, right, bottom;
};

/// Attribute `name` of the element that begins at `at`.
double attribute(const std::string& svg, std::size_t at, const std::string& name) {
    const auto found = svg.find(" " + name + "=\"", at);
    return std::stod(svg.substr(found + name.size() + 3));
}

/// The box of an end-anchored or start-anchored text of 13 px: its letters are about 7.2 px wide.
Text box_of(const std::string& svg, const std::string& text) {
    const auto end = svg.find(">" + text + "</text>"), at = svg.rfind("<text", end);
    EXPECT_NE(end, std::string::npos) << text;
    const double x = attribute(svg, at, "x"), y = attribute(svg, at, "y"), width = 7.2 * static_cast<double>(text.size());
    const bool ends = svg.substr(at, end - at).find("text-anchor=\"end\"") != std::string::npos;
    return {ends ? x - width : x, y - 11, ends ? x : x + width, y + 4};
}

/// Points every half pixel on the curves, and the middles of the marks.
std::vector<std::pair<double, double>> inked(const std::string& svg) {
    std::vector<std::pair<double, double>> points;
    for (auto at = svg.find("<path class=\"curve"); at != std::string::npos; at = svg.find("<path class=\"curve", at + 1)) {
        std::istringstream d(svg.substr(svg.find(" d=\"", at) + 4));
        double x = 0, y = 0;
        for (char command; d >> command && (command == 'M' || command == 'L');) {
            double to_x = 0, to_y = 0;
            d >> to_x >> to_y;
            const int n = command == 'M' ? 0 : 1 + static_cast<int>(2 * std::hypot(to_x - x, to_y - y));
            for (int k = 0; k < n; ++k) points.emplace_back(x + (to_x - x) * k / n, y + (to_y - y) * k / n);
            points.emplace_back(x = to_x, y = to_y);
        }
    }
    for (auto at = svg.find("<circle class=\"mark"); at != std::string::npos; at = svg.find("<circle class=\"mark", at + 1))
        points.emplace_back(attribute(svg, at, "cx"), attribute(svg, at, "cy"));
    return points;
}

void expect_clear(const Plot& plot, const std::string& text) {
    const auto svg = to_svg(plot);
    const auto box = box_of(svg, text);
    EXPECT_GT(box.left, 60) << "inside the drawing";
    EXPECT_LT(box.right, 560) << "inside the drawing";
    for (const auto& [x, y] : inked(svg))
        ASSERT_FALSE(x > box.left && x < box.right && y > box.top && y < box.bottom) << text << " is crossed at " << x << ", " << y;
}

TEST(ReportPlot, TheNameOfTheReferenceCrossesNoCurve) {
    // A residual that ends at its tolerance, straight and with a plateau there.
    for (const int plateau : {0, 30, 60}) {
        std::vector<double> x, y;
        for (int k = 0; k <= 100; ++k) x.push_back(k), y.push_back(std::pow(10., -8. * std::min(1., k / (100. - plateau))));
        auto p = simple(x, y);
        p.log_y = true;
        p.reference = 1e-8, p.reference_name = "tolerance: 1.0e-8";
        expect_clear(p, p.reference_name);
    }
    // Noise about its mean, sparse with marks, dense without.
    for (const int n : {12, 39, 400})
        for (unsigned seed = 1; seed <= 20; ++seed) {
            std::mt19937 random(seed);
            std::normal_distribution<double> normal(0.5934, 1e-3);
            std::vector<double> x, y;
            for (int k = 0; k < n; ++k) x.push_back(k), y.push_back(normal(random));
            auto p = simple(x, y);
            p.marks = n < 40;
            p.reference = 0.5934, p.reference_name = "mean 0.5934(1)";
            p.series[0].name = "";
            expect_clear(p, p.reference_name);
        }
}

TEST(ReportPlot, TheNameOfTheReferenceStaysNearItsLineWhereItFits) {
    auto p = simple({0, 1, 2, 3}, {10, 11, 12, 13});
    p.reference = 1, p.reference_name = "limit";
    const auto svg = to_svg(p);
    const auto box = box_of(svg, "limit");
    const auto line = svg.find("class=\"reference\"");
    EXPECT_NEAR(box.bottom, attribute(svg, line, "y1"), 4);
    EXPECT_LT(box.right, attribute(svg, line, "x2"));
}

}  // namespace
