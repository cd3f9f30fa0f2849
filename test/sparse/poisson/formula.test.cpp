// Formulas of sources and coefficients: values against C++, precedence, refused forms, and the place of an error.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace {

using namespace kasane;
using namespace kasane::sparse;

PoissonProblem small_box() {
    PoissonProblem problem;
    problem.cells = {2, 3, 5};
    problem.spacing = {{{0.125, 0.25}, {0.125, 0.125, 0.5}, {0.125, 0.125, 0.125, 0.125, 0.5}}};
    return problem;
}

/// In the last cell of that box: (2, 3, 5), with its centre at (0.25, 0.5, 0.75).
double value(const std::string& text) { return source_of(small_box(), text).back(); }

/// Column and message of an error.
std::pair<int, std::string> fault(const std::string& text) {
    try {
        check_formula(text);
    } catch (const InputError& error) {
        return {error.problems()[0].where.column, error.problems()[0].message};
    }
    return {0, "accepted"};
}

TEST(Formula, ReadsNumbersIndicesCentresAndFunctions) {
    EXPECT_EQ(value("1"), 1);
    EXPECT_EQ(value("i + j + k"), 10);
    EXPECT_EQ(value("i*100 + j*10 + k"), 235);
    EXPECT_EQ(value("x + 2*y + 4*z"), 0.25 + 1 + 3);
    EXPECT_EQ(value(" 1.5e2\t+.5 \n"), 150.5);
    EXPECT_EQ(value("2E-1"), 0.2);
    EXPECT_EQ(value("pi"), std::numbers::pi);
    EXPECT_EQ(value("sin(pi/6)"), std::sin(std::numbers::pi / 6));
    EXPECT_EQ(value("cos( x )"), std::cos(0.25));
    EXPECT_EQ(value("exp(log(k))"), std::exp(std::log(5.)));
    EXPECT_EQ(value("sqrt(abs(-i*8))"), 4);
}

TEST(Formula, BindsAsInAlgebra) {
    EXPECT_EQ(value("1 + 2*3"), 7);
    EXPECT_EQ(value("8 - 4 - 2"), 2);
    EXPECT_EQ(value("8/4/2"), 1);
    EXPECT_EQ(value("2^3^2"), 512);
    EXPECT_EQ(value("-2^2"), -4);
    EXPECT_EQ(value("(-2)^2"), 4);
    EXPECT_EQ(value("2^-1"), 0.5);
    EXPECT_EQ(value("2^-1*3"), 1.5);
    EXPECT_EQ(value("2^-i^2*32"), 2);
    EXPECT_EQ(value("2*-3"), -6);
    EXPECT_EQ(value("1 - -1"), 2);
    EXPECT_EQ(value("2*(3 + 4)*5"), 70);
}

TEST(Formula, ComparesAndChooses) {
    EXPECT_EQ(value("x < 0.5 ? 1 : 10"), 1);
    EXPECT_EQ(value("x > 0.5 ? 1 : 10"), 10);
    EXPECT_EQ(value("i == 2 && j != 2"), 1);
    EXPECT_EQ(value("i <= 1 || k >= 6"), 0);
    EXPECT_EQ(value("1 || 0 && 0"), 1) << "&& binds closer than ||";
    EXPECT_EQ(value("1 + 1 < 3"), 1) << "comparisons bind less than sums";
    EXPECT_EQ(value("x < 0.1 ? 1 : x < 0.3 ? 2 : 3"), 2);
    EXPECT_EQ(value("x > 0.1 ? y > 1 ? 1 : 2 : 3"), 2);
    EXPECT_EQ(value("2*(x < 0.5 ? 3 : 4) + 1"), 7);
    EXPECT_EQ(value("i == 2 ? 1 : 1/(i - 2)"), 1) << "the other value is not evaluated";
}

/// The same cells as doubles, in plain C++.
struct Point {
    double i, j, k, x, y, z;
};

