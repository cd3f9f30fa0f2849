// The run-file reader: all problems at once with their places, nearest names, ranges, settings, the resolved text.
#include <kasane/core/io/toml.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

namespace {

using namespace kasane;
using namespace kasane::io;

class Toml : public ::testing::Test {
   protected:
    std::filesystem::path write(const std::string& text) {
        const auto name = std::string(::testing::UnitTest::GetInstance()->current_test_info()->name());
        const auto path = std::filesystem::path(::testing::TempDir()) / ("kasane_toml_" + name + ".toml");
        std::ofstream(path, std::ios::binary) << text;
        return path;
    }
    /// Problems of a file of one [force] table, read as below.
    std::vector<InputProblem> problems(const std::string& text, const std::vector<Setting>& settings = {}) {
        try {
            RunFileReader file(write(text), settings);
            auto force = file.root().table("force");
            force.text("method", {.help = "how", .fallback = "direct", .choices = {"direct", "tree"}});
            force.number("softening", {.help = "Plummer softening", .unit = "kpc", .range = at_least(0), .parse = parse});
            force.integer("count", {.fallback = 1, .least = 1, .most = 64});
            force.vector("center", {.fallback = Vec3<double>{}});
            force.flag("exact", {});
            file.finish();
        } catch (const InputError& error) {
            return error.problems();
        }
        return {};
    }
    static double parse(const std::string& text) {
        if (text == "50 pc") return 0.05;
        throw InputError("'" + text + "' has no known unit");
    }
};

TEST_F(Toml, AGoodFileHasNoProblems) {
    EXPECT_TRUE(problems("[force]\nsoftening = 0.1\ncount = 1e1\ncenter = [1, 2.5, -3]\nexact = true\n").empty());
    EXPECT_TRUE(problems("[force]\nsoftening = '50 pc'\n").empty());
    EXPECT_TRUE(problems("\xEF\xBB\xBF[force]\r\nsoftening = 1\r\n").empty()) << "byte order mark and CRLF";
}

TEST_F(Toml, AllProblemsAreReportedAtOnceInTheFilesOrder) {
    const auto all = problems("[force]\n  methd = 'direct'\nsoftening = -1\ncount = 65\ncenter = [1, 2]\nexact = 1\n[step]\ndt = 1\n");
    ASSERT_EQ(all.size(), 6u);
    EXPECT_EQ(all[0].where.line, 2);
    EXPECT_EQ(all[0].where.column, 3);
    EXPECT_EQ(all[0].where.key, "force.methd");
    EXPECT_NE(all[0].message.find("did you mean 'method'?"), std::string::npos) << all[0].message;
    EXPECT_EQ(all[1].where.line, 3);
    EXPECT_EQ(all[1].message, "is -1 kpc, out of range: it must be at least 0");
    EXPECT_EQ(all[2].message, "is 65, out of range: it must be at least 1 and at most 64");
    EXPECT_EQ(all[3].message, "must have 3 numbers, not 2");
    EXPECT_EQ(all[4].message, "must be true or false, not an integer");
    EXPECT_EQ(all[5].where.key, "step");
    EXPECT_EQ(all[5].where.line, 7);
}

TEST_F(Toml, ARequiredKeyThatIsMissingNamesItsTable) {
    const auto all = problems("[force]\ncount = 2\n");
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].where.key, "force.softening");
    EXPECT_EQ(all[0].where.line, 1);
    EXPECT_EQ(all[0].message, "is missing: give it (Plummer softening)");
}

TEST_F(Toml, AKeyOfAnotherTableNamesItsTable) {
    const auto all = problems("exact = true\n[force]\nsoftening = 0\n");
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].message, "is not known here; it belongs to [force]");
}

TEST_F(Toml, NumbersMustBeFiniteAndOfTheirType) {
    for (const char* value : {"nan", "inf", "-inf", "'5 parsec'", "true", "[1]", "1979-05-27"})
        EXPECT_EQ(problems(std::string("[force]\nsoftening = ") + value + "\n").size(), 1u) << value;
    for (const char* value : {"1.5", "nan", "'1'", "1e300"})
        EXPECT_EQ(problems(std::string("[force]\nsoftening = 0\ncount = ") + value + "\n").size(), 1u) << value;
    EXPECT_EQ(problems("force = 3\n").size(), 2u) << "not a table, and softening missing";
    EXPECT_EQ(problems("[[force]]\nsoftening = 1\n").size(), 2u);
}

