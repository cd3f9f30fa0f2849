#include <kasane/report/words.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace kasane::report;

namespace {

TEST(ReportWords, Escape) {
    EXPECT_EQ(escape("<b>\"a\" & 'c'</b>"), "&lt;b&gt;&quot;a&quot; &amp; &#39;c&#39;&lt;/b&gt;");
    EXPECT_EQ(escape(std::string("a\0b\x1b[1m\n", 8)), "ab[1m\n");
    EXPECT_EQ(escape("重ね"), "重ね");
}

TEST(ReportWords, Grouped) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(16384), "16,384");
    EXPECT_EQ(grouped(-123456), "-123,456");
    EXPECT_EQ(grouped(1234567890), "1,234,567,890");
}

TEST(ReportWords, Numbers) {
    EXPECT_EQ(number(0), "0");
    EXPECT_EQ(number(1.4672), "1.47");
    EXPECT_EQ(number(12.345), "12.3");
    EXPECT_EQ(number(999.96), "1,000");
    EXPECT_EQ(number(123456), "123,000");
    EXPECT_EQ(number(0.0123), "0.0123");
    EXPECT_EQ(number(-2.5), "−2.50");
    EXPECT_EQ(number(2.81e-4, 2), "2.8\u00a0×\u00a010⁻⁴");
    EXPECT_EQ(number(3.1e12), "3.10\u00a0×\u00a010¹²");
    EXPECT_EQ(number(std::nan("")), "unknown");
    EXPECT_EQ(number(-std::numeric_limits<double>::infinity()), "−infinite");
    EXPECT_EQ(error_size(1.16e-3), "1.2\u00a0×\u00a010⁻³");
    EXPECT_EQ(error_size(0.00999), "1.0\u00a0×\u00a010⁻²");
    EXPECT_EQ(error_size(0.025), "0.025");
    EXPECT_EQ(error_size(0), "0");
    EXPECT_EQ(brief(0.8), "0.8");
    EXPECT_EQ(brief(2), "2");
    EXPECT_EQ(brief(16384), "16,380");
    EXPECT_EQ(brief(100), "100");
    EXPECT_EQ(brief(1.5e-9), "1.5\u00a0×\u00a010⁻⁹");
}

TEST(ReportWords, Durations) {
    EXPECT_EQ(duration(0.42), "0.42\u00a0s");
    EXPECT_EQ(duration(12.3), "12\u00a0s");
    EXPECT_EQ(duration(59.6), "1\u00a0min");
    EXPECT_EQ(duration(102), "1\u00a0min 42\u00a0s");
    EXPECT_EQ(duration(12'000), "3\u00a0h 20\u00a0min");
    EXPECT_EQ(duration(200'000), "2\u00a0d 7\u00a0h");
    EXPECT_EQ(duration(std::nan("")), "unknown");
}

TEST(ReportWords, Units) {
    EXPECT_EQ(pretty_unit("1e10 Msun"), "10¹⁰ M☉");
    EXPECT_EQ(pretty_unit("kpc"), "kpc");
    EXPECT_EQ(pretty_unit(""), "");
    EXPECT_EQ(pretty_unit("1e"), "1e");
    EXPECT_EQ(pretty_unit("1e10"), "1e10");
    EXPECT_EQ(powered_unit("1e10 Msun").exponent, 10);
}

TEST(ReportWords, ShellWords) {
    EXPECT_EQ(shell_word("out/two-galaxies_1"), "out/two-galaxies_1");
    EXPECT_EQ(shell_word("it's here"), "'it'\\''s here'");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("$(rm)"), "'$(rm)'");
}

}  // namespace