TEST(Formula, EqualsTheSameExpressionsInCpp) {
    using std::abs, std::cos, std::exp, std::log, std::pow, std::sin, std::sqrt;
    constexpr double pi = std::numbers::pi;
    const struct {
        const char* text;
        std::function<double(const Point&)> of;
    } cases[] = {
        {"i + j + k", [](const Point& p) { return p.i + p.j + p.k; }},
        {"0.3 + abs(sin(i + 2*j + 5*k)) * 10^(i - 2)",
         [](const Point& p) { return 0.3 + abs(sin(p.i + 2 * p.j + 5 * p.k)) * pow(10, p.i - 2); }},
        {"-x^2 + y^-2 - z^3^0.5", [](const Point& p) { return -pow(p.x, 2) + pow(p.y, -2) - pow(p.z, pow(3, 0.5)); }},
        {"exp(-((x - 1)/0.4)^2 - ((y - 0.5)/0.4)^2)*log(1 + z)",
         [](const Point& p) { return exp(-pow((p.x - 1) / 0.4, 2) - pow((p.y - 0.5) / 0.4, 2)) * log(1 + p.z); }},
        {"cos(pi*x)*cos(pi*y)*sin(pi*z/2)", [](const Point& p) { return cos(pi * p.x) * cos(pi * p.y) * sin(pi * p.z / 2); }},
        {"(x + 1e16) - 1e16 + (y + 1) + 2", [](const Point& p) { return (p.x + 1e16) - 1e16 + (p.y + 1) + 2; }},
        {"x < 0.8 && y > 0.3 || k == 2 ? 10*z : 0.1/sqrt(x)",
         [](const Point& p) { return (p.x < 0.8 && p.y > 0.3) || p.k == 2 ? 10 * p.z : 0.1 / sqrt(p.x); }},
        {"x <= y ? 1 : (y < z ? 2 : 3)*x - (i >= 2)",
         [](const Point& p) { return p.x <= p.y ? 1 : (p.y < p.z ? 2 : 3) * p.x - (p.i >= 2); }},
    };
    PoissonProblem problem;
    problem.cells = {7, 5, 6};
    problem.spacing = {{{0.3}, {0.1, 0.2, 0.3, 0.05, 0.4}, {1. / 3}}};
    const auto x = cell_centres(problem, 0), y = cell_centres(problem, 1), z = cell_centres(problem, 2);
    for (const auto& c : cases) {
        const auto values = source_of(problem, c.text);
        for (std::size_t row = 0; row < values.size(); ++row) {
            const auto i = row % 7, j = row / 7 % 5, k = row / 35;
            const auto as = [](std::size_t n) { return static_cast<double>(n + 1); };
            ASSERT_EQ(values[row], c.of({as(i), as(j), as(k), x[i], y[j], z[k]})) << c.text << " in row " << row;
        }
    }
}

TEST(Formula, NamesTheColumnOfAnError) {
    const struct {
        const char* text;
        int column;
        const char* word;
    } cases[] = {{"", 1, "empty"},
                 {"   ", 4, "empty"},
                 {"1 +", 4, "ends"},
                 {"(1 + i", 7, "character 1"},
                 {"1)", 2, "operator"},
                 {"()", 2, "a number"},
                 {"2x", 2, "operator"},
                 {"1 2", 3, "operator"},
                 {"2 ** 3", 4, "a number"},
                 {"1..2", 3, "operator"},
                 {".", 1, "no number"},
                 {"1e999", 1, "range"},
                 {"0x10", 2, "operator"},
                 {"sin 1", 1, "parentheses"},
                 {"sin", 1, "parentheses"},
                 {"sin(1", 6, "character 4"},
                 {"sin()", 5, "a number"},
                 {"sin(x)cos(x)", 7, "operator"},
                 {"i + sinn(x)", 5, "'sin'"},
                 {"r^2", 1, "cell centres"},
                 {"nan", 1, "not known"},
                 {"1 + \xc3\xa9", 5, "\xc3\xa9"},
                 {"x; y", 2, "operator"},
                 {"--3", 2, "parentheses"},
                 {"y < -", 6, "ends"},
                 {"x*(-)", 5, "a number"},
                 {"x < 1 ? 2", 10, "? and :"},
                 {"1 : 2", 4, "? and :"},
                 {"? 1 : 2", 1, "a number"},
                 {"x &  y", 3, "operator"},
                 {"!x", 1, "a number"},
                 {"1 +\n  2*q", 5, "line 2, column 5"}};
    for (const auto& c : cases) {
        const auto [column, message] = fault(c.text);
        EXPECT_EQ(column, c.column) << c.text << ": " << message;
        EXPECT_NE(message.find(c.word), std::string::npos) << c.text << ": " << message;
        EXPECT_NE(message.find("column " + std::to_string(column) + " of the formula"), std::string::npos) << message;
    }
}