TEST_F(Toml, ArraysOfWholeNumbersAndListsOfNumbers) {
    const auto read = [&](const std::string& text, std::string* resolved = nullptr) {
        RunFileReader file(write(text));
        auto grid = file.root().table("grid");
        auto cells = grid.integers("cells", {.help = "how many", .least = 1});
        auto spacing = grid.number_lists("spacing", {.help = "widths", .fallback = 1.0, .range = above(0)});
        file.finish();
        if (resolved) *resolved = file.resolved("");
        return std::pair(cells, spacing);
    };
    using Lists = std::vector<std::vector<double>>;
    EXPECT_EQ(read("[grid]\ncells = [4, 2e1, 6]\n"), std::pair(std::vector<std::int64_t>{4, 20, 6}, Lists{{1}, {1}, {1}}));
    EXPECT_EQ(read("[grid]\ncells = [1, 1, 1]\nspacing = 0.5\n").second, (Lists{{0.5}, {0.5}, {0.5}}));
    const std::string mixed = "[grid]\ncells = [1, 1, 1]\nspacing = [2, [1, 0.1, 3], [7]]\n";
    std::string resolved, again;
    EXPECT_EQ(read(mixed, &resolved).second, (Lists{{2}, {1, 0.1, 3}, {7}}));
    EXPECT_EQ(read(resolved, &again), read(mixed)) << "the resolved text means the same";
    EXPECT_EQ(resolved, again);

    const auto fault = [&](const std::string& keys) {
        try {
            read("[grid]\n" + keys);
        } catch (const InputError& error) {
            EXPECT_EQ(error.problems().size(), 1u);
            return error.problems()[0].where.key + " " + error.problems()[0].message;
        }
        return std::string("taken");
    };
    const auto expect = [&](const std::string& keys, const std::string& words) {
        EXPECT_NE(fault(keys).find(words), std::string::npos) << keys << ": " << fault(keys);
    };
    expect("", "grid.cells is missing");
    expect("cells = 3", "grid.cells must be an array of 3 whole numbers");
    expect("cells = [1, 2]", "must have 3 whole numbers, not 2");
    expect("cells = [1, 2, 0]", "number 3: is 0, out of range: it must be at least 1");
    expect("cells = [1, 2.5, 1]", "number 2: is 2.5: it must be a whole number");
    expect("cells = [1, 'a', 1]", "number 2: must be a whole number, not a string");
    const std::string good = "cells = [1, 1, 1]\nspacing = ";
    expect(good + "-1", "grid.spacing is -1, out of range");
    expect(good + "[1, 1]", "must have 3 elements");
    expect(good + "[1, [1, nan], 1]", "element 2, number 2: is nan");
    expect(good + "[1, [], 1]", "element 2: is an empty array");
    expect(good + "[1, 1, 'x']", "element 3: must be a number, not a string");
    expect(good + "[1, [[1]], 1]", "element 2, number 1: must be a number, not an array");
}

TEST_F(Toml, SettingsReplaceValuesAndAreNamedInErrors) {
    EXPECT_TRUE(problems("[force]\ncount = 2\n", {{"force.softening=50 pc"}, {"force.method=tree"}, {"force.center=[1,2,3]"}}).empty());
    const auto all =
        problems("[force]\nsoftening = 0.1\n", {{"force.softening=-2"}, {"force.sofening=1"}, {"force.method=dirct", "--method"}});
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0].where.file, "--method");
    EXPECT_EQ(all[1].where.file, "--set");
    EXPECT_EQ(all[0].where.key, "force.method");
    EXPECT_NE(all[0].message.find("Did you mean 'direct'?"), std::string::npos);
    for (const char* bad : {"force.softening", "=1", "force..x=1", "force.softening.deep=1"})
        EXPECT_EQ(problems("[force]\nsoftening = 0.1\n", {{bad}}).size(), 1u) << bad;
}

