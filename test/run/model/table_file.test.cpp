// Tables as text: what is accepted, and hostile files refused by line.
#include <kasane/core/base/error.hpp>
#include <kasane/run/model/table_file.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace {

using namespace kasane;
namespace fs = std::filesystem;

class TableFile : public testing::Test {
   protected:
    void SetUp() override {
        folder = fs::path(testing::TempDir()) / ("kasane_table_" + std::to_string(::getpid()));
        fs::create_directories(folder);
    }
    void TearDown() override { fs::remove_all(folder); }
    gravity::Table read(const std::string& text) {
        std::ofstream(folder / "t.txt", std::ios::binary) << text;
        return run::read_table(folder / "t.txt");
    }
    std::string complaint(const std::string& text) {
        try {
            read(text);
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
    fs::path folder;
};

#define EXPECT_SAYS(text, word) EXPECT_NE(std::string(text).find(word), std::string::npos) << "said: " << (text)

TEST_F(TableFile, ColumnsCommentsAndLineEnds) {
    const auto expected = std::vector<double>{0.5, 1, 2e-3};
    for (const char* text :
         {"0.5 3\n1 2\n2e-3 1\n", "# r rho\r\n0.5\t3\r\n\r\n1, 2 # here\r\n+2E-3,1", "  0.5   3 \n1 2\n\n#\n0.002 1.0\n\n"}) {
        const auto table = read(text);
        EXPECT_EQ(table.radius, expected) << text;
        EXPECT_EQ(table.density, (std::vector<double>{3, 2, 1})) << text;
        EXPECT_EQ(table.source, (folder / "t.txt").string());
    }
}

TEST_F(TableFile, BadLinesAreNumbered) {
    EXPECT_SAYS(complaint("1 2\n\n# x\n3\n"), "t.txt:4: has one column");
    EXPECT_SAYS(complaint("1 2 3\n"), "t.txt:1: has more than two");
    EXPECT_SAYS(complaint("1 2\r\n1 nan\r\n"), "t.txt:2: nan is no finite number");
    EXPECT_SAYS(complaint("inf 2\n"), "t.txt:1: inf is no finite");
    EXPECT_SAYS(complaint("1 1e999\n"), "1e999 is no finite");
    EXPECT_SAYS(complaint("radius density\n1 2\n"), "t.txt:1: \"radius\" is no number");
    EXPECT_SAYS(complaint("1 2x\n"), "\"2x\" is no number");
    EXPECT_SAYS(complaint("1 0x10\n"), "\"0x10\" is no number");
    EXPECT_SAYS(complaint("1 +-2\n1 +\n"), "t.txt:2: \"\" is no number");
    const auto two = complaint("a 1\n1 2\n3 b\n");
    EXPECT_SAYS(two, "t.txt:1");
    EXPECT_SAYS(two, "t.txt:3");
}

TEST_F(TableFile, FilesThatAreNoTables) {
    EXPECT_SAYS(complaint(""), "holds no numbers");
    EXPECT_SAYS(complaint("# nothing\n\n"), "holds no numbers");
    EXPECT_SAYS(complaint(std::string("\x89HDF\r\n\x1a\n\0\0", 10)), "is no text");
    std::string other =
        "\x7f"
        "ELF\x80\xff ... ";
    other.append(500, '\xee');
    const auto said = complaint(other);
    EXPECT_SAYS(said, "t.txt:1");
    EXPECT_LT(said.size(), 300u);
    for (const char c : said) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
    // A thousand bad lines make ten problems.
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "bad line here\n";
    try {
        read(many);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_EQ(error.problems().size(), 10u);
        EXPECT_EQ(error.problems().back().where.line, 10);
    }
    EXPECT_SAYS(complaint(std::string((16u << 20) + 1, '1')), "16 MiB");
    EXPECT_THROW(run::read_table(folder), InputError);
    EXPECT_THROW(run::read_table(folder / "none"), InputError);
    EXPECT_THROW(run::read_table("/dev/zero"), InputError);
}

}  // namespace
