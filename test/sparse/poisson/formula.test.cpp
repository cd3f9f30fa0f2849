// Formulas of sources and coefficients: values, precedence, and where a bad one is bad.
#include <kasane/core/base/error.hpp>
#include <kasane/sparse/poisson/poisson.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace {

using namespace kasane;
using namespace kasane::sparse;

double value(const std::string& text) { return parse_formula(text)({2, 3, 5}, {0.25, 0.5, 0.75}); }

/// Column and message of what is wrong.
std::pair<int, std::string> fault(const std::string& text) {
    try {
        parse_formula(text);
    } catch (const InputError& error) {
        return {error.problems()[0].where.column, error.problems()[0].message};
    }
    return {0, "understood"};
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
    EXPECT_EQ(value("2*-3"), -6);
    EXPECT_EQ(value("--3"), 3);
    EXPECT_EQ(value("1 - -1"), 2);
    EXPECT_EQ(value("2*(3 + 4)*5"), 70);
}

TEST(Formula, SaysInWhichColumnItIsBad) {
    const struct {
        const char* text;
        int column;
        const char* word;
    } cases[] = {{"", 1, "empty"},
                 {"   ", 4, "empty"},
                 {"1 +", 4, "ends"},
                 {"(1 + i", 7, "column 1"},
                 {"1)", 2, "operator"},
                 {"()", 2, "a number"},
                 {"2x", 2, "operator"},
                 {"1 2", 3, "operator"},
                 {"2 ** 3", 4, "a number"},
                 {"1..2", 3, "operator"},
                 {".", 1, "no number"},
                 {"1e999", 1, "range"},
                 {"sin 1", 5, "parentheses"},
                 {"sin(1", 6, "column 4"},
                 {"sin()", 5, "a number"},
                 {"i + sinn(x)", 5, "'sin'"},
                 {"r^2", 1, "cell centres"},
                 {"+1", 1, "a number"},
                 {"nan", 1, "not known"},
                 {"1 + \xc3\xa9", 5, "\xc3\xa9"},
                 {"x; y", 2, "operator"}};
    for (const auto& c : cases) {
        const auto [column, message] = fault(c.text);
        EXPECT_EQ(column, c.column) << c.text << ": " << message;
        EXPECT_NE(message.find(c.word), std::string::npos) << c.text << ": " << message;
    }
}

TEST(Formula, NestsToALimitAndNoFurther) {
    const auto nested = [](int levels) {
        return std::string(static_cast<std::size_t>(levels), '(') + "x" + std::string(static_cast<std::size_t>(levels), ')');
    };
    EXPECT_EQ(value(nested(60)), 0.25);
    EXPECT_NE(fault(nested(100'000)).second.find("deeper"), std::string::npos);
    EXPECT_NE(fault(std::string(100'000, '-') + "1").second.find("deeper"), std::string::npos);
    std::string tower = "1";
    for (int i = 0; i < 100'000; ++i) tower += "^1";
    EXPECT_NE(fault(tower).second.find("deeper"), std::string::npos);
    // The fullest stack that a formula of that depth can ask for: a sum, a product and a power held back on every level.
    std::string full;
    for (int i = 0; i < 31; ++i) full += "1+1*1^(";
    full += "1" + std::string(31, ')');
    EXPECT_EQ(value(full), 2);
    std::string chain = "0";
    for (int i = 0; i < 10'000; ++i) chain += "+1";
    EXPECT_EQ(value(chain), 10'000) << "a long formula is not a deep one";
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
    try {
        source_of(problem, "1/(i - 3) + log(k)");
        FAIL() << "infinite in cell (3, 1, 1)";
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("cell (3, 1, 1)"), std::string::npos) << error.what();
    }
}

}  // namespace