TEST_F(Toml, SettingsReachIntoArraysOfTables) {
    RunFileReader file(write("[[object]]\nmass = 1\n[[object]]\nmass = 2\n"), {{"object.1.mass=5"}});
    auto objects = file.root().tables("object");
    ASSERT_EQ(objects.size(), 2u);
    EXPECT_EQ(objects[0].number("mass", {}), 1);
    EXPECT_EQ(objects[1].number("mass", {}), 5);
    file.finish();
    EXPECT_THROW(RunFileReader(write("[[object]]\nmass = 1\n"), {{"object.1.mass=5"}}), InputError);
}

TEST_F(Toml, TheResolvedTextReadsBackTheSame) {
    const auto read = [](RunFileReader& file) {
        auto root = file.root();
        auto force = root.table("force");
        std::string all = force.text("title", {.fallback = "a \"quoted\" \\ title\n"});
        all += fmt::format("|{}|{}", force.number("softening", {.help = "eps", .unit = "kpc", .fallback = 0.1}), force.flag("exact", {}));
        for (auto& object : root.tables("object")) {
            const auto center = object.vector("center", {.fallback = Vec3<double>{1e-30, 1.0 / 3, 1e30}});
            all += fmt::format("|{}|{}|{}|{}", center.x, center.y, center.z, object.table("cut").number("width", {.fallback = 2.0}));
        }
        file.finish();
        return all;
    };
    RunFileReader first(write("[force]\nsoftening = 3\n[[object]]\n[[object]]\ncut = { width = 7 }\n"));
    const auto values = read(first);
    const auto text = first.resolved("head\nof two lines");
    EXPECT_EQ(text.rfind("# head\n# of two lines\n", 0), 0u) << text;
    EXPECT_NE(text.find("# [kpc] eps; default 0.1"), std::string::npos) << text;
    RunFileReader second(write(text));
    EXPECT_EQ(read(second), values) << text;
    EXPECT_EQ(second.resolved("head\nof two lines"), text);
}

TEST_F(Toml, DefaultsOfATableBelowOneThatIsMissingAreWrittenToo) {
    const auto path = write("[other]\n");
    RunFileReader file(path);
    file.root().table("other");
    file.root().table("boundary").table("top", "the lid").number("value", {.fallback = 2.5});
    file.finish();
    EXPECT_NE(file.resolved("").find("[boundary.top]  # the lid\nvalue = 2.5"), std::string::npos) << file.resolved("");
}

TEST_F(Toml, KeysThatAreKnownButNotUsedAreListed) {
    RunFileReader file(write("[force]\nthreads = 2\n"));
    auto force = file.root().table("force");
    force.unused("threads");
    force.unused("other");
    file.finish();
    EXPECT_EQ(file.unused_keys(), std::vector<std::string>{"force.threads"});
}