TEST(Formula, RefusesExtensionsOfMuParser) {
    const struct {
        const char* text;
        int column;
        const char* word;
    } cases[] = {{"x = 3", 3, "=="},          {"(y = 2)*x", 4, "=="},           {"x <== 1", 5, "=="},
                 {"1, 2", 2, "decimal"},      {"sin(1, 2)", 6, "one argument"}, {"rnd", 1, "not known"},
                 {"rnd(1)", 1, "not known"},  {"_pi", 1, "not known"},          {"min(x)", 1, "not known"},
                 {"sum(x)", 1, "not known"},  {"rint(x)", 1, "not known"},      {"\"text\"", 1, "a number"},
                 {"0 < x < 1", 7, "chained"}, {"x == y == z", 8, "chained"},    {"x < 1 && y < 2 > 1", 16, "chained"}};
    for (const auto& c : cases) {
        const auto [column, message] = fault(c.text);
        EXPECT_EQ(column, c.column) << c.text << ": " << message;
        EXPECT_NE(message.find(c.word), std::string::npos) << c.text << ": " << message;
    }
    for (const char* good : {"0 < x && x < 1", "(x < y) == (y < z)", "x < 1 ? y < 2 : z < 3", "abs(x < 1) < 2"})
        EXPECT_EQ(fault(good).second, "accepted") << good;
}

TEST(Formula, LongAndDeepFormulasAreEvaluatedOrRefused) {
    const auto repeated = [](int n, const std::string& text) {
        std::string all;
        for (int i = 0; i < n; ++i) all += text;
        return all;
    };
    EXPECT_EQ(value(repeated(4'000, "(") + "x" + repeated(4'000, ")")), 0.25);
    EXPECT_EQ(value("0" + repeated(4'000, "+1")), 4'000);
    EXPECT_EQ(value("1" + repeated(4'000, "^1")), 1);
    EXPECT_EQ(value(repeated(1'000, "sin(") + "0" + repeated(1'000, ")")), 0);
    EXPECT_EQ(value(repeated(900, "x < 0 ? 1 :") + "2"), 2);
    EXPECT_EQ(value(repeated(900, "x < 1 ?") + "2" + repeated(900, ":3")), 2);
    for (const char* text : {"(", "-", "1^", "x<1?", "sin(", "x", "1+"})
        EXPECT_NE(fault(repeated(100'000, text)).second.find("10000 are allowed"), std::string::npos) << text;
    for (const char* text : {"(", "-", "1^", "x<1?", "sin(", ")", "1 ", ":"})
        EXPECT_NE(fault(repeated(1'500, text)).second.find("column"), std::string::npos) << text;
}

TEST(Formula, FillsTheCellsOfAProblem) {
    PoissonProblem problem;
    problem.cells = {2, 3, 2};
    problem.spacing = {{{0.5}, {1, 2, 3}, {2}}};
    const auto indices = source_of(problem, "100*i + 10*j + k");
    const auto centres = source_of(problem, "x + 10*y + 100*z");
    EXPECT_EQ(indices, (std::vector<double>{111, 211, 121, 221, 131, 231, 112, 212, 122, 222, 132, 232}));
    EXPECT_EQ(centres[0], 0.25 + 10 * 0.5 + 100);
    EXPECT_EQ(centres[3], 0.75 + 10 * 2 + 100);
    EXPECT_EQ(centres[11], 0.75 + 10 * 4.5 + 300);
}

TEST(Formula, MustBeFiniteInEveryCell) {
    PoissonProblem problem;
    problem.cells = {4, 4, 4};
    for (const char* text : {"1/(i - 3) + log(k)", "i < 3 ? 1 : sqrt(-k)", "i < 3 ? 1 : exp(1000*k)"}) {
        try {
            source_of(problem, text);
            FAIL() << "not finite in cell (3, 1, 1): " << text;
        } catch (const InputError& error) {
            EXPECT_NE(std::string(error.what()).find("cell (3, 1, 1), at x = 2.5, y = 0.5, z = 0.5"), std::string::npos) << error.what();
        }
    }
}

}  // namespace
