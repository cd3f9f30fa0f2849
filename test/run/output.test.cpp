// Standard output: output that cannot be written is a failure; help pages and lists are complete.
#include <gtest/gtest.h>
#include <test/run/command.hpp>

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace {

using namespace kasane;

class Output : public test::CommandTest {
   protected:
    std::string help(std::vector<std::string> words) {
        words.emplace_back("--help");
        const auto outcome = kasane(words);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        return outcome.out;
    }
};

TEST_F(Output, AnOutputThatCannotBeWrittenIsAFailure) {
    small_run();
    ASSERT_EQ(kasane({"run", "small.toml", "-o", "done", "--quiet"}).status, 0);
    const auto full = [] {
        if (!std::freopen("/dev/full", "w", stdout)) _exit(126);
    };
    for (const auto& words : std::vector<std::vector<std::string>>{{"info"},
                                                                   {"--help"},
                                                                   {"--version"},
                                                                   {"check", "small.toml"},
                                                                   {"run", "small.toml", "--force"},
                                                                   {"resume", "done"},
                                                                   {"report", "done"},
                                                                   {"sample", "small.toml", "-o", "s.hdf5", "--force"},
                                                                   {"bench", "--list"}}) {
        for (const bool json : {false, true}) {
            auto arguments = words;
            if (json && words[0][0] == '-') continue;
            if (json) arguments.emplace_back("--json");
            const auto outcome = kasane(arguments, full);
            EXPECT_EQ(outcome.status, 1) << words[0] << (json ? " --json" : "");
            EXPECT_NE(outcome.err.find("standard output cannot be written"), std::string::npos) << words[0] << ": " << outcome.err;
        }
    }
    EXPECT_EQ(kasane({"check", "missing.toml", "--json"}, full).status, 2) << "bad input stays bad input";
    EXPECT_EQ(kasane({"info", "--quiet"}, full).status, 0) << "nothing was to be written";
}

/// Whether a help page has this text with a default: "INT=32" as of CLI11 2.3, "INT [32]" as of 2.4.
bool shows_default(const std::string& page, const std::string& text, const std::string& value) {
    return page.find(text + "=" + value) != std::string::npos || page.find(text + " [" + value + "]") != std::string::npos;
}

TEST_F(Output, HelpPagesShowDefaults) {
    EXPECT_TRUE(shows_default(help({"forces"}), "--leaf-size INT", "32"));
    EXPECT_TRUE(shows_default(help({"solve"}), "--rtol FLOAT", "1e-08"));
    EXPECT_TRUE(shows_default(help({"lattice", "solve"}), "--rtol FLOAT", "1e-10"));
    EXPECT_TRUE(shows_default(help({"calibrate"}), "", "40"));
    for (const char* verb : {"run", "sample", "bench", "predict"}) {
        const auto page = help({verb});
        for (const auto& [text, not_a_default] : {std::pair{"", "[]"}, {"INT", "-1"}, {"INT", "0"}})
            EXPECT_FALSE(shows_default(page, text, not_a_default)) << verb << page;
    }
    EXPECT_FALSE(shows_default(help({"lattice", "solve"}), "--kappa FLOAT", "0")) << "it must be given";
}

TEST_F(Output, VerbsOfLatticeShowTheCommonOptions) {
    for (const char* verb : {"info", "solve", "measure", "generate"}) {
        const auto text = help({"lattice", verb});
        for (const char* option : {"--json", "--quiet", "--device", "--threads"})
            EXPECT_NE(text.find(option), std::string::npos) << verb << " " << option;
    }
    test::expect_bad_input(kasane({"lattice", "info", "absent", "--json"}), {"absent"});
}

TEST_F(Output, UnknownVerbsGetASuggestion) {
    test::expect_bad_input(kasane({"smaple", "--json"}), {"'smaple' is not a verb of kasane", "did you mean 'sample'?"});
    test::expect_bad_input(kasane({"lattice", "mesure", "--json"}),
                           {"'mesure' is not a verb of kasane lattice", "did you mean 'measure'?"});
    test::expect_bad_input(kasane({"lattice", "xyz", "--json"}), {"there are convert, info, solve, measure, generate"});
}

TEST_F(Output, BenchListHasALineForEachBenchmark) {
    std::istringstream lines(kasane({"bench", "--list"}).out);
    int count = 0;
    for (std::string line; std::getline(lines, line); ++count) {
        EXPECT_NE(line.find("  "), std::string::npos) << line;
        EXPECT_LE(line.size(), 160u) << line;
        EXPECT_FALSE(line.starts_with(' ')) << line;
    }
    EXPECT_GT(count, 10);
}

}  // namespace