TEST_F(Toml, RefusesFilesThatAreNotRunFiles) {
    const auto message = [](const std::filesystem::path& path) -> std::string {
        try {
            RunFileReader file(path);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(message("/nowhere/at/all.toml").find("no such file"), std::string::npos);
    EXPECT_NE(message(::testing::TempDir()).find("is a directory"), std::string::npos);
    EXPECT_NE(message(write("")).find("too short"), std::string::npos);
    EXPECT_NE(message(write("\xEF\xBB\xBF")).find("too short"), std::string::npos);
    EXPECT_NE(message(write("[/J\n\n")).find("not valid TOML"), std::string::npos);
    EXPECT_NE(message(write("a = [1, 2\nb = 3\n")).find(":2:"), std::string::npos);
    EXPECT_NE(message(write(std::string("\x89HDF\r\n\x1a\n\0\0\0", 11))).find("not valid TOML"), std::string::npos);
    EXPECT_NE(message(write("a = 1\na = 2\n")).find(":2:"), std::string::npos) << "a key given twice";
    EXPECT_NE(message(write("a = " + std::string(100'000, '['))).find("nested deeper"), std::string::npos) << "deep nesting";
}

TEST_F(Toml, NamesOfTheUserAreResolvedInQuotes) {
    const auto read = [&](const std::string& text) {
        RunFileReader file(write(text));
        auto names = file.root().table("softening");
        for (const auto& name : names.keys()) names.number(name, {});
        file.finish();
        return file.resolved("");
    };
    const auto once = read("[softening]\nhalo-1 = 1.0\n'dark halo' = 2.0\n\"a \\\"b\\\" \\\\ # . = \\n\xc3\xa9\" = 3.0\n'' = 4.0\n");
    EXPECT_NE(once.find("\nhalo-1 = 1.0"), std::string::npos) << once;
    EXPECT_NE(once.find("\n\"dark halo\" = 2.0"), std::string::npos) << once;
    EXPECT_EQ(read(once), once);
}

TEST_F(Toml, CharactersBeyondAsciiAreInStringsAndComments) {
    const std::string e = "\xc3\xa9", mark = "\xef\xbb\xbf";
    for (const auto& text : {e, "softening" + mark + " = 1", "softening = " + e, "softening = 1 " + e, "softening = 2.\"" + e + "\"",
                             "x = [1, " + e + "]", "['a'] " + e}) {
        const auto all = problems("[force]\n\n" + text + "\n");
        ASSERT_EQ(all.size(), 1u) << text;
        EXPECT_NE(all[0].message.find("not valid TOML"), std::string::npos) << all[0].message;
        EXPECT_EQ(all[0].where.line, 3) << text;
        EXPECT_GT(all[0].where.column, 0);
    }
    EXPECT_TRUE(problems(mark + "[force]  # " + e + "\nsoftening = 1\n").empty());
    for (const auto& word : {e, mark, "\"" + e + "\""}) {
        const auto all = problems("[force]\nsoftening = 1\n", {{"force.method=" + word}});
        ASSERT_EQ(all.size(), 1u);
        EXPECT_NE(all[0].message.find("'" + (word[0] == '"' ? e : word) + "' is not known"), std::string::npos) << all[0].message;
    }
}

/// `text` repeated.
std::string times(std::size_t count, const std::string& text) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

TEST_F(Toml, DeepNestingIsRefusedWithItsLine) {
    for (const std::size_t levels : {100u, 40'000u}) {
        const auto keys = times(levels, "a.") + "a";
        for (const auto& text :
             {keys + " = 1\n", "[" + keys + "]\n", "[[" + keys + "]]\n", times(levels, "'a' . ") + "a = 1\n",
              "x = " + times(levels, "[") + times(levels, "]") + "\n", "x = " + times(levels, "[\n") + times(levels, "]") + "\n",
              "x = " + times(levels, "{ a = ") + "1" + times(levels, " }") + "\n",
              "x = " + times(levels, "[{ a.b = ") + "1" + times(levels, " }]") + "\n", "x = " + times(levels, "[") + "\n",
              "x = [\"\"\"a\"\"\"\", { " + keys + " = 1 }]\n", "x = ['''a''''', { " + keys + " = 1 }]\n"}) {
            const auto all = problems("[force]\n\n" + text);
            ASSERT_EQ(all.size(), 1u) << text.substr(0, 40);
            EXPECT_NE(all[0].message.find("nested deeper than 64 levels"), std::string::npos) << all[0].message;
            EXPECT_GE(all[0].where.line, 3) << text.substr(0, 40);
            EXPECT_GT(all[0].where.column, 0);
        }
        const auto all = problems("[force]\nsoftening = 1\n", {{keys + "=1"}, {"force.count=" + times(levels, "[") + times(levels, "]")}});
        ASSERT_EQ(all.size(), 2u);
        for (const auto& problem : all) EXPECT_EQ(problem.where.file, "--set");
    }
}

TEST_F(Toml, OnlyNestingCountsAsDepth) {
    EXPECT_TRUE(problems("[force]\nsoftening = 1  # " + times(100, "[ . {") + "\nmethod = \"direct\"\n").empty()) << "a comment";
    const auto all =
        problems("[force]\nsoftening = 1\nmethod = \"" + times(100, "[.\\\"") + "\"\nx = '''\n" + times(100, "{.\n") + "'''''  # " +
                 times(100, "[") + "\n" + "y = [" + times(100, "1.5, ") + "]\nz = [" + times(100, "[1], ") + "]\n");
    for (const auto& problem : all) EXPECT_EQ(problem.message.find("nested"), std::string::npos) << problem.message;
    EXPECT_EQ(all.size(), 4u) << "an unknown method, and three unknown keys";
}

}  // namespace
