// The arrows of ARCHITECTURE.md, read from the #include lines: downward only, and outside libraries only where they belong.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// The layer of a module; a file may include its own module and lower layers, never another module of its own layer.
const std::map<std::string, int> layers = {
    {"core/base", 0}, {"core/math", 1}, {"core/device", 2}, {"core/comm", 3}, {"core/io", 4}, {"perf", 5},
    {"krylov", 5},    {"report", 5},    {"gravity", 6},     {"sparse", 6},    {"lattice", 6}, {"run", 7},
};

/// "core/io" of "core/io/hdf5.hpp", "gravity" of "gravity.hpp" and of "gravity/direct/direct.hpp"; empty where there is none.
std::string module_of(const std::string& path) {
    if (path == "core.hpp") return "core/io";  // the public headers of all modules of core/, of which this is the highest
    for (const auto& [module, layer] : layers)
        if (path.starts_with(module + "/") || path == module + ".hpp") return module;
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

TEST(Architecture, EveryFileIsInAModule) {
    for (const auto& include : includes()) EXPECT_NE(module_of(include.file), "") << include.file << " lies in no module";
}

TEST(Architecture, ArrowsRunDownward) {
    const auto all = includes();
    ASSERT_GT(all.size(), 50u) << "the sources were not found";
    for (const auto& [file, header] : all) {
        if (!header.starts_with("kasane/") || header == "kasane/version.hpp") continue;
        const auto from = module_of(file), to = module_of(header.substr(7));
        ASSERT_NE(to, "") << file << " includes <" << header << ">, which lies in no module";
        EXPECT_TRUE(from == to || layers.at(to) < layers.at(from)) << file << " includes <" << header << ">: an arrow that runs up";
    }
}

/// Who includes whom, by name.
using Graph = std::map<std::string, std::set<std::string>>;

/// A way from a name back to itself: "a -> b -> a"; empty if there is none.
std::string cycle_of(const Graph& graph) {
    std::set<std::string> done;
    std::vector<std::string> way;
    std::string found;
    const std::function<void(const std::string&)> visit = [&](const std::string& name) {
        if (!found.empty() || done.contains(name)) return;
        if (const auto seen = std::find(way.begin(), way.end(), name); seen != way.end()) {
            for (auto on = seen; on != way.end(); ++on) found += *on + " -> ";
            found += name;
            return;
        }
        way.push_back(name);
        if (const auto next = graph.find(name); next != graph.end())
            for (const auto& to : next->second) visit(to);
        way.pop_back();
        done.insert(name);
    };
    for (const auto& [name, next] : graph) visit(name);
    return found;
}

TEST(Architecture, FindsACycle) {
    EXPECT_EQ(cycle_of({{"a", {"b"}}, {"b", {"c"}}, {"d", {"a"}}}), "");
    EXPECT_EQ(cycle_of({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}), "b -> c -> b");
}

TEST(Architecture, FilesIncludeNoCycle) {
    Graph files;
    for (const auto& [file, header] : includes())
        if (header.starts_with("kasane/")) files[file].insert(header.substr(7));
    EXPECT_EQ(cycle_of(files), "");
}

/// The folder of a file: "lattice/dirac/cpu" of "lattice/dirac/cpu/hop.hpp".
std::string folder_of(const std::string& file) { return fs::path(file).parent_path().generic_string(); }

TEST(Architecture, FoldersOfAModuleIncludeNoCycle) {
    const auto all = includes();
    for (const auto& [module, layer] : layers) {
        Graph folders;
        for (const auto& [file, header] : all) {
            if (!file.starts_with(module + "/") || !header.starts_with("kasane/" + module + "/")) continue;
            const auto from = folder_of(file), to = folder_of(header.substr(7));
            if (from != to) folders[from].insert(to);
        }
        EXPECT_EQ(cycle_of(folders), "") << module;
    }
}

TEST(Architecture, LibrariesStayInTheirModules) {
    const auto is_cuda_file = [](const std::string& file) { return file.ends_with(".cu") || file.ends_with(".cuda.hpp"); };
    for (const auto& [file, header] : includes()) {
        const auto module = module_of(file);
        if (header.starts_with("cuda") || header.starts_with("cub/") || header.starts_with("thrust/")) {
            EXPECT_TRUE(is_cuda_file(file) || module == "core/device") << file << " includes <" << header << ">";
        }
        if (header.starts_with("hdf5") || header.starts_with("toml++")) {
            EXPECT_EQ(module, "core/io") << file << " includes <" << header << ">";
        }
        // Of modules alone: what everything else links must start where these are not installed.
        if (header == "mpi.h") {
            EXPECT_TRUE(file.starts_with("core/comm/mpi/")) << file << " includes <" << header << ">";
        }
        if (header == "nccl.h") {
            EXPECT_TRUE(file.starts_with("core/comm/nccl/")) << file << " includes <" << header << ">";
        }
        if (header.starts_with("nlohmann/")) {
            EXPECT_EQ(file, "core/io/json_value.hpp") << "includes <" << header << ">";
        }
        if (header.starts_with("CLI/")) ADD_FAILURE() << file << " includes <" << header << ">: only app/ speaks to the command line";
    }
}

TEST(Architecture, JsonIsParsedInOnePlace) {
    const fs::path root = KASANE_SOURCE_DIR;
    const std::regex call(R"([jJ]son::(parse|accept|sax_parse)\()");
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

/// src/kasane/*.hpp, and the version, which is generated.
TEST(Architecture, PythonIncludesPublicHeadersAlone) {
    const std::regex include(R"(^#include <kasane/([^>]*)>)");
    int found = 0;
    for (const auto& entry : fs::directory_iterator(fs::path(KASANE_SOURCE_DIR) / "python" / "src")) {
        std::ifstream file(entry.path());
        for (std::string line; std::getline(file, line);) {
            std::smatch header;
            if (!std::regex_search(line, header, include)) continue;
            ++found;
            EXPECT_EQ(header[1].str().find('/'), std::string::npos) << entry.path() << ": " << line;
        }
    }
    EXPECT_GT(found, 0);
}

}  // namespace
