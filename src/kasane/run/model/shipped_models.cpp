#include <kasane/core/base/error.hpp>
#include <kasane/run/model/shipped_models.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace fs = std::filesystem;

namespace kasane::run {
namespace {

std::vector<fs::path> places() {
    std::error_code unknown;
    const auto here = fs::read_symlink("/proc/self/exe", unknown).parent_path();
    return {here / "models", (here / ".." / "share" / "kasane" / "models").lexically_normal()};
}

/// "dwarf, m31, milky-way"
std::string names_in(const fs::path& directory) {
    std::vector<std::string> names;
    std::error_code unknown;
    for (const auto& entry : fs::directory_iterator(directory, unknown))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

}  // namespace

fs::path shipped_models() {
    std::error_code unknown;
    for (const auto& place : places())
        if (fs::is_directory(place, unknown)) return place;
    return {};
}

fs::path model_path(const std::string& file) {
    const fs::path path(file);
    std::error_code unknown;
    if (fs::exists(path, unknown) || path.has_parent_path() || path.has_extension() || file.empty()) return path;
    const auto directory = shipped_models();
    const auto found = directory / (file + ".toml");
    if (!directory.empty() && fs::is_regular_file(found, unknown)) return found;
    const auto all = places();
    const auto known = directory.empty()
                           ? fmt::format("the models that come with kasane are neither in {} nor in {}", all[0].string(), all[1].string())
                           : fmt::format("the models that come with kasane are {}", names_in(directory));
    throw InputError(fmt::format("there is neither such a file nor such a model: {}. Give one of them, or a TOML file", known),
                     {file, 0, 0, ""});
}

}  // namespace kasane::run
