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

#define EXPECT_CONTAINS(text, word) EXPECT_NE(std::string(text).find(word), std::string::npos) << "message: " << (text)

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
    EXPECT_CONTAINS(complaint("1 2\n\n# x\n3\n"), "t.txt:4: has one column");
    EXPECT_CONTAINS(complaint("1 2 3\n"), "t.txt:1: has more than two");
    EXPECT_CONTAINS(complaint("1 2\r\n1 nan\r\n"), "t.txt:2: nan is not a finite number");
    EXPECT_CONTAINS(complaint("inf 2\n"), "t.txt:1: inf is not a finite");
    EXPECT_CONTAINS(complaint("1 1e999\n"), "1e999 is not a finite");
    EXPECT_CONTAINS(complaint("radius density\n1 2\n"), "t.txt:1: \"radius\" is not a number");
    EXPECT_CONTAINS(complaint("1 2x\n"), "\"2x\" is not a number");
    EXPECT_CONTAINS(complaint("1 0x10\n"), "\"0x10\" is not a number");
    EXPECT_CONTAINS(complaint("1 +-2\n1 +\n"), "t.txt:2: \"\" is not a number");
    const auto two = complaint("a 1\n1 2\n3 b\n");
    EXPECT_CONTAINS(two, "t.txt:1");
    EXPECT_CONTAINS(two, "t.txt:3");
}

TEST_F(TableFile, FilesThatAreNotTables) {
    EXPECT_CONTAINS(complaint(""), "holds no numbers");
    EXPECT_CONTAINS(complaint("# nothing\n\n"), "holds no numbers");
    EXPECT_CONTAINS(complaint(std::string("\x89HDF\r\n\x1a\n\0\0", 10)), "is not text");
    std::string other =
        "\x7f"
        "ELF\x80\xff ... ";
    other.append(500, '\xee');
    const auto message = complaint(other);
    EXPECT_CONTAINS(message, "t.txt:1");
    EXPECT_LT(message.size(), 300u);
    for (const char c : message) EXPECT_TRUE(c >= 0x20 && c < 0x7f);
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
    EXPECT_CONTAINS(complaint(std::string((16u << 20) + 1, '1')), "16 MiB");
    EXPECT_THROW(run::read_table(folder), InputError);
    EXPECT_THROW(run::read_table(folder / "none"), InputError);
    EXPECT_THROW(run::read_table("/dev/zero"), InputError);
}

}  // namespace
