// Kinds of run: what they share belongs to the driver, and one file lists them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kinds{"gravity", "poisson", "quenched", "hmc"};

/// The lines of a file without blanks; empty lines are left out.
std::vector<std::string> lines_of(const fs::path& path) {
    std::vector<std::string> lines;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::erase_if(line, [](char c) { return c == ' ' || c == '\t'; });
        if (!line.empty()) lines.push_back(line);
    }
    return lines;
}

TEST(KindsOfRun, ShareNoBlockOfTwelveLines) {
    constexpr std::size_t length = 12;
    std::map<std::string, std::string> owner;  // of a block of lines
    for (const auto& kind : kinds) {
        int files = 0;
        for (const auto& entry : fs::recursive_directory_iterator(fs::path(KASANE_SOURCE_DIR) / "src/kasane/run" / kind)) {
            ++files;
            const auto lines = lines_of(entry.path());
            for (std::size_t first = 0; first + length <= lines.size(); ++first) {
                std::string block;
                for (std::size_t i = first; i < first + length; ++i) block += lines[i] + "\n";
                const auto other = owner.try_emplace(block, kind).first->second;
                EXPECT_EQ(other, kind) << entry.path() << " shares with " << other << ":\n" << block;
            }
        }
        EXPECT_GT(files, 5) << kind;
    }
}

TEST(KindsOfRun, AreListedInOneFile) {
    // The verbs of one kind of run: forces, predict with calibrate, solve (which prints the summary of a Poisson run), lattice generate,
    // and sample for the particles that a run file starts from.
    const std::vector<std::string> of_one_kind{
        "src/kasane/run/model_file.cpp", "app/forces.cpp", "app/predict.cpp", "app/calibrate.cpp", "app/solve.cpp",
        "app/lattice_generate.cpp"};
    const fs::path root = KASANE_SOURCE_DIR;
    int found = 0;
    for (const char* folder : {"src", "app", "bench"})
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (!entry.is_regular_file()) continue;
            const auto file = fs::relative(entry.path(), root).generic_string();
            for (const auto& line : lines_of(entry.path()))
                for (const auto& kind : kinds) {
                    const auto own = "kasane/run/" + kind + "/";
                    if (!line.starts_with("#include<" + own) || file.starts_with("src/" + own)) continue;
                    if (std::find(of_one_kind.begin(), of_one_kind.end(), file) != of_one_kind.end()) continue;
                    ++found;
                    EXPECT_EQ(file, "src/kasane/run/kinds.cpp") << line;
                }
        }
    EXPECT_EQ(found, static_cast<int>(kinds.size()));
}

}  // namespace
