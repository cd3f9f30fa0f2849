// The arrows of ARCHITECTURE.md, read from the #include lines: downward only, and outside libraries only where they belong.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The floor of a room; a file may include its own room and lower floors, never a neighbour on its own floor.
const std::map<std::string, int> floors = {
    {"core/base", 0}, {"core/math", 1}, {"core/device", 2}, {"core/comm", 3}, {"core/io", 4}, {"perf", 5},
    {"krylov", 5},    {"report", 5},    {"gravity", 6},     {"sparse", 6},    {"lattice", 6}, {"run", 7},
};

/// "core/io" of "core/io/hdf5.hpp", "gravity" of "gravity.hpp" and of "gravity/direct/direct.hpp"; empty where there is none.
std::string room_of(const std::string& path) {
    for (const auto& [room, floor] : floors)
        if (path.starts_with(room + "/") || path == room + ".hpp") return room;
    return "";
}

struct Include {
    std::string file;  ///< under src/kasane
    std::string header;
};

std::vector<Include> includes() {
    const fs::path root = fs::path(KASANE_SOURCE_DIR) / "src" / "kasane";
    const std::regex line_form(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
    std::vector<Include> found;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            std::smatch match;
            if (std::regex_search(line, match, line_form)) found.push_back({fs::relative(entry.path(), root).generic_string(), match[1]});
        }
    }
    return found;
}

TEST(Architecture, EveryFileIsInARoom) {
    for (const auto& include : includes()) EXPECT_NE(room_of(include.file), "") << include.file << " lies in no room of the house";
}

TEST(Architecture, ArrowsRunDownward) {
    const auto all = includes();
    ASSERT_GT(all.size(), 50u) << "the sources were not found";
    for (const auto& [file, header] : all) {
        if (!header.starts_with("kasane/") || header == "kasane/version.hpp") continue;
        const auto from = room_of(file), to = room_of(header.substr(7));
        ASSERT_NE(to, "") << file << " includes <" << header << ">, which lies in no room";
        EXPECT_TRUE(from == to || floors.at(to) < floors.at(from)) << file << " includes <" << header << ">: an arrow that runs up";
    }
}

TEST(Architecture, LibrariesStayInTheirRooms) {
    const auto is_cuda_file = [](const std::string& file) { return file.ends_with(".cu") || file.ends_with(".cuda.hpp"); };
    for (const auto& [file, header] : includes()) {
        const auto room = room_of(file);
        if (header.starts_with("cuda") || header.starts_with("cub/") || header.starts_with("thrust/")) {
            EXPECT_TRUE(is_cuda_file(file) || room == "core/device") << file << " includes <" << header << ">";
        }
        if (header.starts_with("hdf5") || header.starts_with("toml++")) {
            EXPECT_EQ(room, "core/io") << file << " includes <" << header << ">";
        }
        // Of modules alone: what everything else links must start where these are not installed.
        if (header == "mpi.h") {
            EXPECT_TRUE(file.starts_with("core/comm/mpi/")) << file << " includes <" << header << ">";
        }
        if (header == "nccl.h") {
            EXPECT_TRUE(file.starts_with("core/comm/nccl/")) << file << " includes <" << header << ">";
        }
        if (header.starts_with("CLI/")) ADD_FAILURE() << file << " includes <" << header << ">: only app/ speaks to the command line";
    }
}

TEST(Architecture, JsonIsParsedInOnePlace) {
    const fs::path root = KASANE_SOURCE_DIR;
    const std::regex call(R"(json::(parse|accept|sax_parse)\()");
    int found = 0;
    for (const char* folder : {"src", "app", "bench"})
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (!entry.is_regular_file() || !(entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")) continue;
            std::ifstream file(entry.path());
            for (std::string line; std::getline(file, line);) {
                if (!std::regex_search(line, call)) continue;
                ++found;
                EXPECT_EQ(fs::relative(entry.path(), root).generic_string(), "src/kasane/core/io/json.cpp") << line;
            }
        }
    EXPECT_EQ(found, 1);
}

}  // namespace
