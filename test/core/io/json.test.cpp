// The JSON reader: damaged and hostile texts are refused with their line before anything recurses.
#include <kasane/core/base/error.hpp>
#include <kasane/core/io/entry_file.hpp>
#include <kasane/core/io/json.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace {

using namespace kasane;

InputProblem problem_of(const std::string& text) {
    try {
        io::parse_json(text, "file.json");
    } catch (const InputError& error) {
        return error.problems().front();
    }
    return {};
}

std::string nested(std::size_t levels, const std::string& open, const std::string& close) {
    std::string text;
    for (std::size_t i = 0; i < levels; ++i) text += open;
    text += "1";
    for (std::size_t i = 0; i < levels; ++i) text += close;
    return text;
}

TEST(Json, ReadsTextsThatAreNotTooDeep) {
    EXPECT_EQ(io::parse_json("{\"a\": [1, {\"b\": 2}]}", "f")["a"][1]["b"], 2);
    EXPECT_EQ(problem_of(nested(64, "[", "]")).message, "");
    EXPECT_EQ(problem_of("{\"text\": \"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"}").message, "")
        << "brackets inside a string do not count as levels";
    EXPECT_EQ(problem_of("[" + nested(60, "[", "]") + "," + nested(60, "[", "]") + "]").message, "") << "side by side";
}

TEST(Json, DeepNestingIsRefusedWithItsLine) {
    for (const std::size_t levels : {65u, 50'000u, 500'000u}) {
        for (const auto& [open, close] : {std::pair{"[", "]"}, std::pair{"{\"a\":", "}"}, std::pair{"[{\"a\":", "}]"}}) {
            const auto problem = problem_of("\n\n" + nested(levels, open, close));
            EXPECT_NE(problem.message.find("nested deeper than 64 levels"), std::string::npos) << levels << open;
            EXPECT_EQ(problem.where.file, "file.json");
            EXPECT_EQ(problem.where.line, 3);
        }
    }
    EXPECT_NE(problem_of(std::string(100'000, '[')).message.find("nested deeper"), std::string::npos) << "never closed";
}

TEST(Json, DamageIsRefusedWithItsLine) {
    const auto problem = problem_of("{\n\"a\": 1,\n\"b\": }\n");
    EXPECT_NE(problem.message.find("is not JSON"), std::string::npos) << problem.message;
    EXPECT_EQ(problem.where.line, 3);
    EXPECT_NE(problem_of("").message.find("is not JSON"), std::string::npos);
    EXPECT_NE(problem_of("[1e999]").message.find("beyond double precision"), std::string::npos);
}

TEST(Json, ADeepEntryFileIsIgnoredWithANote) {
    const auto path = std::filesystem::path(::testing::TempDir()) / "kasane_deep_entries.json";
    std::ofstream(path) << "{\"list\": " + nested(100'000, "[", "]") + "}";
    const auto read = io::read_entries({path, "list", "with the next entry"});
    EXPECT_TRUE(read.list.empty());
    EXPECT_NE(read.note.find("is passed over"), std::string::npos) << read.note;
    EXPECT_NE(read.note.find("nested deeper"), std::string::npos) << read.note;
    std::filesystem::remove(path);
}

}  // namespace
